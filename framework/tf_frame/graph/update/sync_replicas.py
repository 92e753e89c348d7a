"""Synchronous training, with one update from the averaged gradients of several workers.

In asynchronous training each worker updates the variables on its own, even if other workers have
changed the variables since the worker read them.

    optimizer = synchronous(optimizer, config=config, averages=averages)
    update = optimizer.apply_gradients(pairs, global_step=step)
    hooks.append(optimizer.session_hook())

Each worker sends its gradients and waits for a token. The chief averages the gradients, updates
the variables, counts the step and sends a token to every worker (`tf.train.SyncReplicasOptimizer`
does the same, after Chen et al., "Revisiting distributed synchronous SGD", 2016).

Three things differ from TensorFlow's optimizer. Every worker has its own queue of tokens, so that a
quick worker cannot take the token of a slow one, and each update has one gradient of each worker. A
token, and the age of a gradient, begin with the number of the chief's session, so that gradients of
a lost session are never used. And training ends: the chief closes the queues when it stops, or when
another worker has no more data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster.key_value_store import read_numbers, store_number
from tf_frame.config.run_options import RunOptions
from tf_frame.graph.update.moving_averages import MovingAverages
from tf_frame.graph.update.sync_replicas_hook import SyncReplicasHook

# A token is epoch * _EPOCH + global step. An epoch is a session of the chief; its number is the
# second when it began, so that it is new even if the server that keeps the numbers was lost.
_EPOCH = 2**31
_EPOCH_KEY = "sync_epoch"
_DROP_MS = 2000


def synchronous(
    optimizer: Any, *, config: RunOptions, averages: MovingAverages | None = None
) -> Any:
    """Wraps an optimizer in `SyncReplicas` if `sync_replicas` is set, else returns it.

    Args:
      optimizer: a `tf.compat.v1.train.Optimizer`.
      config: the workers, and the number of gradients in an update; by default one per worker (the
        Inception trainer's -1).
      averages: moving averages of variables; the chief moves them after each update, so the caller
        must not apply them.
    """
    return SyncReplicas(optimizer, config, averages) if config.sync_replicas else optimizer


class _Accumulator:
    """The mean of the gradients that workers send for a variable, on the variable's device.

    Args:
      gradient: a dense gradient of the shape of the variable, or `tf.IndexedSlices`.
      variable: the variable.
      part: name of the part of the batch whose gradient it takes; empty: the whole batch.
    """

    def __init__(self, gradient: Any, variable: Any, part: str = "") -> None:
        self._device = variable.device
        sparse = isinstance(gradient, tf.IndexedSlices)
        make = tf.SparseConditionalAccumulator if sparse else tf.ConditionalAccumulator
        name = f"{variable.op.name}/gradients{part}"
        with tf.device(self._device):
            accumulator = make(gradient.dtype, shape=variable.shape, shared_name=name)
        self._apply = accumulator.apply_indexed_slices_grad if sparse else accumulator.apply_grad
        self._take = accumulator.take_indexed_slices_grad if sparse else accumulator.take_grad
        self._accumulator = accumulator

    def send(self, gradient: Any, token: Any) -> Any:
        """Adds a gradient for the values of a token; drops it if the values are outdated."""
        with tf.device(self._device):
            return self._apply(gradient, token)

    def mean(self, number: int) -> Any:
        """Waits for a number of gradients, and returns their mean."""
        with tf.device(self._device):
            return self._take(number)

    def count(self) -> Any:
        """Returns the number of gradients that wait."""
        with tf.device(self._device):
            return self._accumulator.num_accumulated()

    def drop_before(self, token: Any) -> Any:
        """Drops from now on gradients for the values of earlier tokens."""
        with tf.device(self._device):
            return self._accumulator.set_global_step(token)


class SyncReplicas:
    """An optimizer that lets the chief make one update of the gradients of several workers.

    Args:
      optimizer: a `tf.compat.v1.train.Optimizer`.
      config: the workers, the number of gradients in an update, and which worker this is.
      averages: moving averages, which move after each update, or None.
    """

    def __init__(self, optimizer: Any, config: RunOptions, averages: MovingAverages | None) -> None:
        self._optimizer = optimizer
        self._averages = averages
        self._aggregated, self._workers = config.aggregated_replicas, config.worker_replicas
        self._worker = config.task
        # With more gradients in an update than workers, any free worker sends the next gradient.
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
        self._make_queues(global_step)
        self._accumulators = [_Accumulator(gradient, variable) for gradient, variable in pairs]
        sent = [
            accumulator.send(gradient, self._token)
            for accumulator, (gradient, _) in zip(self._accumulators, pairs, strict=True)
        ]
        means = [accumulator.mean(self._aggregated) for accumulator in self._accumulators]
        averaged = list(zip(means, [variable for _, variable in pairs], strict=True))
        return self._after_update(sent, averaged)

    def apply_sums(
        self,
        own: Mapping[Any, Sequence[Any]],
        *,
        parts: Sequence[Any],
        variables: Sequence[Any],
        global_step: Any,
        combine: Callable[[Mapping[Any, Sequence[Any]]], list[tuple[Any, Any]]],
    ) -> Any:
        """Builds the part of a worker, and the update of the chief, for sums over parts of a batch.

        Args:
          own: part of the batch -> gradient of each variable, of this worker.
          parts: the parts of all workers.
          variables: the variables.
          global_step: the variable.
          combine: takes part -> gradient of each variable, of all workers; returns the pairs for
            the optimizer. Its operations run on the chief alone.

        Returns:
          The operation of a worker: sends the gradients, and waits for a token.
        """
        self._make_queues(global_step)
        like = next(iter(own.values()))
        of_parts = {
            part: [
                _Accumulator(gradient, variable, f"_{'_'.join(map(str, part))}")
                for gradient, variable in zip(like, variables, strict=True)
            ]
            for part in parts
        }
        self._accumulators = [one for several in of_parts.values() for one in several]
        sent = [
            accumulator.send(gradient, self._token)
            for part, gradients in own.items()
            for accumulator, gradient in zip(of_parts[part], gradients, strict=True)
        ]
        taken = {part: [one.mean(1) for one in several] for part, several in of_parts.items()}
        return self._after_update(sent, combine(taken))

    def _make_queues(self, global_step: Any) -> None:
        self._global_step = global_step
        with tf.device(global_step.device), tf.name_scope("sync_replicas"):
            self._queues = [_token_queue(index) for index in range(self._num_queues)]
            self._queue = self._queues[0 if self._shared else self._worker]
        # Local variables: the last token of this worker, and the epoch of the chief.
        self._token, self._epoch = _local("sync_token"), _local("sync_epoch")

    def _after_update(self, sent: Sequence[Any], averaged: list[tuple[Any, Any]]) -> Any:
        """Builds the update, and returns the wait of a worker for it."""
        # Every worker builds the update, because its variables (slots) must be in every graph.
        self._update = self._build_update(averaged)
        with tf.control_dependencies(sent), tf.device(self._global_step.device):
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
        """Waits for a token; takes the last if updates without this worker left several."""
        if self._shared:
            return self._queue.dequeue()
        waiting = tf.maximum(self._queue.size(), 1)
        return self._queue.dequeue_many(waiting)[-1]

    def _build_update(self, averaged: list[tuple[Any, Any]]) -> Any:
        update = self._optimizer.apply_gradients(averaged, global_step=self._global_step)
        with tf.control_dependencies([update]):
            moved = self._averages.apply() if self._averages else tf.no_op()
        with tf.control_dependencies([moved]), tf.device(self._global_step.device):
            token = self._token_now(self._epoch)
            tokens = tf.fill([self._aggregated if self._shared else 1], token)
            sent = [queue.enqueue_many([tokens]) for queue in self._queues[1:]]
            # Last, because the chief may close the queues as soon as it has its token.
            with tf.control_dependencies(sent):
                return self._queues[0].enqueue_many([tokens])

    def _published(self) -> Any:
        """Reads the last epoch, 0 before the first; a variable might have no value yet."""
        return tf.maximum(read_numbers([_EPOCH_KEY], self._global_step.device)[0], 0)

    def _token_now(self, epoch: Any) -> Any:
        return epoch * _EPOCH + tf.cast(self._global_step.read_value(), tf.int64)

    def _build_session_start(self) -> None:
        """Builds the ops that begin an epoch on the chief, and a session on another worker."""
        with tf.device(self._global_step.device):
            self._last_epoch = self._published()
            now = tf.cast(tf.timestamp(), tf.int64)
            self._next_epoch = tf.assign(self._epoch, tf.maximum(self._last_epoch + 1, now))
            token = self._token_now(self._epoch.read_value())
            self._counts = [accumulator.count() for accumulator in self._accumulators]
            self._take_one = [accumulator.mean(1).op for accumulator in self._accumulators]
            self._drop_old = tf.group(*(a.drop_before(token) for a in self._accumulators))
            self._drop_tokens = tf.group(*(q.dequeue_many(q.size()) for q in self._queues))
            # Frees the workers that wait for a token of the last epoch. In the first epoch no
            # worker waits, but a shared queue needs a token for each gradient beyond one a worker.
            first = self._aggregated - self._workers
            number = tf.where(self._last_epoch > 0, self._aggregated, first)
            number = number if self._shared else tf.constant(1)
            self._send_first = tf.group(
                *(queue.enqueue_many([tf.fill([number], token)]) for queue in self._queues)
            )
            self._publish = store_number(
                _EPOCH_KEY, self._epoch.read_value(), self._global_step.device
            )
            old = [] if self._shared else [self._queue.dequeue_many(self._queue.size()).op]
            with tf.control_dependencies(old):
                joined = self._token_now(self._published())
            self._join = tf.assign(self._token, joined)
            self._close = tf.group(*(queue.close() for queue in self._queues))

    def begin_epoch(self, session: Any) -> None:
        """Begins an epoch on the chief, after its variables were initialised or restored."""
        session.run(self._next_epoch)
        _run_soon(session, self._drop_tokens)
        counts = session.run(self._counts)
        session.run([take for take, count in zip(self._take_one, counts, strict=True) if count])
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
        """Frees the workers that wait for a token, because no update will send one."""
        session.run(self._send_first)

    def close(self, session: Any) -> None:
        """Closes the queues: workers that wait for a token get `tf.errors.OutOfRangeError`."""
        session.run(self._close)


def _token_queue(index: int) -> Any:
    return tf.FIFOQueue(-1, tf.int64, shapes=[[]], shared_name=f"tf_frame/sync_tokens_{index}")


def _run_soon(session: Any, op: Any) -> None:
    """Runs an operation that drops tokens; tries again if another task took a token meanwhile."""
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
