"""`BatchQueue` of the Object Detection API: batches of examples with tensors of several sizes.

    from tf_frame_legacy import batcher  # was: from object_detection.core import batcher

    queue = batcher.BatchQueue(tensor_dict, batch_size=2, batch_queue_capacity=20,
                               num_batch_queue_threads=2, prefetch_queue_capacity=4)
    examples = queue.dequeue()  # a list of two dictionaries

The tensors are padded with zeros for the batch, and cut to their own sizes again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.prefetcher import prefetch

rt_shape_str = "_runtime_shapes"


class BatchQueue:
    """Batches examples in queues, which threads fill ahead of their use.

    A last batch that is not full is left out.

    Args:
      tensor_dict: name -> tensor of one example; of known ranks, sizes may be unknown.
      batch_size: number of examples of a batch.
      batch_queue_capacity: maximum number of examples that wait.
      num_batch_queue_threads: number of threads that compute examples.
      prefetch_queue_capacity: maximum number of batches that wait.
    """

    def __init__(
        self,
        tensor_dict: Mapping[str, Any],
        batch_size: int,
        batch_queue_capacity: int,
        num_batch_queue_threads: int,
        prefetch_queue_capacity: int,
    ) -> None:
        self._static_shapes = {name: tensor.shape for name, tensor in tensor_dict.items()}
        sizes = {f"{name}{rt_shape_str}": tf.shape(t) for name, t in tensor_dict.items()}
        batched = tf.train.batch(
            {**tensor_dict, **sizes},
            capacity=batch_queue_capacity,
            batch_size=batch_size,
            dynamic_pad=True,
            num_threads=num_batch_queue_threads,
        )
        self._queue = prefetch(batched, prefetch_queue_capacity)
        self._batch_size = batch_size

    def dequeue(self) -> list[dict[str, Any]]:
        """Returns the next batch: for each example name -> tensor, of its own size."""
        batched = self._queue.dequeue()
        return [self._example(batched, index) for index in range(self._batch_size)]

    def _example(self, batched: Mapping[str, Any], index: int) -> dict[str, Any]:
        example = {}
        for name, static_shape in self._static_shapes.items():
            size = batched[f"{name}{rt_shape_str}"][index]
            example[name] = tf.slice(batched[name][index], tf.zeros_like(size), size)
            example[name].set_shape(static_shape)
        return example
