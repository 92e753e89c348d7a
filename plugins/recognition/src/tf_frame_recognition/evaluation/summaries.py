"""Image summaries of words for TensorBoard; drawn only when summaries are computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_recognition.evaluation.pictures import word_picture

_MAX_IMAGES = 3


def add_pictures(
    images: Any,
    texts: Mapping[str, Any] | None = None,
    *,
    rectified: Any = None,
    control_points: Any = None,
) -> None:
    """Adds the summary `words` of the first images of a batch.

    Args:
      images: `[batch, height, width, channels]`, 0 to 255.
      texts: name -> `[batch]` string, UTF-8: lines below each image, such as the label and the word
        that was read, each with its name in front.
      rectified: the rectified images; None: there are none.
      control_points: `[batch, k, 2]`, the control points of the rectification.
    """
    texts = texts or {}
    extra = {"rectified": rectified, "control_points": control_points}
    extra = {name: tensor for name, tensor in extra.items() if tensor is not None}

    def drawn(images: Any, *parts: Any) -> Any:
        count = len(texts)
        pictures = []
        for image, *values in zip(images, *parts, strict=True):
            words = (value.decode(errors="replace") for value in values[:count])
            lines = [f"{name}: {word}" for name, word in zip(texts, words, strict=True)]
            extra_values = dict(zip(extra, values[count:], strict=True))
            pictures.append(word_picture(image, lines, **extra_values))
        return np.stack(pictures)

    parts = [tensor[:_MAX_IMAGES] for tensor in (images, *texts.values(), *extra.values())]
    with tf.device("/device:CPU:0"):
        pictures = tf.numpy_function(drawn, parts, tf.uint8)
        pictures.set_shape([None, None, None, 3])
        tf.summary.image("words", pictures, max_outputs=_MAX_IMAGES)
