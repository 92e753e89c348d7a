"""Layers made of `get_variable` and `tf.nn`, with slim's variable names.

    from tf_frame import layers

    net = layers.conv2d(images, 32, 3, stride=2, scope="Conv",
                        normalizer=functools.partial(layers.batch_norm, is_training=True))
    # Conv/weights, Conv/BatchNorm/beta, Conv/BatchNorm/moving_mean, ...

All tensors are NHWC: `[batch, height, width, channels]`. Importing this
package imports TensorFlow.
"""

from tf_frame.layers.conv import conv2d, depthwise_conv2d
from tf_frame.layers.initializers import truncated_normal, variance_scaling, xavier
from tf_frame.layers.normalization import batch_norm
from tf_frame.layers.pooling import global_average_pool
from tf_frame.layers.regularizers import l2_regularizer
from tf_frame.layers.resize import resize_bilinear, spatial_size
from tf_frame.layers.variables import model_variable

__all__ = [
    "batch_norm",
    "conv2d",
    "depthwise_conv2d",
    "global_average_pool",
    "l2_regularizer",
    "model_variable",
    "resize_bilinear",
    "spatial_size",
    "truncated_normal",
    "variance_scaling",
    "xavier",
]
