"""tf.contrib.nccl: reductions over devices, by operations that every device has.

    with tf.device("/device:GPU:0"):
        a = loss_of_tower(0)
    with tf.device("/device:GPU:1"):
        b = loss_of_tower(1)
    total_a, total_b = nccl.all_sum([a, b])  # Each on the device of its tensor.

A reduction is computed on each device from copies of all tensors. Gradients are those of the sum,
product, minimum and maximum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf


def all_sum(tensors: Sequence[Any]) -> list[Any]:
    """Returns the sum of the tensors, of one shape and type, once on the device of each."""
    return _reduce_on_each(tf.add_n, tensors)


def all_prod(tensors: Sequence[Any]) -> list[Any]:
    """Returns the product, once on the device of each tensor; see `all_sum`."""
    return _reduce_on_each(_stacked(tf.reduce_prod), tensors)


def all_min(tensors: Sequence[Any]) -> list[Any]:
    """Returns the element-wise minimum, once on the device of each tensor; see `all_sum`."""
    return _reduce_on_each(_stacked(tf.reduce_min), tensors)


def all_max(tensors: Sequence[Any]) -> list[Any]:
    """Returns the element-wise maximum, once on the device of each tensor; see `all_sum`."""
    return _reduce_on_each(_stacked(tf.reduce_max), tensors)


def reduce_sum(tensors: Sequence[Any]) -> Any:
    """Returns the sum of the tensors on the device of the caller."""
    return tf.add_n(_checked(tensors))


def broadcast(tensor: Any) -> Any:
    """Returns the tensor; TensorFlow copies it to the devices that read it."""
    return tf.identity(tensor)


def _reduce_on_each(reduce: Callable[[list[Any]], Any], tensors: Sequence[Any]) -> list[Any]:
    checked = _checked(tensors)
    results = []
    for tensor in checked:
        with tf.device(tensor.device):
            results.append(reduce(checked))
    return results


def _stacked(reduce: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    return lambda tensors: reduce(tf.stack(tensors), axis=0)


def _checked(tensors: Sequence[Any]) -> list[Any]:
    """Returns the tensors as a list.

    Raises:
      ValueError: there is none.
    """
    if not tensors:
        raise ValueError("Must pass >0 tensors to all reduce operations")
    return [tf.convert_to_tensor(tensor) for tensor in tensors]
