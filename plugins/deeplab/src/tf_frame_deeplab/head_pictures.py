"""Image summaries of the heads of the model `deeplab` other than `semantic`.

Pictures of offsets follow DeepLab's panoptic trainer: rows red, columns green, no blue, divided by
the greatest of each. Here they keep the sign: half bright is no offset.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_deeplab.heads import CENTER, EDGE, OFFSET
from tf_frame_deeplab.outputs import add_pictures, labels_to_grey, to_grey


def add(logits: Mapping[str, Any], labels: Mapping[str, Any], ignore_label: int | None) -> None:
    """Adds `label_<head>` and `<head>` of each head.

    Args:
      logits: head -> `[batch, height, width, channels]`.
      labels: head -> label; see `panoptic.targets.Targets`.
      ignore_label: label of pixels that do not count, or None.
    """
    if EDGE in logits:
        add_pictures("label_edge", labels_to_grey(labels[EDGE], 2, ignore_label))
        add_pictures("edge", to_grey(tf.argmax(logits[EDGE], axis=3), 2))
    if CENTER in logits:
        add_pictures("label_instance_center", tf.saturate_cast(labels[CENTER] * 255, tf.uint8))
        add_pictures("instance_center", _heat_picture(logits[CENTER]))
        add_pictures("label_instance_offset", offset_picture(labels[OFFSET]))
        add_pictures("instance_offset", offset_picture(logits[OFFSET]))


def _heat_picture(heat: Any) -> Any:
    """Shows the greatest value of the batch as white."""
    return tf.saturate_cast(tf.div_no_nan(heat, tf.reduce_max(heat)) * 255, tf.uint8)


def offset_picture(offsets: Any) -> Any:
    """Shows offsets as colours, uint8.

    Args:
      offsets: `[batch, height, width, 2 or 3]`; the first two are pixels down and across.
    """
    offsets = offsets[..., :2]
    greatest = tf.reduce_max(tf.abs(offsets), axis=[0, 1, 2], keepdims=True)
    red_green = 127.5 * (1.0 + tf.div_no_nan(offsets, greatest))
    colours = tf.concat([red_green, tf.zeros_like(red_green[..., :1])], axis=3)
    return tf.saturate_cast(colours, tf.uint8)
