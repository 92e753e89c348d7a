"""`prefetch` of the Object Detection API: a queue of examples, or batches, that are computed ahead.

from tf_frame_legacy import prefetcher  # was: from object_detection.core import prefetcher

queue = prefetcher.prefetch({"image": image, "boxes": boxes}, capacity=20)
tensors = queue.dequeue()
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.slim.prefetch_queue import add_fullness_summary


def prefetch(tensor_dict: Mapping[str, Any], capacity: int) -> Any:
    """Returns a queue that a thread fills with the tensors.

    Adds the summary `queue/NAME/fraction_of_CAPACITY_full`.

    Args:
      tensor_dict: name -> tensor; of known ranks, sizes may be unknown.
      capacity: maximum number of elements.

    Returns:
      A `tf.PaddingFIFOQueue`; `dequeue()` returns a dictionary like `tensor_dict`.
    """
    queue = tf.PaddingFIFOQueue(
        capacity,
        dtypes=[tensor.dtype for tensor in tensor_dict.values()],
        shapes=[tensor.shape for tensor in tensor_dict.values()],
        names=list(tensor_dict),
        name="prefetch_queue",
    )
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(dict(tensor_dict))]))
    with tf.name_scope(f"queue/{queue.name}/"):
        add_fullness_summary(queue, capacity)
    return queue
