"""The whole network of a detector: box codes, logits of classes, and anchors."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame import Network, NetworkContext
from tf_frame_detection.boxes.anchors import multiscale_anchors, ssd_anchors, ssd_shapes
from tf_frame_detection.networks.convolutions import Convolutions, sides
from tf_frame_detection.networks.predictors import Heads, convolutional, weight_shared
from tf_frame_detection.networks.pyramid import pyramid
from tf_frame_detection.networks.ssd_maps import ssd_maps
from tf_frame_detection.options import FOCAL, SSD
from tf_frame_vision.preprocessing.vgg import MEANS

# Variable scope of backbone and feature maps.
FEATURES = "FeatureExtractor"
_SSD_RATIOS = (1.0, 2.0, 0.5, 3.0, 0.3333)
# The sigmoid of it is 0.01, the prior of section 4.1 of https://arxiv.org/abs/1708.02002.
_RARE = -4.6


class Raw(NamedTuple):
    """Outputs of the network.

    Attributes:
      codes: `[batch, anchors, code_size]`.
      logits: `[batch, anchors, 1 + num_classes]`, the background first.
      anchors: `[anchors, 4]`, in pixels of the image.
    """

    codes: Any
    logits: Any
    anchors: Any


def detector(
    images: Any,
    *,
    params: Any,
    backbone: Network,
    num_classes: int,
    code_size: int,
    is_training: bool,
    batch_norm_decay: float,
) -> Raw:
    """Builds the network.

    Args:
      images: `[batch, height, width, 3]` float32, 0 to 255.
      backbone: any network that can be a backbone.
      num_classes: number of classes of objects.
      code_size: numbers that describe a box.
      is_training: whether batch norm is trained.
      batch_norm_decay: what moving statistics keep per step.
    """
    trains = is_training and params.train_batch_norm
    context = NetworkContext(
        num_classes=None,
        is_training=trains,
        weight_decay=params.weight_decay,
        batch_norm_decay=batch_norm_decay,
        # Of 1, each network's own, for not all have such a setting.
        depth_multiplier=None if params.depth_multiplier == 1 else params.depth_multiplier,
    )
    convolutions = Convolutions(
        is_training=trains, weight_decay=params.weight_decay, batch_norm_decay=batch_norm_decay
    )
    heads = Heads(
        code_size=code_size,
        num_slots=1 + num_classes,
        kernel_size=params.kernel_size,
        class_bias=_class_bias(params),
        convolutions=dataclasses.replace(convolutions, stddev=params.predictor_stddev),
    )
    shared: dict[str, Any] = {
        "backbone": backbone,
        "context": context,
        "convolutions": convolutions,
    }
    build = _ssd if params.name == SSD else _retinanet
    return build(preprocessed(images, backbone), params, heads, shared)


def preprocessed(images: Any, backbone: Network) -> Any:
    """Returns pixels as the backbone was trained with: -1 to 1, or less the means of ImageNet."""
    if backbone.preprocessing == "vgg":
        return images - tf.constant(MEANS, tf.float32)
    return images * (2.0 / 255.0) - 1.0


def _class_bias(params: Any) -> float:
    if params.class_bias is None:
        return _RARE if params.classification_loss == FOCAL else 0.0
    bias: float = params.class_bias
    return bias


def _ssd(images: Any, params: Any, heads: Heads, shared: dict[str, Any]) -> Raw:
    with tf.variable_scope(FEATURES):
        maps = ssd_maps(
            images, num_maps=params.num_maps, use_depthwise=params.use_depthwise, **shared
        )
    shapes = ssd_shapes(
        params.num_maps,
        min_scale=params.min_scale,
        max_scale=params.max_scale,
        scales=params.anchor_scales,
        aspect_ratios=params.aspect_ratios or _SSD_RATIOS,
        reduce_lowest_layer=params.reduce_lowest_layer,
    )
    counts = [len(layer) for layer in shapes]
    use_depthwise = params.depthwise_predictor
    if use_depthwise is None:
        use_depthwise = params.use_depthwise
    codes, logits = convolutional(maps, counts, heads, use_depthwise=use_depthwise)
    return Raw(codes, logits, ssd_anchors([sides(net) for net in maps], sides(images), shapes))


def _retinanet(images: Any, params: Any, heads: Heads, shared: dict[str, Any]) -> Raw:
    with tf.variable_scope(FEATURES):
        maps = pyramid(
            images,
            strides=params.strides,
            depth=params.pyramid_channels,
            top_stride=params.top_stride,
            **shared,
        )
    ratios = params.aspect_ratios or (1.0,)
    codes, logits = weight_shared(
        maps,
        params.scales_per_octave * len(ratios),
        heads,
        depth=params.pyramid_channels,
        num_layers=params.predictor_layers,
    )
    anchors = multiscale_anchors(
        [sides(net) for net in maps],
        params.strides,
        anchor_scale=params.anchor_scale,
        scales_per_octave=params.scales_per_octave,
        aspect_ratios=ratios,
    )
    return Raw(codes, logits, anchors)
