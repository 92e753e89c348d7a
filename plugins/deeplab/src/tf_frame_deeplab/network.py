"""DeepLabV3+ (https://arxiv.org/abs/1802.02611): backbone, ASPP, decoder, logits.

Atrous spatial pyramid pooling (ASPP) looks at surroundings of several sizes, the decoder sharpens
borders. Variables have the names of slim and DeepLab, so that a backbone's checkpoint loads.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import Network, NetworkContext, layers
from tf_frame_deeplab.blocks import Blocks
from tf_frame_deeplab.inputs.mean_pixel import MEAN_RGB
from tf_frame_deeplab.network_options import LITE
from tf_frame_deeplab.pyramids import pyramid

LAST_LAYERS = (
    *("logits", "image_pooling", "aspp", "concat_projection", "decoder"),
    "meta_architecture",
)


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
      (over `output_stride` without a decoder), and end points by name, with
      `logits/<head>` for another head.
    """
    context = NetworkContext(
        num_classes=None,
        is_training=is_training,
        weight_decay=params.weight_decay,
        batch_norm_decay=params.batch_norm_decay,
        # None for 1: some networks have no such setting.
        depth_multiplier=None if params.depth_multiplier == 1 else params.depth_multiplier,
        multi_grid=params.multi_grid or None,
    )
    features, backbone_end_points = backbone.features(
        _preprocessed(images, backbone), context, output_stride=params.output_stride
    )
    end_points = dict(backbone_end_points)
    blocks = Blocks(is_training=is_training, params=params)
    net = pyramid(features[params.output_stride], params, blocks)
    end_points["concat_projection"] = net
    maps = []
    if params.decoder_channels:
        maps = [
            backbone.decoder_map(features, backbone_end_points, stride)
            for stride in params.decoder_output_stride
        ]
    make: Callable[..., Any] = functools.partial(_logits, weight_decay=params.weight_decay)
    if maps and params.pyramid == LITE:
        make = functools.partial(_summed_logits, maps=maps, blocks=blocks)
    elif maps:
        net = end_points["decoder"] = _decoder(net, maps, params, blocks)
    end_points["logits"] = make(net, num_classes)
    for head, channels in (other_heads or {}).items():
        end_points[f"logits/{head}"] = make(net, channels, head=head)
    return end_points["logits"], end_points


def _preprocessed(images: Any, backbone: Network) -> Any:
    """Scales pixels to -1 to 1, or subtracts the means of ImageNet, as DeepLab's backbones need."""
    if backbone.preprocessing == "vgg":
        return images - tf.constant(MEAN_RGB, tf.float32)
    return images * (2.0 / 255.0) - 1.0


def _decoder(features: Any, maps: Sequence[Any], params: Any, blocks: Blocks) -> Any:
    """Sharpens the borders with feature maps of smaller strides, a stage for each.

    Names of variables: `refine_by_decoder` in deeplab/model.py of tensorflow/models.
    """
    net = features
    with tf.variable_scope("decoder"):
        for stage, low_level in enumerate(maps):
            suffix = f"_{stage}" if stage else ""
            channels = params.low_level_channels
            skip = blocks.conv(low_level, channels, scope=f"feature_projection0{suffix}")
            net = tf.concat([blocks.resize(net, like=low_level), skip], axis=3)
            for index in range(2):
                scope = f"decoder_conv{index}{suffix}"
                net = blocks.separable(net, params.decoder_channels, scope=scope)
    return net


def _summed_logits(
    features: Any, channels: int, *, maps: Sequence[Any], blocks: Blocks, head: str = ""
) -> Any:
    """Adds logits of the features to logits of feature maps of smaller strides, stage by stage.

    Variables of the classes have the names of DeepLab with `decoder_use_sum_merge` and
    `decoder_output_is_logits`, which has no other heads.
    """
    net = features
    with tf.variable_scope("decoder"):
        for stage, low_level in enumerate(maps):
            suffix = f"_{stage}" * bool(stage) + f"_{head}" * bool(head)
            skip = blocks.biased(low_level, channels, scope=f"feature_projection0{suffix}")
            net = blocks.resize(net, like=low_level)
            net = blocks.biased(net, channels, scope=f"decoder_conv0{suffix}") + skip
    return net


def _logits(features: Any, channels: int, *, weight_decay: float, head: str = "semantic") -> Any:
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


def upsample(logits: Any, *, like: Any, align_corners: bool = False) -> Any:
    """Resizes logits to the height and width of another tensor.

    Args:
      logits: `[batch, height, width, num_classes]`.
      like: `[batch, new_height, new_width, ...]`.
      align_corners: whether the centres of corner pixels coincide; see `blocks`.
    """
    return layers.resize_bilinear(logits, layers.spatial_size(like), align_corners=align_corners)
