"""The modules of `tf.contrib`, each under the name that it had there.

`tf.contrib.slim`, `training` and `quantize` are `tf_frame_legacy.slim`, `training` and `quantize`.
"""
