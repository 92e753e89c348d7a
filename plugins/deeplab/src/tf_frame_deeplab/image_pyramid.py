"""Merges the logits of several scales of the image: `--model.image_pyramid`.

As `multi_scale_logits` of tensorflow/models, research/deeplab/model.py: one set of variables sees
the image at all scales, and the largest or mean logits of the classes count. In training each
scale has a loss of its own, in addition to the loss of the merged logits
(`add_softmax_cross_entropy_loss_for_each_scale` in its utils/train_utils.py).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_deeplab.blocks import scaled_size
from tf_frame_deeplab.network_options import scale_name

_MERGE: Mapping[str, Callable[..., Any]] = {"max": tf.reduce_max, "avg": tf.reduce_mean}
_SCALES = "semantic/logits_"


def merged_logits(
    images: Any, build: Callable[..., Any], *, params: Any, other_heads: Mapping[str, int]
) -> tuple[Any, dict[str, Any]]:
    """Builds the network at each scale and merges the logits of the classes.

    Other heads see scale 1, or the largest scale: offsets and heat maps of several
    scales have no common maximum or mean.

    Args:
      images: `[batch, height, width, 3]`, values from 0 to 255.
      build: `network.deeplab_v3_plus` without these arguments.
      params: `tf_frame_deeplab.model.Params`.
      other_heads: head -> channels, of all heads but `semantic`.

    Returns:
      Merged logits, `[batch, new_height, new_width, num_classes]`, of the size of the
      largest scale, at least 1; end points of the scale of the other heads, and with several
      scales `semantic/merged_logits` and for each scale `semantic/logits_0.50` or the like.
    """
    scales = params.image_pyramid or (1.0,)
    if scales == (1.0,):
        single: tuple[Any, dict[str, Any]] = build(images, params=params, other_heads=other_heads)
        return single
    first = 1.0 if 1.0 in scales else max(scales)
    size = _logits_size(images, params)
    by_scale: dict[str, Any] = {}
    end_points: dict[str, Any] = {}
    for scale in sorted(scales, key=lambda scale: scale != first):
        reuse = True if by_scale else None
        with tf.variable_scope(tf.get_variable_scope(), reuse=reuse, auxiliary_name_scope=False):
            logits, points = build(
                _scaled(images, scale, params),
                params=_scaled_params(params, scale),
                other_heads={} if by_scale else other_heads,
            )
        end_points = end_points or points
        resized = layers.resize_bilinear(logits, size, align_corners=params.align_corners)
        by_scale[f"semantic/{scale_name(scale)}"] = resized
    if len(by_scale) == 1:
        return resized, end_points
    merged = _MERGE[params.merge_method](tf.stack(list(by_scale.values())), axis=0)
    end_points |= {"logits": merged, **by_scale, "semantic/merged_logits": merged}
    return merged, end_points


def scale_logits(end_points: Mapping[str, Any]) -> list[Any]:
    """Returns the logits that `merged_logits` merged; none for a single scale."""
    return [logits for name, logits in end_points.items() if name.startswith(_SCALES)]


def _logits_size(images: Any, params: Any) -> Any:
    stride = params.decoder_output_stride[-1] if params.decoder_channels else params.output_stride
    largest = max(1.0, *params.image_pyramid)
    return scaled_size(layers.spatial_size(images), largest / stride)


def _scaled(images: Any, scale: float, params: Any) -> Any:
    if scale == 1.0:
        return images
    size = scaled_size(layers.spatial_size(images), scale)
    return layers.resize_bilinear(images, size, align_corners=params.align_corners)


def _scaled_params(params: Any, scale: float) -> Any:
    """Scales the window of image pooling, so that it covers the same part of the image."""
    window = tuple(scaled_size(params.image_pooling_crop_size, scale))
    return dataclasses.replace(params, image_pooling_crop_size=window)
