"""Synchronous training, with one update from the averaged gradients of several workers.

Workers that update on their own apply gradients of values that others have changed since.

    optimizer = synchronous(optimizer, config=config, averages=averages)
    update = optimizer.apply_gradients(pairs, global_step=step)
    hooks.append(optimizer.session_hook())

Each worker sends its gradients and waits for a token. The chief averages the gradients, updates
the variables, counts the step and sends a token to every worker (`tf.train.SyncReplicasOptimizer`
does the same, after Chen et al., "Revisiting distributed synchronous SGD", 2016).

Three things differ from TensorFlow's optimizer. Every worker has a queue of tokens of its own, so
that no worker takes the token of a slower one and each update has one gradient of each worker.
A token, and the age of a gradient, count the sessions of the chief before the steps, so that
what is left of a session that was lost is never used. And training ends: the chief closes the
queues when it stops, or when another worker has no more data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster.key_value_store import read_numbers, store_number
from tf_frame.config.run_options import RunOptions
from tf_frame.graph.update.moving_averages import MovingAverages
from tf_frame.graph.update.sync_accumulator import SyncAccumulator
from tf_frame.graph.update.sync_replicas_hook import SyncReplicasHook

# A token is epoch * _EPOCH + global step; an epoch is a session of the chief, and its number the
# second in which it began, so that it is new also where the server of the numbers was lost.
_EPOCH = 2**31
_EPOCH_KEY = "sync_epoch"
_DROP_MS = 2000


def synchronous(
    optimizer: Any, *, config: RunOptions, averages: MovingAverages | None = None
) -> Any:
    """Wraps an optimizer in `SyncReplicas` if `sync_replicas` is set, else returns it.

    Args:
      optimizer: a `tf.compat.v1.train.Optimizer`.
      config: the workers, and the number of gradients in an update; by default
        one per worker (the Inception trainer's -1).
      averages: moving averages of variables; the chief moves them after each
        update, so do not call their `apply` as well.
    """
    return SyncReplicas(optimizer, config, averages) if config.sync_replicas else optimizer


class SyncReplicas:
    """An optimizer whose updates are made by the chief, of the gradients of several workers.

    Args:
      optimizer: a `tf.compat.v1.train.Optimizer`.
      config: the workers, the number of gradients in an update, and which worker this is.
      averages: moving averages that are moved after each update, or None.
    """

    def __init__(self, optimizer: Any, config: RunOptions, averages: MovingAverages | None) -> None:
        self._optimizer = optimizer
        self._averages = averages
        self._aggregated, self._workers = config.aggregated_replicas, config.worker_replicas
        self._worker = config.task
        # With more gradients in an update than workers, whoever is free sends the next one.
        self._shared = self._aggregated > self._workers

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Calls `compute_gradients` of the optimizer."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Any]], global_step: Any) -> Any:
        """Builds the part of a worker, and the update of the chief.

        Args:
          grads_and_vars: pairs without None.
          global_step: the variable.

        Returns:
          The operation of a worker: sends the gradients, and waits for a token.
        """
        pairs = list(grads_and_vars)
        self._global_step = global_step
        with tf.device(global_step.device), tf.name_scope("sync_replicas"):
            self._queues = [_token_queue(index) for index in range(self._num_queues)]
            self._queue = self._queues[0 if self._shared else self._worker]
        # Local variables are on the worker: its last token, and the chief's epoch.
        self._token, self._epoch = _local("sync_token"), _local("sync_epoch")
        self._accumulators = [SyncAccumulator(gradient, variable) for gradient, variable in pairs]
        sent = [
            accumulator.send(gradient, self._token)
            for accumulator, (gradient, _) in zip(self._accumulators, pairs, strict=True)
        ]
        # Every worker builds the update, for its variables (slots) are in every graph.
        self._update = self._build_update([variable for _, variable in pairs])
        with tf.control_dependencies(sent), tf.device(global_step.device):
            token = self._newest_token()
        self._build_session_start()
        return tf.assign(self._token, token).op

    def session_hook(self, is_over: Callable[[], object] = lambda: False) -> SyncReplicasHook:
        """Makes the hook that every worker's session needs, after `apply_gradients`.

        Args:
          is_over: see `SyncReplicasHook`.
        """
        return SyncReplicasHook(self, is_chief=self._worker == 0, is_over=is_over)

    @property
    def _num_queues(self) -> int:
        return 1 if self._shared else self._workers

    def _newest_token(self) -> Any:
        """Waits for a token; of several, left by updates without this worker, takes the last."""
        if self._shared:
            return self._queue.dequeue()
        waiting = tf.maximum(self._queue.size(), 1)
        return self._queue.dequeue_many(waiting)[-1]

    def _build_update(self, variables: list[Any]) -> Any:
        means = [accumulator.mean(self._aggregated) for accumulator in self._accumulators]
        update = self._optimizer.apply_gradients(
            list(zip(means, variables, strict=True)), global_step=self._global_step
        )
        with tf.control_dependencies([update]):
            moved = self._averages.apply() if self._averages else tf.no_op()
        with tf.control_dependencies([moved]), tf.device(self._global_step.device):
            token = self._token_now(self._epoch)
            tokens = tf.fill([self._aggregated if self._shared else 1], token)
            others = [queue.enqueue_many([tokens]) for queue in self._queues[1:]]
            # The chief may close the queues as soon as it has its token.
            with tf.control_dependencies(others):
                return self._queues[0].enqueue_many([tokens])

    def _published(self) -> Any:
        """Reads the last epoch, 0 before the first; no variable, as there may be no value yet."""
        return tf.maximum(read_numbers([_EPOCH_KEY], self._global_step.device)[0], 0)

    def _token_now(self, epoch: Any) -> Any:
        return epoch * _EPOCH + tf.cast(self._global_step.read_value(), tf.int64)

    def _build_session_start(self) -> None:
        """Builds what begins an epoch on the chief, and a session on another worker."""
        with tf.device(self._global_step.device):
            self._last_epoch = self._published()
            now = tf.cast(tf.timestamp(), tf.int64)
            self._next_epoch = tf.assign(self._epoch, tf.maximum(self._last_epoch + 1, now))
            token = self._token_now(self._epoch.read_value())
            self._counts = [accumulator.count() for accumulator in self._accumulators]
            left = [accumulator.mean(1) for accumulator in self._accumulators]
            self._left = [mean.op for mean in left]
            self._drop_old = tf.group(*(acc.drop_before(token) for acc in self._accumulators))
            self._drop_tokens = tf.group(*(q.dequeue_many(q.size()) for q in self._queues))
            # Frees the workers that wait for a token of the last epoch. No worker waits in the
            # first; but a shared queue needs a token for each gradient beyond the workers'.
            first = self._aggregated - self._workers
            number = tf.where(self._last_epoch > 0, self._aggregated, first)
            number = number if self._shared else tf.constant(1)
            self._send_first = tf.group(
                *(queue.enqueue_many([tf.fill([number], token)]) for queue in self._queues)
            )
            self._publish = store_number(
                _EPOCH_KEY, self._epoch.read_value(), self._global_step.device
            )
            own = [] if self._shared else [self._queue.dequeue_many(self._queue.size())]
            with tf.control_dependencies([each.op for each in own]):
                joined = self._token_now(self._published())
            self._join = tf.assign(self._token, joined)
            self._close = tf.group(*(queue.close() for queue in self._queues))

    def begin_epoch(self, session: Any) -> None:
        """Begins an epoch on the chief, whose variables are initialised or restored."""
        session.run(self._next_epoch)
        _run_soon(session, self._drop_tokens)
        counts = session.run(self._counts)
        session.run([left for left, count in zip(self._left, counts, strict=True) if count])
        session.run(self._drop_old)
        session.run(self._send_first)
        session.run(self._publish)

    def has_begun(self, session: Any) -> bool:
        """Returns whether the chief has begun an epoch."""
        return bool(session.run(self._last_epoch) > 0)

    def join(self, session: Any) -> None:
        """Begins with the present values on this worker."""
        _run_soon(session, self._join)

    def update(self, session: Any) -> None:
        """Waits for the gradients of an update, and makes it."""
        session.run(self._update)

    def free(self, session: Any) -> None:
        """Frees the workers that wait for a token, which no update will send."""
        session.run(self._send_first)

    def close(self, session: Any) -> None:
        """Closes the queues: workers that wait for a token get `tf.errors.OutOfRangeError`."""
        session.run(self._close)


def _token_queue(index: int) -> Any:
    return tf.FIFOQueue(-1, tf.int64, shapes=[[]], shared_name=f"tf_frame/sync_tokens_{index}")


def _run_soon(session: Any, op: Any) -> None:
    """Runs an operation that drops tokens; tries again if another task has taken one meanwhile."""
    while True:
        try:
            session.run(op, options=tf.RunOptions(timeout_in_ms=_DROP_MS))
            return
        except tf.errors.DeadlineExceededError:
            continue


def _local(name: str) -> Any:
    return tf.Variable(
        tf.zeros([], tf.int64),
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES],
        name=name,
    )
