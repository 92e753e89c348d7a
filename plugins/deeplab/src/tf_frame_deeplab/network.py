"""DeepLabV3+ (https://arxiv.org/abs/1802.02611): encoder, ASPP, decoder, logits."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_deeplab.blocks import Blocks
from tf_frame_deeplab.mobilenet_v2 import mobilenet_v2

LAST_LAYERS = ("logits", "image_pooling", "aspp", "concat_projection", "decoder")
_LOW_LEVEL_FEATURE = "layer_4/depthwise_output"
# The rates of the paper; they grow with the size of the feature map.
_ATROUS_RATES = {8: (12, 24, 36), 16: (6, 12, 18)}


def deeplab_v3_plus(
    images: Any, *, params: Any, num_classes: int, is_training: bool
) -> tuple[Any, dict[str, Any]]:
    """Builds the network.

    Args:
      images: `[batch, height, width, 3]` float32, values from 0 to 255.
      params: `tf_frame_deeplab.model.Params`.
      num_classes: number of classes, the background included.
      is_training: whether batch norm is trained.

    Returns:
      Logits `[batch, height / 4, width / 4, num_classes]`, sizes rounded up
      (over `output_stride` without a decoder), and end points by name.
    """
    encoder = _blocks(params, is_training, epsilon=1e-3, activation=tf.nn.relu6)
    end_points = mobilenet_v2(
        images * (2.0 / 255.0) - 1.0,
        blocks=encoder,
        depth_multiplier=params.depth_multiplier,
        output_stride=params.output_stride,
    )
    blocks = _blocks(params, is_training, epsilon=1e-5)
    net = _pyramid(end_points["layer_18"], params, blocks)
    end_points["concat_projection"] = net
    if params.decoder_channels:
        net = _decoder(net, end_points[_LOW_LEVEL_FEATURE], params, blocks)
        end_points["decoder"] = net
    end_points["logits"] = _logits(net, num_classes, params.weight_decay)
    return end_points["logits"], end_points


def _blocks(params: Any, is_training: bool, **settings: Any) -> Blocks:
    return Blocks(
        is_training=is_training,
        decay=params.batch_norm_decay,
        weight_decay=params.weight_decay,
        **settings,
    )


def _pyramid(features: Any, params: Any, blocks: Blocks) -> Any:
    """Atrous spatial pyramid pooling."""
    filters = params.aspp_channels
    branches = [blocks.conv(features, filters, 1, scope="aspp0")]
    rates = params.atrous_rates or _ATROUS_RATES[params.output_stride]
    for index, rate in enumerate(rates, start=1):
        branches.append(blocks.separable(features, filters, rate=rate, scope=f"aspp{index}"))
    if params.image_pooling:
        pooled = layers.global_average_pool(features)
        pooled = blocks.conv(pooled, filters, 1, scope="image_pooling")
        branches.insert(0, layers.resize_bilinear(pooled, layers.spatial_size(features)))
    return blocks.conv(tf.concat(branches, axis=3), filters, 1, scope="concat_projection")


def _decoder(features: Any, low_level: Any, params: Any, blocks: Blocks) -> Any:
    """Sharpens the borders with features of stride 4."""
    with tf.variable_scope("decoder"):
        size = layers.spatial_size(low_level)
        skip = blocks.conv(low_level, params.low_level_channels, 1, scope="feature_projection0")
        net = tf.concat([layers.resize_bilinear(features, size), skip], axis=3)
        for index in range(2):
            net = blocks.separable(net, params.decoder_channels, scope=f"decoder_conv{index}")
    return net


def _logits(features: Any, num_classes: int, weight_decay: float) -> Any:
    with tf.variable_scope("logits"):
        return layers.conv2d(
            features,
            num_classes,
            1,
            activation_fn=None,
            weights_initializer=tf.truncated_normal_initializer(stddev=0.01),
            weights_regularizer=layers.l2_regularizer(weight_decay),
            scope="semantic",
        )


def upsample(logits: Any, *, like: Any) -> Any:
    """Resizes logits to the height and width of another tensor.

    Args:
      logits: `[batch, height, width, num_classes]`.
      like: `[batch, new_height, new_width, ...]`.
    """
    return layers.resize_bilinear(logits, layers.spatial_size(like))
