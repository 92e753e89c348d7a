"""TensorFlow's `FinalOpsHook`: a run at the end of a session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook


class FinalOpsHook(Hook):
    """Runs tensors when a session ends well, and keeps their values.

    Arguments and lines are those of `tf.compat.v1.train.FinalOpsHook`. It
    observes, so what it runs comes before the last checkpoint.

    Args:
      final_ops: what to run, nested as for `tf.Session.run`; None runs nothing.
      final_ops_feed_dict: what to feed to it.

    Attributes:
      final_ops_values: the values, None before the end.
    """

    def __init__(
        self, final_ops: Any, final_ops_feed_dict: Mapping[Any, Any] | None = None
    ) -> None:
        super().__init__()
        self._final_ops = final_ops
        self._feed_dict = final_ops_feed_dict
        self.final_ops_values: Any = None

    def end(self, session: Any) -> None:
        if self._final_ops is None:
            return
        try:
            self.final_ops_values = session.run(self._final_ops, feed_dict=self._feed_dict)
        except (tf.errors.OutOfRangeError, StopIteration):
            tf.logging.warning(_READS_INPUT)
            raise


_READS_INPUT = (
    "An OutOfRangeError or StopIteration exception is raised by the code in FinalOpsHook. "
    "This typically means the Ops running by the FinalOpsHook have a dependency back to some "
    "input source, which should not happen. For example, for metrics in "
    "tf.estimator.Estimator, all metrics functions return two Ops: `value_op` and  "
    "`update_op`. Estimator.evaluate calls the `update_op` for each batch of the data in input "
    "source and, once it is exhausted, it call the `value_op` to get the metric values. The "
    "`value_op` here should have dependency back to variables reading only, rather than reading "
    "another batch from input. Otherwise, the `value_op`, executed by `FinalOpsHook`, triggers "
    "another data reading, which ends OutOfRangeError/StopIteration. Please fix that."
)
