"""slim's `prefetch_queue`: a queue of batches that are computed ahead, one for each clone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf


def prefetch_queue(
    tensors: Sequence[Any] | Mapping[str, Any],
    capacity: int = 8,
    num_threads: int = 1,
    dynamic_pad: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Returns a queue that threads fill with `tensors`.

    Adds the summary `NAME/fraction_of_CAPACITY_full` (tf_slim, data/prefetch_queue.py).

    Args:
      tensors: list or dictionary of the tensors of an element.
      capacity: maximum number of elements.
      num_threads: number of threads that fill the queue.
      dynamic_pad: whether dimensions may be unknown; `dequeue_many` then pads with zeros.
      shared_name: name of the queue for several sessions that share it.
      name: name scope; None: `prefetch_queue`.

    Returns:
      A `tf.queue.FIFOQueue`, or with `dynamic_pad` a `tf.queue.PaddingFIFOQueue`.
      `dequeue()` returns a list or dictionary like `tensors`.

    Raises:
      ValueError: a shape is not fully known, and `dynamic_pad` is False.
    """
    if isinstance(tensors, Mapping):
        # Sorted, so that all runs and processes have the same order.
        names: list[str] | None = sorted(tensors)
        listed = [tensors[key] for key in sorted(tensors)]
    else:
        names, listed = None, list(tensors)
    with tf.name_scope(name, "prefetch_queue", listed):
        queue = (tf.PaddingFIFOQueue if dynamic_pad else tf.FIFOQueue)(
            capacity=capacity,
            dtypes=[tensor.dtype for tensor in listed],
            shapes=[tensor.shape for tensor in listed],
            names=names,
            shared_name=shared_name,
        )
        enqueue = queue.enqueue(tensors)
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [enqueue] * num_threads))
        add_fullness_summary(queue, capacity)
    return queue


def add_fullness_summary(queue: Any, capacity: int) -> None:
    """Adds the scalar summary `fraction_of_CAPACITY_full` in the current name scope.

    Args:
      queue: a queue.
      capacity: maximum number of elements.
    """
    fraction = tf.cast(queue.size(), tf.float32) * (1.0 / capacity)
    tf.summary.scalar(f"fraction_of_{capacity}_full", fraction)
