"""Logits of all heads at the size of the labels: of an image, or averaged over views of it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame import Network
from tf_frame_deeplab import network
from tf_frame_deeplab.heads import SEMANTIC
from tf_frame_deeplab.image_pyramid import merged_logits, scale_logits
from tf_frame_deeplab.padding import padded, without_padding
from tf_frame_deeplab.views import averaged_logits


@dataclasses.dataclass(frozen=True, kw_only=True)
class HeadLogits:
    """Logits of one clone.

    Attributes:
      by_head: head -> `[batch, height, width, channels]`, `semantic` first.
      scales: logits of the classes of each scale of `--model.image_pyramid`; none for one scale
        or several views.
      end_points: layers by name.
    """

    by_head: Mapping[str, Any]
    scales: Sequence[Any]
    end_points: dict[str, Any]


def head_logits(
    images: Any,
    *,
    labels: Any,
    backbone: Network,
    params: Any,
    num_classes: int,
    is_training: bool,
) -> HeadLogits:
    """Builds the network; in evaluation and prediction, for each view of the options.

    Args:
      images: `[batch, height, width, 3]` float32, 0 to 255.
      labels: `[batch, height, width]`, of the size of the result; None: the result has the size
        of the images, and no logits of single scales.
      backbone: a network that can be a backbone.
      params: `tf_frame_deeplab.model.Params`.
      num_classes: number of classes, the background included.
      is_training: whether the network is trained.
    """
    build = functools.partial(
        network.deeplab_v3_plus,
        backbone=backbone,
        num_classes=num_classes,
        is_training=is_training and params.train_batch_norm,
    )
    end_points: dict[str, Any] = {}

    def build_heads(image: Any) -> dict[str, Any]:
        logits, points = merged_logits(
            padded(image, params), build, params=params, other_heads=params.other_heads
        )
        # Keep the end points of the first view: further views may be within a loop.
        end_points.update({} if end_points else points)
        others = {head: points[f"logits/{head}"] for head in params.other_heads}
        return {
            head: without_padding(tensor, image, params)
            for head, tensor in {SEMANTIC: logits, **others}.items()
        }

    like = images if labels is None else labels
    upsample = functools.partial(network.upsample, like=like, align_corners=params.align_corners)
    if not is_training and params.has_several_views:
        by_head = averaged_logits(build_heads, images, like=like, params=params)
        return HeadLogits(by_head=by_head, scales=(), end_points=end_points)
    by_head = {head: upsample(logits) for head, logits in build_heads(images).items()}
    by_scale = () if labels is None else scale_logits(end_points)
    scales = [upsample(without_padding(logits, images, params)) for logits in by_scale]
    return HeadLogits(by_head=by_head, scales=scales, end_points=end_points)
