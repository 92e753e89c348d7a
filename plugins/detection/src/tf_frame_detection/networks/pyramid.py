"""Feature pyramid (https://arxiv.org/abs/1612.03144) on any backbone.

Layers and names of variables are those of the object detection API (tensorflow/models,
research/object_detection/models): ssd_resnet_v1_fpn_feature_extractor.py, ssd_mobilenet_v1_fpn_...
and ..._v2_fpn_..., and `fpn_top_down_feature_maps` of feature_map_generators.py:
`FeatureExtractor/resnet_v1_50/fpn/projection_1/weights`, `.../smoothing_1/weights`,
`.../smoothing_1/BatchNorm/beta`, `.../bottom_up_block5/weights`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import Network, NetworkContext, layers
from tf_frame_detection.networks.convolutions import Convolutions, check_strides, sides

_MIN_DEPTH = 16
LARGEST_OF_BACKBONE = 32
# Names of the maps after that of the backbone, by module of slim.
_FURTHER = {"mobilenet_v1": ("bottom_up_Conv2d_", 14), "mobilenet_v2": ("bottom_up_Conv2d_", 20)}
_FURTHER_OF_RESNET = ("bottom_up_block", 5)


def pyramid(
    images: Any,
    *,
    backbone: Network,
    context: NetworkContext,
    convolutions: Convolutions,
    strides: Sequence[int],
    depth: int,
    top_stride: int | None = None,
) -> list[Any]:
    """Builds the feature maps.

    Args:
      images: `[batch, height, width, 3]` float32, preprocessed for the backbone.
      backbone: any network that can be a backbone.
      convolutions: settings of the pyramid's layers.
      strides: of the maps, powers of 2 in rising order.
      depth: channels of the maps.
      top_stride: stride of the map of the backbone that the pyramid begins with; None: the
        largest of `strides`, 32 at most.

    Returns:
      `[batch, height / stride, width / stride, depth]` for each stride, sizes rounded up.

    Raises:
      ConfigError: the backbone has no feature map of a stride.
    """
    top = top_stride or min(max(strides), LARGEST_OF_BACKBONE)
    backbone_maps = backbone.pyramid_features(images, context, top_stride=top, min_depth=_MIN_DEPTH)
    check_strides(backbone_maps, [stride for stride in (*strides, top) if stride <= top])
    with (
        tf.variable_scope(getattr(backbone, "scope", "Backbone")),
        tf.variable_scope("fpn"),
        layers.arg_scope(convolutions.arg_scope()),
    ):
        maps = _top_down({s: m for s, m in backbone_maps.items() if s >= min(strides)}, depth)
        names = _FURTHER.get(getattr(backbone, "module", ""), _FURTHER_OF_RESNET)
        _add_further(maps, depth, max(strides), *names)
    return [maps[stride] for stride in strides]


def _top_down(backbone_maps: Mapping[int, Any], depth: int) -> dict[int, Any]:
    """Adds each map to the map above it, of twice the stride; names count from the smallest."""
    levels = sorted(backbone_maps)
    maps, net = {}, None
    for number in range(len(levels), 0, -1):
        stride = levels[number - 1]
        projection = layers.conv2d(
            backbone_maps[stride],
            depth,
            1,
            activation_fn=None,
            normalizer_fn=None,
            scope=f"projection_{number}",
        )
        # As in the API, what goes further down is not smoothed for the map above, which ends here.
        if net is None:
            net = maps[stride] = projection
        else:
            net = _doubled(net, like=projection) + projection
            maps[stride] = layers.conv2d(net, depth, 3, scope=f"smoothing_{number}")
    return maps


def _add_further(maps: dict[int, Any], depth: int, largest: int, name: str, first: int) -> None:
    """Adds maps of half the size each, until the largest stride."""
    while (stride := max(maps)) < largest:
        maps[stride * 2] = layers.conv2d(maps[stride], depth, 3, stride=2, scope=f"{name}{first}")
        first += 1


def _doubled(net: Any, *, like: Any) -> Any:
    """Repeats every pixel twice in both directions, and cuts to the size of another map."""
    height, width = sides(net)
    net = tf.image.resize_nearest_neighbor(net, [height * 2, width * 2])
    height, width = sides(like)
    return net[:, :height, :width]
