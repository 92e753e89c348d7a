"""Plugins of the hooks that `--hook NAME` adds to a run: their options and factories.

These modules do not import TensorFlow at the top. The hooks are in `tf_frame.hooks`,
in modules of the same names; that of `logging_tensor` is in `tf_frame.hooks.stock`.
"""
