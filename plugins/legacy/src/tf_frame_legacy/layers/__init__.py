"""The namespace of tf.layers, which Keras 3 removed, over the layers of `tf_frame.layers`.

    from tf_frame_legacy import layers  # was: tf.layers

    net = layers.conv2d(images, 32, 3, activation=tf.nn.relu)   # conv2d/kernel, conv2d/bias
    net = layers.batch_normalization(net, training=is_training)  # updates in UPDATE_OPS
    logits = layers.dense(layers.flatten(net), 10, name="logits")  # logits/kernel, logits/bias

Arguments, defaults, variables and collections are the same as in `tf.compat.v1.layers`.
"""

import typing

from tf_frame_legacy.layers.base import Layer as Layer
from tf_frame_legacy.layers.convolutional import (
    Conv1D as Conv1D,
    Conv2D as Conv2D,
    Conv2DTranspose as Conv2DTranspose,
    Conv3D as Conv3D,
    Conv3DTranspose as Conv3DTranspose,
    SeparableConv1D as SeparableConv1D,
    SeparableConv2D as SeparableConv2D,
    conv1d as conv1d,
    conv2d as conv2d,
    conv2d_transpose as conv2d_transpose,
    conv3d as conv3d,
    conv3d_transpose as conv3d_transpose,
    separable_conv1d as separable_conv1d,
    separable_conv2d as separable_conv2d,
)
from tf_frame_legacy.layers.core import (
    Dense as Dense,
    Dropout as Dropout,
    Flatten as Flatten,
    dense as dense,
    dropout as dropout,
    flatten as flatten,
)
from tf_frame_legacy.layers.normalization import (
    BatchNormalization as BatchNormalization,
    batch_normalization as batch_normalization,
)
from tf_frame_legacy.layers.pooling import (
    AveragePooling1D as AveragePooling1D,
    AveragePooling2D as AveragePooling2D,
    AveragePooling3D as AveragePooling3D,
    MaxPooling1D as MaxPooling1D,
    MaxPooling2D as MaxPooling2D,
    MaxPooling3D as MaxPooling3D,
    average_pooling1d as average_pooling1d,
    average_pooling2d as average_pooling2d,
    average_pooling3d as average_pooling3d,
    max_pooling1d as max_pooling1d,
    max_pooling2d as max_pooling2d,
    max_pooling3d as max_pooling3d,
)

if not typing.TYPE_CHECKING:
    __all__ = [name for name, value in globals().copy().items() if callable(value)]
