"""Feature maps of SSD: two of the backbone, and further ones of half the size each.

Layers and names of variables are those of the object detection API (tensorflow/models,
research/object_detection/models): ssd_mobilenet_v1_feature_extractor.py, ssd_mobilenet_v2_...,
and `multi_resolution_feature_maps` of feature_map_generators.py, so that published checkpoints
load: `FeatureExtractor/MobilenetV2/layer_19_1_Conv2d_2_1x1_256/weights` and so on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import Network, NetworkContext, layers
from tf_frame_detection.networks.convolutions import Convolutions, check_strides, scaled_depth
from tf_frame_detection.options import MAX_MAPS, SSD_DEPTHS, SSD_STRIDES

MIN_DEPTH = 16
# End points of stride 16 and 32, by module of slim. The API's MobileNetV3 has other layers.
_MAPS: Mapping[str, tuple[str, str]] = {
    "mobilenet_v1": ("Conv2d_11_pointwise", "Conv2d_13_pointwise"),
    "mobilenet_v2": ("layer_15/expansion_output", "layer_19"),
}


def ssd_maps(
    images: Any,
    *,
    backbone: Network,
    context: NetworkContext,
    convolutions: Convolutions,
    num_maps: int = MAX_MAPS,
    use_depthwise: bool = False,
) -> list[Any]:
    """Builds the feature maps.

    Args:
      images: `[batch, height, width, 3]` float32, preprocessed for the backbone.
      backbone: any network that can be a backbone; the names and layers are the API's for
        MobileNet, for others the last maps of stride 16 and 32 are taken.
      convolutions: settings of the further layers.
      num_maps: number of maps, 2 to 6.
      use_depthwise: whether the further layers are depthwise separable, as in SSDLite.

    Returns:
      `[batch, height / stride, width / stride, channels]`, sizes rounded up, for strides of 16,
      32, 64 and so on.
    """
    maps, last_name = _backbone_maps(images, backbone, context)
    multiplier = context.depth_multiplier or 1.0
    with (
        tf.variable_scope(getattr(backbone, "scope", "Backbone")),
        layers.arg_scope(convolutions.arg_scope()),
    ):
        for index, depth in enumerate(
            SSD_DEPTHS[: num_maps - len(SSD_STRIDES)], start=len(SSD_STRIDES)
        ):
            narrow, wide = (scaled_depth(d, multiplier, MIN_DEPTH) for d in (depth / 2, depth))
            net = layers.conv2d(
                maps[-1], narrow, 1, scope=f"{last_name}_1_Conv2d_{index}_1x1_{narrow}"
            )
            scope = f"{last_name}_2_Conv2d_{index}_3x3_s2_{wide}"
            maps.append(_halved(net, wide, scope, use_depthwise))
    return maps


def _halved(net: Any, depth: int, scope: str, use_depthwise: bool) -> Any:
    """Convolves with stride 2."""
    if not use_depthwise:
        return layers.conv2d(net, depth, 3, stride=2, scope=scope)
    net = layers.separable_conv2d(net, None, 3, stride=2, scope=f"{scope}_depthwise")
    return layers.conv2d(net, depth, 1, scope=scope)


def _backbone_maps(
    images: Any, backbone: Network, context: NetworkContext
) -> tuple[list[Any], str]:
    """Returns the maps of the backbone, and the name of the last map."""
    names = _MAPS.get(getattr(backbone, "module", ""))
    if names is None:
        maps = backbone.pyramid_features(images, context, min_depth=MIN_DEPTH)
        check_strides(maps, SSD_STRIDES)
        return [maps[stride] for stride in SSD_STRIDES], "stride_32"
    slim: Any = backbone
    maps = slim.end_points(images, context, min_depth=MIN_DEPTH, final_endpoint=names[-1])
    return [maps[name] for name in names], names[-1]
