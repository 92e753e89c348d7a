"""Batches of several inputs as one, as ASTER joins the examples of its input queues."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError


def merged(batches: Any) -> Any:
    """Returns the features or the labels of several batches as one; a single one as it is.

    Args:
      batches: name -> tensor whose first dimension is the batch; or a list of such mappings.

    Raises:
      ConfigError: images or texts have different sizes.
    """
    if not isinstance(batches, (list, tuple)):
        return batches
    names = set.intersection(*(set(each) for each in batches))
    return {name: _joined(name, [each[name] for each in batches]) for name in sorted(names)}


def _joined(name: str, tensors: Any) -> Any:
    shapes = {tuple(tensor.shape.as_list()[1:]) for tensor in tensors}
    if len(shapes) > 1:
        found = ", ".join(" x ".join(map(str, shape)) for shape in sorted(shapes))
        raise ConfigError(
            f"the inputs' {name} have different sizes, {found}; give all sources the same "
            "image_size, channels and max_length"
        )
    return tf.concat(tensors, axis=0)
