"""DeepLabV3+ (https://arxiv.org/abs/1802.02611): backbone, ASPP, decoder, logits.

Atrous spatial pyramid pooling (ASPP) looks at surroundings of several sizes, the decoder sharpens
borders. Variables have the names of slim and DeepLab, so that a backbone's checkpoint loads.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import Network, NetworkContext, layers
from tf_frame_vision.preprocessing.vgg import MEANS

LAST_LAYERS = ("logits", "image_pooling", "aspp", "concat_projection", "decoder")
# The rates of the paper; they grow with the size of the feature map.
_ATROUS_RATES = {8: (12, 24, 36), 16: (6, 12, 18), 32: (3, 6, 9)}
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
      backbone: a network that can be a backbone.
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
        # Of 1, each network's own, for not all have such a setting.
        depth_multiplier=None if params.depth_multiplier == 1 else params.depth_multiplier,
        multi_grid=params.multi_grid or None,
    )
    features, backbone_end_points = backbone.features(
        _preprocessed(images, backbone), context, output_stride=params.output_stride
    )
    end_points = dict(backbone_end_points)
    blocks = _Blocks(is_training=is_training, params=params)
    net = _pyramid(features[params.output_stride], params, blocks)
    end_points["concat_projection"] = net
    if params.decoder_channels:
        maps = [
            backbone.decoder_map(features, backbone_end_points, stride)
            for stride in params.decoder_output_stride
        ]
        net = _decoder(net, maps, params, blocks)
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


def _preprocessed(images: Any, backbone: Network) -> Any:
    """The pixels as DeepLab gives them to a backbone: -1 to 1, or less the means of ImageNet."""
    if backbone.preprocessing == "vgg":
        return images - tf.constant(MEANS, tf.float32)
    return images * (2.0 / 255.0) - 1.0


def _decoder(features: Any, maps: Sequence[Any], params: Any, blocks: _Blocks) -> Any:
    """Sharpens the borders with feature maps of smaller strides, a stage for each.

    Names of variables are those of `refine_by_decoder` in deeplab/model.py of tensorflow/models.
    """
    net = features
    with tf.variable_scope("decoder"):
        for stage, low_level in enumerate(maps):
            suffix = f"_{stage}" if stage else ""
            size, channels = layers.spatial_size(low_level), params.low_level_channels
            skip = blocks.conv(low_level, channels, scope=f"feature_projection0{suffix}")
            net = tf.concat([layers.resize_bilinear(net, size), skip], axis=3)
            for index in range(2):
                scope = f"decoder_conv{index}{suffix}"
                net = blocks.separable(net, params.decoder_channels, scope=scope)
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
