"""Several inputs, each with a batch size of its own, as one batch.

As the object detection API's trainers with several input queues: the examples of all are one
batch for the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame_detection.inputs.detection_input import PADDING


def merge_batches(batches: Any) -> Any:
    """Returns the features or the labels of several batches as one; a single one as it is.

    Args:
      batches: name -> `[batch, ...]` tensor; or a list of such mappings with the same names.
        Labels are padded to the largest count.

    Raises:
      ConfigError: the images have different sizes.
    """
    if not isinstance(batches, (list, tuple)):
        return batches
    sizes = {tuple(batch["image"].shape[1:3]) for batch in batches if "image" in batch}
    if len(sizes) > 1:
        sizes_text = ", ".join(" x ".join(map(str, size)) for size in sorted(sizes, key=str))
        raise ConfigError(
            f"the images of the inputs have different sizes, {sizes_text} pixels; give each of "
            "them the same image_size"
        )
    names = set.intersection(*(set(batch) for batch in batches))
    return {name: _concatenated(name, [batch[name] for batch in batches]) for name in sorted(names)}


def _concatenated(name: str, tensors: Sequence[Any]) -> Any:
    if name in ("boxes", "rotated_boxes", "classes", "ignored", "crowd"):
        count = tf.reduce_max([tf.shape(tensor)[1] for tensor in tensors])
        tensors = [_padded(tensor, count, PADDING.get(name, 0)) for tensor in tensors]
    return tf.concat(tensors, axis=0)


def _padded(tensor: Any, count: Any, value: float) -> Any:
    missing = [[0, 0], [0, count - tf.shape(tensor)[1]], *([[0, 0]] * (tensor.shape.rank - 2))]
    return tf.pad(tensor, missing, constant_values=tf.cast(value, tensor.dtype))


def add_sizes(features: Any) -> Any:
    """Adds `image_size`, the size of the whole image, to features without it, or a list of such."""
    if isinstance(features, (list, tuple)):
        return [add_sizes(part) for part in features]
    if "image_size" in features:
        return features
    shape = tf.shape(features["image"])
    return {**features, "image_size": tf.tile(shape[tf.newaxis, 1:3], [shape[0], 1])}
