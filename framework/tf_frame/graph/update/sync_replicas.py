"""Synchronous training, with one update from the averaged gradients of several workers.

Workers that update on their own apply gradients of values that others have changed since.

    optimizer = synchronous(optimizer, config=config, averages=averages)
    update = optimizer.apply_gradients(pairs, global_step=step)
    hooks.append(session_hook(optimizer, config=config))

Each worker sends its gradients and waits for a token. The chief averages the gradients,
updates the variables, counts the step and sends tokens. Without the hook the chief does
nothing, and every worker waits for ever.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.errors import TfFrameError
from tf_frame.graph.update.moving_averages import MovingAverages


def synchronous(
    optimizer: Any, *, config: RunOptions, averages: MovingAverages | None = None
) -> Any:
    """Wraps an optimizer in `tf.train.SyncReplicasOptimizer` if `sync_replicas` is set.

    Args:
      optimizer: a `tf.compat.v1.train.Optimizer`.
      config: the workers, and the number of gradients in an update; by default
        one per worker (the Inception trainer's -1).
      averages: moving averages of variables; the chief moves them after each
        update, so do not call their `apply` as well.

    Returns:
      The wrapped optimizer, which needs the global step and at least one gradient;
      `optimizer` itself without `sync_replicas`.
    """
    if not config.sync_replicas:
        return optimizer
    return tf.train.SyncReplicasOptimizer(
        optimizer,
        replicas_to_aggregate=config.aggregated_replicas,
        total_num_replicas=config.worker_replicas,
        variable_averages=averages.average if averages else None,
        variables_to_average=list(averages.variables) if averages else None,
    )


def session_hook(optimizer: Any, *, config: RunOptions) -> SyncReplicasHook:
    """The hook that every worker's session needs, after `apply_gradients`.

    The queue begins with no more tokens than the first update needs. With more tokens, as
    in TensorFlow and slim, one worker could send two gradients for the first update, and
    another worker none.

    Args:
      optimizer: result of `synchronous`, with `sync_replicas`.
      config: the workers, and the number of this worker.
    """
    missing = max(config.aggregated_replicas - config.worker_replicas, 0)
    return SyncReplicasHook(optimizer, is_chief=config.task == 0, num_tokens=missing)


class SyncReplicasHook(tf.train.SessionRunHook):
    """Starts the updates on the chief, and ends them.

    With TensorFlow's `make_session_run_hook` the coordinator waits for the thread of the
    updates, which waits for gradients: the end of each training would take two minutes
    (`stop_grace_period_secs`).

    When the chief stops, the queue of tokens is closed. Workers that wait for a token get
    `tf.errors.OutOfRangeError`, as at the end of the input.

    Args:
      optimizer: a `tf.train.SyncReplicasOptimizer`.
      is_chief: whether this worker makes the updates.
      num_tokens: tokens in the queue before the first update.

    Raises:
      TfFrameError: a variable of the session has no value yet.
    """

    def __init__(self, optimizer: Any, *, is_chief: bool, num_tokens: int) -> None:
        self._optimizer = optimizer
        self._is_chief = is_chief
        self._num_tokens = num_tokens

    def begin(self) -> None:
        self._runner = self._optimizer.get_chief_queue_runner()
        if self._is_chief:
            self._init = self._optimizer.chief_init_op
            self._tokens = self._optimizer.get_init_tokens_op(self._num_tokens)
        else:
            self._init = self._optimizer.local_step_init_op

    def after_create_session(self, session: Any, coord: Any) -> None:
        missing = session.run(self._optimizer.ready_for_local_init_op)
        if len(missing):
            raise TfFrameError(
                "synchronous training begins once every variable has a value; without one are "
                + ", ".join(name.decode() for name in missing)
            )
        session.run(self._init)
        if not self._is_chief:
            return
        session.run(self._tokens)
        coord.register_thread(self._start(self._close_queue, session, coord))
        self._start(self._make_updates, session, coord)

    def _start(self, target: Callable[[Any, Any], None], *args: Any) -> threading.Thread:
        thread = threading.Thread(target=target, args=args, name="sync_replicas", daemon=True)
        thread.start()
        return thread

    def _make_updates(self, session: Any, coord: Any) -> None:
        try:
            while not coord.should_stop():
                session.run(self._runner.enqueue_ops)
        except Exception as error:
            # After a stop, the closed session ends the wait for gradients by an error.
            if not coord.should_stop():
                coord.request_stop(error)

    def _close_queue(self, session: Any, coord: Any) -> None:
        coord.wait_for_stop()
        # A lost parameter server has no queue to close.
        with contextlib.suppress(tf.errors.OpError):
            session.run(self._runner.cancel_op)
