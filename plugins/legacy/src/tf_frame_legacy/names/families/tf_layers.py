"""tf.layers, and the private modules that it came from."""

from tf_frame_legacy.names.row import alias, not_offered, ours

_LAYERS = "tf.layers"
_PRIVATE = "tf.python.layers"
_OURS = "tf_frame_legacy.layers"

ROWS = [
    *ours((_LAYERS, f"{_PRIVATE}.base", f"{_PRIVATE}.layers"), _OURS, "Layer"),
    *ours(
        (_LAYERS, f"{_PRIVATE}.core", f"{_PRIVATE}.layers"),
        _OURS,
        "Dense Dropout Flatten dense dropout flatten",
    ),
    *ours(
        (_LAYERS, f"{_PRIVATE}.convolutional", f"{_PRIVATE}.layers"),
        _OURS,
        "Conv1D Conv2D Conv2DTranspose Conv3D Conv3DTranspose SeparableConv1D SeparableConv2D "
        "conv1d conv2d conv2d_transpose conv3d conv3d_transpose separable_conv1d separable_conv2d",
    ),
    *ours(
        (f"{_PRIVATE}.convolutional", f"{_PRIVATE}.layers"),
        _OURS,
        "Convolution1D=Conv1D Convolution2D=Conv2D Convolution2DTranspose=Conv2DTranspose "
        "Convolution3D=Conv3D Convolution3DTranspose=Conv3DTranspose "
        "SeparableConvolution2D=SeparableConv2D",
    ),
    *ours(
        f"{_PRIVATE}.convolutional",
        _OURS,
        "SeparableConvolution1D=SeparableConv1D convolution1d=conv1d convolution2d=conv2d "
        "convolution2d_transpose=conv2d_transpose convolution3d=conv3d "
        "convolution3d_transpose=conv3d_transpose separable_convolution2d=separable_conv2d",
    ),
    *ours(
        (_LAYERS, f"{_PRIVATE}.normalization", f"{_PRIVATE}.layers"),
        _OURS,
        "BatchNormalization batch_normalization",
    ),
    *ours(
        f"{_PRIVATE}.normalization",
        _OURS,
        "BatchNorm=BatchNormalization batch_norm=batch_normalization",
    ),
    *ours(
        (_LAYERS, f"{_PRIVATE}.pooling", f"{_PRIVATE}.layers"),
        _OURS,
        "AveragePooling1D AveragePooling2D AveragePooling3D MaxPooling1D MaxPooling2D MaxPooling3D "
        "average_pooling1d average_pooling2d average_pooling3d max_pooling1d max_pooling2d "
        "max_pooling3d",
    ),
    *ours(
        f"{_PRIVATE}.pooling",
        _OURS,
        "AvgPool2D=AveragePooling2D MaxPool2D=MaxPooling2D avg_pool2d=average_pooling2d "
        "max_pool2d=max_pooling2d",
    ),
    *alias(_LAYERS, "tensorflow.python.keras.engine.input_spec", "InputSpec"),
    *alias(
        f"{_PRIVATE}.utils",
        "tensorflow.python.keras.utils.conv_utils",
        "conv_input_length conv_output_length convert_data_format deconv_output_length "
        "normalize_data_format normalize_padding normalize_tuple",
    ),
    *ours(f"{_PRIVATE}.utils", "tf_frame_legacy.slim.utils", "constant_value smart_cond"),
    *not_offered(
        "tf.layers.experimental",
        "keras_style_scope set_keras_style",
        "the layers are tf.layers' own, not Keras's; variables are shared by scope, or by calling "
        "a layer object twice",
    ),
]
