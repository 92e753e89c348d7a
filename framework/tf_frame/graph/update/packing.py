"""Packs tensors into few flat buffers and takes them out again.

A collective operation costs a round trip through all workers; a network has hundreds of small
gradients. Packed, they cost one round trip for each buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError

# Of one buffer; a larger tensor has one of its own. Measured with two workers on one machine.
BUFFER_BYTES = 4 << 20


def buckets(tensors: Sequence[Any], limit_bytes: int = BUFFER_BYTES) -> list[list[int]]:
    """Divides tensors into groups of one type that fit into a buffer.

    Args:
      tensors: tensors, or variables, of known shapes.
      limit_bytes: size of a buffer.

    Returns:
      Lists of indices into `tensors`. Within a type the order is that of `tensors`, so that all
      workers, which build the same graph, have the same buffers.

    Raises:
      ConfigError: the shape of a tensor is not known.
    """
    groups: list[list[int]] = []
    open_group: dict[Any, tuple[list[int], int]] = {}
    for index, tensor in enumerate(tensors):
        dtype = tensor.dtype.base_dtype
        size = num_elements(tensor) * dtype.size
        group, used = open_group.get(dtype, ([], 0))
        if not group or used + size > limit_bytes:
            group, used = [], 0
            groups.append(group)
        group.append(index)
        open_group[dtype] = (group, used + size)
    return groups


def num_elements(tensor: Any) -> int:
    """Number of elements of a tensor.

    Raises:
      ConfigError: it is not known before a run.
    """
    count = tensor.shape.num_elements()
    if count is None:
        raise ConfigError(
            f"{tensor.name} has the shape {tensor.shape}, which is not known before a run; "
            "tensors are packed for all-reduce by their sizes: give the variable a shape"
        )
    return int(count)


def pack(tensors: Sequence[Any], *, min_elements: int = 0) -> Any:
    """Joins tensors of one type to a vector, with zeros at the end up to `min_elements`."""
    parts = [tf.reshape(tensor, [-1]) for tensor in tensors]
    missing = min_elements - sum(num_elements(tensor) for tensor in tensors)
    if missing > 0:
        parts.append(tf.zeros([missing], parts[0].dtype))
    return tf.concat(parts, axis=0) if len(parts) > 1 else parts[0]


def unpack(buffer: Any, like: Sequence[Any]) -> list[Any]:
    """Takes tensors with the shapes of `like` out of the vector that `pack` made of those."""
    sizes = [num_elements(tensor) for tensor in like]
    rest = int(buffer.shape.num_elements()) - sum(sizes)
    parts = tf.split(buffer, [*sizes, rest]) if rest or len(sizes) > 1 else [buffer]
    return [tf.reshape(part, each.shape) for part, each in zip(parts, like, strict=False)]
