"""`SyncReplicasOptimizer`: TensorFlow's, for jobs that end.

    from tf_frame_legacy.sync_replicas import SyncReplicasOptimizer
    # was: tf.train.SyncReplicasOptimizer

With TensorFlow's own the chief waits two minutes at its end for the thread of the updates, which
waits for gradients, and the other workers wait for tokens for ever or end by an error.
"""

from __future__ import annotations

import threading
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.learning.sync_hook import start_updates

# A worker takes a token for the step that it makes while the chief stops, and a token for a last
# step, because it may fetch the global step before the update.
_LAST_TOKENS = 3


class SyncReplicasOptimizer(tf.train.SyncReplicasOptimizer):
    """A `tf.compat.v1.train.SyncReplicasOptimizer` with workers that all end.

    When the chief stops, each worker gets tokens for its last steps; a worker that continues then
    gets `tf.errors.OutOfRangeError`, as at the end of the input.

    Args:
      replica_id: without effect; older versions of TensorFlow had it. The other arguments are
        TensorFlow's.
    """

    def __init__(
        self,
        opt: Any,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        variable_averages: Any = None,
        variables_to_average: Any = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
        *,
        replica_id: int | None = None,
    ) -> None:
        super().__init__(
            *(opt, replicas_to_aggregate, total_num_replicas, variable_averages),
            *(variables_to_average, use_locking, name),
        )
        replicas = max(total_num_replicas or 0, replicas_to_aggregate)
        self._num_last_tokens = _LAST_TOKENS * replicas
        self._runner: Any = None

    def get_chief_queue_runner(self) -> Any:
        """Returns the queue runner of the chief, which makes the updates.

        Raises:
          ValueError: called before `apply_gradients`.
        """
        if self._runner is None:
            runner = super().get_chief_queue_runner()
            with tf.control_dependencies([self.get_init_tokens_op(self._num_last_tokens)]):
                cancel_op = runner.queue.close(cancel_pending_enqueues=True)
            self._runner = _Updates(runner.queue, runner.enqueue_ops, cancel_op=cancel_op)
        return self._runner

    def get_clean_up_op(self) -> Any:
        """Returns the operation that a failing chief runs to end the waits of the other workers.

        Older versions of TensorFlow had it.
        """
        return self.get_chief_queue_runner().cancel_op


class _Updates(tf.train.QueueRunner):
    """Makes the updates until the coordinator stops, which does not wait for the last one."""

    def create_threads(
        self, sess: Any, coord: Any = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        return [start_updates(self, sess, coord or tf.train.Coordinator())]
