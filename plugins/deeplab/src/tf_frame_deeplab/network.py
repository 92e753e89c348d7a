"""DeepLabV3+ (https://arxiv.org/abs/1802.02611): backbone, ASPP, decoder, logits.

Atrous spatial pyramid pooling (ASPP) looks at surroundings of several sizes, the decoder sharpens
borders. Variables have the names of slim and DeepLab, so that a backbone's checkpoint loads.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import Network, NetworkContext, layers

LAST_LAYERS = ("logits", "image_pooling", "aspp", "concat_projection", "decoder")
# End point of mobilenet_v2 with stride 4 (deeplab/core/feature_extractor.py of tensorflow/models).
_LOW_LEVEL_FEATURE = "layer_4/depthwise_output"
# The rates of the paper; they grow with the size of the feature map.
_ATROUS_RATES = {8: (12, 24, 36), 16: (6, 12, 18)}
# Standard deviations of the initial weights of slim's and DeepLab's separable convolutions.
_DEPTHWISE_STDDEV = 0.33
_POINTWISE_STDDEV = 0.06


def deeplab_v3_plus(
    images: Any,
    *,
    backbone: Network,
    params: Any,
    num_classes: int,
    is_training: bool,
    other_heads: Mapping[str, int] | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Builds the network.

    Args:
      images: `[batch, height, width, 3]` float32, values from 0 to 255.
      backbone: mobilenet_v2, which takes values from -1 to 1.
      params: `tf_frame_deeplab.model.Params`.
      num_classes: number of classes, the background included.
      is_training: whether batch norm is trained.
      other_heads: head -> channels, of all heads but `semantic`.

    Returns:
      Logits `[batch, height / 4, width / 4, num_classes]`, sizes rounded up
      (over `output_stride` without a decoder), and end points by name; those of
      another head are `logits/<head>`.
    """
    context = NetworkContext(
        num_classes=None,
        is_training=is_training,
        weight_decay=params.weight_decay,
        batch_norm_decay=params.batch_norm_decay,
        depth_multiplier=params.depth_multiplier,
    )
    features, backbone_end_points = backbone.features(
        images * (2.0 / 255.0) - 1.0, context, output_stride=params.output_stride
    )
    end_points = dict(backbone_end_points)
    blocks = _Blocks(is_training=is_training, params=params)
    net = _pyramid(features[params.output_stride], params, blocks)
    end_points["concat_projection"] = net
    if params.decoder_channels:
        net = _decoder(net, end_points[_LOW_LEVEL_FEATURE], params, blocks)
        end_points["decoder"] = net
    end_points["logits"] = _logits(net, num_classes, params.weight_decay)
    for head, channels in (other_heads or {}).items():
        end_points[f"logits/{head}"] = _logits(net, channels, params.weight_decay, head=head)
    return end_points["logits"], end_points


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Blocks:
    """Makes layers of convolution, batch norm and rectifier that share their settings.

    Attributes:
      is_training: whether batch norm uses, and keeps, statistics of the batch.
      params: decay of batch norm, and weight decay.
    """

    is_training: bool
    params: Any

    def conv(self, inputs: Any, filters: int, *, scope: str, initializer: Any = None) -> Any:
        """Convolves with a 1x1 kernel, which pays an L2 penalty."""
        return layers.conv2d(
            inputs,
            filters,
            1,
            normalizer_fn=self._batch_norm,
            weights_initializer=initializer or layers.xavier_initializer(),
            weights_regularizer=layers.l2_regularizer(self.params.weight_decay),
            scope=scope,
        )

    def separable(self, inputs: Any, filters: int, *, scope: str, rate: int = 1) -> Any:
        """Makes `<scope>_depthwise`, 3x3 without a penalty, and `<scope>_pointwise`, 1x1."""
        net = layers.separable_conv2d(
            inputs,
            None,
            3,
            rate=rate,
            normalizer_fn=self._batch_norm,
            weights_initializer=tf.truncated_normal_initializer(stddev=_DEPTHWISE_STDDEV),
            scope=f"{scope}_depthwise",
        )
        initializer = tf.truncated_normal_initializer(stddev=_POINTWISE_STDDEV)
        return self.conv(net, filters, initializer=initializer, scope=f"{scope}_pointwise")

    @property
    def _batch_norm(self) -> Any:
        return functools.partial(
            layers.batch_norm,
            is_training=self.is_training,
            decay=self.params.batch_norm_decay,
            epsilon=1e-5,
            scale=True,
        )


def _pyramid(features: Any, params: Any, blocks: _Blocks) -> Any:
    """Atrous spatial pyramid pooling."""
    filters = params.aspp_channels
    branches = [blocks.conv(features, filters, scope="aspp0")]
    rates = params.atrous_rates or _ATROUS_RATES[params.output_stride]
    for index, rate in enumerate(rates, start=1):
        branches.append(blocks.separable(features, filters, rate=rate, scope=f"aspp{index}"))
    if params.image_pooling:
        pooled = layers.global_average_pool(features)
        pooled = blocks.conv(pooled, filters, scope="image_pooling")
        branches.insert(0, layers.resize_bilinear(pooled, layers.spatial_size(features)))
    return blocks.conv(tf.concat(branches, axis=3), filters, scope="concat_projection")


def _decoder(features: Any, low_level: Any, params: Any, blocks: _Blocks) -> Any:
    """Sharpens the borders with features of stride 4."""
    with tf.variable_scope("decoder"):
        size = layers.spatial_size(low_level)
        skip = blocks.conv(low_level, params.low_level_channels, scope="feature_projection0")
        net = tf.concat([layers.resize_bilinear(features, size), skip], axis=3)
        for index in range(2):
            net = blocks.separable(net, params.decoder_channels, scope=f"decoder_conv{index}")
    return net


def _logits(features: Any, channels: int, weight_decay: float, *, head: str = "semantic") -> Any:
    with tf.variable_scope("logits"):
        return layers.conv2d(
            features,
            channels,
            1,
            activation_fn=None,
            weights_initializer=tf.truncated_normal_initializer(stddev=0.01),
            weights_regularizer=layers.l2_regularizer(weight_decay),
            scope=head,
        )


def upsample(logits: Any, *, like: Any) -> Any:
    """Resizes logits to the height and width of another tensor.

    Args:
      logits: `[batch, height, width, num_classes]`.
      like: `[batch, new_height, new_width, ...]`.
    """
    return layers.resize_bilinear(logits, layers.spatial_size(like))
