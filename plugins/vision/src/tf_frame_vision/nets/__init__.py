"""slim's networks: the same functions, arguments, end points and names of variables.

Code that was written for slim needs only other imports, and slim's published checkpoints load.

    from tf_frame import layers
    from tf_frame_vision.nets import resnet_v1

    with layers.arg_scope(resnet_v1.resnet_arg_scope()):
        logits, end_points = resnet_v1.resnet_v1_50(images, 1000, is_training=False)

One module for each family, as in tensorflow/models, research/slim/nets. Importing a module
imports TensorFlow; importing this package does not.
"""
