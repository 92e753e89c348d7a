"""Reads the global step after the update, within the session run of the train op.

Hooks need this number at every step, to decide whether to act. A plain read in the run of the train
op may come before or after the update, and a separate run costs as much as a small step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

_COLLECTION = "tf_frame/global_step_after_update"


def read_step_after(dependencies: Sequence[Any], global_step: Any) -> Any:
    """Makes the read that hooks share, after operations such as the train op; a scalar tensor."""
    with tf.control_dependencies(dependencies), tf.device(None):
        step = tf.identity(global_step.read_value(), name="global_step_after_update")
    tf.add_to_collection(_COLLECTION, step)
    return step


def step_after_run() -> Any:
    """Returns the shared read of this graph; without a shared read, the global step itself.

    Raises:
      RuntimeError: the graph has no global step.
    """
    reads = tf.get_collection(_COLLECTION)
    step = reads[0] if reads else tf.train.get_global_step()
    if step is None:
        raise RuntimeError("the graph has no global step; tf.train.create_global_step() makes one")
    return step
