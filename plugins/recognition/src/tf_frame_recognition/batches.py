"""Joins the batches of several inputs, as ASTER joins the examples of its input queues."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError


def join_batches(batches: Any) -> Any:
    """Returns the features or the labels of several batches as one; a single one as it is.

    Args:
      batches: name -> tensor, `[batch, ...]`; or a list of such mappings.

    Raises:
      ConfigError: images or texts have different sizes.
    """
    if not isinstance(batches, (list, tuple)):
        return batches
    names = set.intersection(*(set(batch) for batch in batches))
    return {name: _concat(name, [batch[name] for batch in batches]) for name in sorted(names)}


def _concat(name: str, tensors: Any) -> Any:
    shapes = {tuple(tensor.shape.as_list()[1:]) for tensor in tensors}
    if len(shapes) > 1:
        sizes = ", ".join(" x ".join(map(str, shape)) for shape in sorted(shapes))
        raise ConfigError(
            f"the inputs' {name} have different sizes, {sizes}; give all sources the same "
            "image_size, channels and max_length"
        )
    return tf.concat(tensors, axis=0)
