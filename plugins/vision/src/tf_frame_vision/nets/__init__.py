"""slim's networks: the same functions, arguments, end points and names of variables.

Code that was written for slim needs only other imports, and slim's published checkpoints load.

    from tf_frame import layers
    from tf_frame_vision.nets import resnet_v1

    with layers.arg_scope(resnet_v1.resnet_arg_scope()):
        logits, end_points = resnet_v1.resnet_v1_50(images, 1000, is_training=False)

One module for each family, with names, constants and defaults of the module of the same name in
tensorflow/models, research/slim/nets, unless its docstring says more. Importing a module
imports TensorFlow; importing this package does not.

A network returns its logits, `[batch, classes]`, or without classes its features, and the end
points by name: the layers, pooled features, `Logits`, `Predictions` or what slim calls them. Images
of a known size that is too small, or too large for squeezed logits, raise a `ConfigError`.

A function `..._base` ends at `final_endpoint`, the scope of a layer such as `Mixed_5c`, and returns
this layer's output and all end points; an unknown name raises a `ValueError`.

The networks share these arguments, which their docstrings do not repeat:

    inputs              images, `[batch, height, width, channels]`
    num_classes         number of classes; 0 or None: no logits, the network ends with its features
    is_training         whether batch norm uses statistics of the batch, and dropout drops
    dropout_keep_prob   share of the features that dropout keeps in training
    prediction_fn       makes predictions of logits
    spatial_squeeze     whether logits are `[batch, classes]`; else `[batch, 1, 1, classes]`
    global_pool         whether to average over height and width before the logits
    depth_multiplier    factor on the channels of all layers
    min_depth           the least number of channels that a multiplier leaves
    reuse               whether to share the variables of an earlier network of this scope
    scope               variable scope; None: a unique one

Layers and blocks share these:

    net, inputs         `[batch, height, width, channels]`
    stride              pixels from one output to the next
    rate                pixels between the taps of a kernel
    num_outputs, depth  output channels
    outputs_collections  collections for the output

and the functions `..._arg_scope`, for `layers.arg_scope`, these:

    weight_decay        scale of the L2 penalty on weights
    batch_norm_decay    share of a moving mean or variance that is kept per step
    batch_norm_epsilon  number that is added to the variance
    batch_norm_scale    whether normalised values have a trained factor, `gamma`
    batch_norm_updates_collections  where the updates of moving values go; None: they run with the
                        layer
    activation_fn       activation of the convolutions
    use_batch_norm      whether convolutions are normalised; else they have biases
"""
