"""The namespace of tf.layers, which Keras 3 removed, over the layers of `tf_frame.layers`.

    from tf_frame_legacy import layers  # was: tf.layers

    net = layers.conv2d(images, 32, 3, activation=tf.nn.relu)   # conv2d/kernel, conv2d/bias
    net = layers.batch_normalization(net, training=is_training)  # updates in UPDATE_OPS
    logits = layers.dense(layers.flatten(net), 10, name="logits")  # logits/kernel, logits/bias

Arguments, defaults, variables and collections are those of `tf.compat.v1.layers`.
"""

from tf_frame_legacy.layers.base import Layer
from tf_frame_legacy.layers.convolutional import (
    Conv1D,
    Conv2D,
    Conv2DTranspose,
    Conv3D,
    Conv3DTranspose,
    SeparableConv1D,
    SeparableConv2D,
    conv1d,
    conv2d,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    separable_conv1d,
    separable_conv2d,
)
from tf_frame_legacy.layers.core import Dense, Dropout, Flatten, dense, dropout, flatten
from tf_frame_legacy.layers.normalization import BatchNormalization, batch_normalization
from tf_frame_legacy.layers.pooling import (
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
    average_pooling1d,
    average_pooling2d,
    average_pooling3d,
    max_pooling1d,
    max_pooling2d,
    max_pooling3d,
)

__all__ = [
    "AveragePooling1D",
    "AveragePooling2D",
    "AveragePooling3D",
    "BatchNormalization",
    "Conv1D",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "Dense",
    "Dropout",
    "Flatten",
    "Layer",
    "MaxPooling1D",
    "MaxPooling2D",
    "MaxPooling3D",
    "SeparableConv1D",
    "SeparableConv2D",
    "average_pooling1d",
    "average_pooling2d",
    "average_pooling3d",
    "batch_normalization",
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "dense",
    "dropout",
    "flatten",
    "max_pooling1d",
    "max_pooling2d",
    "max_pooling3d",
    "separable_conv1d",
    "separable_conv2d",
]
