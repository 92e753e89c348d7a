"""How full a queue is, as a summary."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


def add_fullness_summary(queue: Any, capacity: int) -> None:
    """Adds the scalar `fraction_of_CAPACITY_full`, under the name scope that is open.

    Args:
      queue: a queue.
      capacity: elements that it holds at most.
    """
    fraction = tf.cast(queue.size(), tf.float32) * (1.0 / capacity)
    tf.summary.scalar(f"fraction_of_{capacity}_full", fraction)
