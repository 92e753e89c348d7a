"""Messages between the tasks of a job: when to save, when to stop, and who has finished.

A checkpoint holds the input position of every worker at one step. But a worker that has finished a
step begins the next step at once, so the chief requests the save of a step before that step.
Each worker reads the request in each step, and stores its position after the requested step:

    chief    request_save(120) ... step 120 ... positions of step 120 are stored: save
    worker   ... step 120, request 120: give_position(120, ...) ... step 121
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

import tensorflow.compat.v1 as tf

from tf_frame.cluster.cluster import Cluster
from tf_frame.cluster.key_value_store import NO_NUMBER, KeyValueStore, read_numbers, read_text
from tf_frame.errors import PeerLostError
from tf_frame.types import Tensor

_LOOK_SECS = 0.02
_SAVE, _STOP, _RESTORED = "save_at", "stop_at", "restored"
_SESSION, _OPEN, _CLOSED_AT = "chief_session", "open_session", "closed_at"
_MEETING = "meeting"


class Agreement:
    """The messages between the tasks of a job, from the view of one task."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._device = f"{cluster.host}/device:CPU:0"
        # A job without a task matches each of its tasks.
        filters = list(dict.fromkeys([cluster.host, f"/job:{cluster.worker_job}"]))
        config = tf.ConfigProto(device_filters=filters)
        self._store = KeyValueStore(cluster.target, self._device, config)
        self._worker = cluster.task_id

    def close(self) -> None:
        """Closes the connection."""
        self._store.close()

    # Messages of the chief.

    def begin_session(self, restored: str | None) -> None:
        """Announces a session of the chief, before its variables are initialised or restored."""
        unfinished = {f"finished/{worker}": NO_NUMBER for worker in self.other_workers}
        self._store.put({_SAVE: NO_NUMBER, _STOP: NO_NUMBER, _CLOSED_AT: NO_NUMBER, **unfinished})
        self._store.put({_RESTORED: (restored or "").encode(), _MEETING: self._cluster.meeting})
        self._store.put({_SESSION: time.time_ns() // 1000})

    def open_session(self) -> None:
        """Lets the other workers join this session: the variables have their values."""
        self._store.put({_OPEN: self._store.number(_SESSION)})

    def close_session(self, step: int) -> None:
        """Lets no worker join any more; `step` is the last step of the session."""
        self._store.put({_CLOSED_AT: step, _OPEN: NO_NUMBER})

    def request_save(self, step: int) -> None:
        """Requests the position of every worker after this step, or after its next step."""
        self._store.put({_SAVE: step})

    def request_stop(self, step: int) -> None:
        """Requests the position of every worker after this step, and a stop at this step."""
        self._store.put({_STOP: step, _SAVE: step})

    def present(self) -> list[int]:
        """Returns the other workers that take part in this session of the chief."""
        session = self._store.number(_SESSION)
        return [
            worker for worker in self.other_workers if self._number("joined", worker) == session
        ]

    def without_position(
        self, step: int, *, workers: Iterable[int], timeout_secs: float
    ) -> list[int]:
        """Waits for the positions of a step; returns the workers without a position."""
        return self._waiting_for(
            lambda worker: self._number("given", worker) >= step, workers, timeout_secs
        )

    def unfinished(self, *, workers: Iterable[int], timeout_secs: float) -> list[int]:
        """Waits for workers to finish; returns the workers that still train."""
        return self._waiting_for(
            lambda worker: self._number("finished", worker) > 0, workers, timeout_secs
        )

    def session_time(self) -> float:
        """Returns the start of the chief's session, seconds since 1970; equal in every task."""
        return self._store.number(_SESSION) / 1e6

    def any_has_finished(self) -> bool:
        """Returns whether a worker makes no further update."""
        return any(self._number("finished", worker) > 0 for worker in self.other_workers)

    @property
    def other_workers(self) -> range:
        """The workers without the chief."""
        return range(1, self._cluster.num_workers)

    def _waiting_for(
        self, has: Callable[[int], bool], workers: Iterable[int], timeout_secs: float
    ) -> list[int]:
        deadline = time.monotonic() + timeout_secs
        late = [worker for worker in workers if not has(worker)]
        while late and time.monotonic() < deadline:
            time.sleep(_LOOK_SECS)
            late = [worker for worker in late if not has(worker)]
        return late

    # Messages of a worker.

    def is_open(self) -> bool:
        """Returns whether the chief's present session is ready for the other workers.

        Raises:
          PeerLostError: the chief has met with other workers since.
        """
        if self._store.number(_MEETING) not in (NO_NUMBER, self._cluster.meeting):
            raise PeerLostError("the chief has met with other workers since; this one was late")
        return self._store.number(_OPEN) == self._store.number(_SESSION) != NO_NUMBER

    def closed_at(self) -> int:
        """Returns the last step of the chief's session, `NO_NUMBER` while the session runs."""
        return self._store.number(_CLOSED_AT)

    def join(self) -> None:
        """Records that this worker takes part in the chief's present session."""
        self._store.put({f"given/{self._worker}": NO_NUMBER})
        self._store.put({f"joined/{self._worker}": self._store.number(_SESSION)})

    def has_new_session(self) -> bool:
        """Returns whether the chief has opened another session since the last `join`."""
        return self._number("joined", self._worker) != self._store.number(_SESSION)

    def give_position(self, step: int, values: Mapping[str, bytes]) -> None:
        """Stores the position of this worker after a step; `values` by their checkpoint names."""
        self._store.put(values)
        self._store.put({f"given/{self._worker}": step})

    def finish(self) -> None:
        """Tells the chief that this worker makes no further update."""
        self._store.put({f"finished/{self._worker}": 1})

    def stop_step(self) -> int:
        """Returns the step of the requested stop, `NO_NUMBER` without a request."""
        return self._store.number(_STOP)

    def restored(self) -> str | None:
        """Returns the checkpoint that the chief's session restored; None without one."""
        return self._store.text(_RESTORED).decode() or None

    def _number(self, key: str, worker: int) -> int:
        return self._store.number(f"{key}/{worker}")

    # Reads in a training graph.

    def position_tensors(self, names: Iterable[str]) -> dict[str, Tensor]:
        """Adds reads of another worker's position; name in the checkpoint -> scalar string."""
        return {name: read_text(name, self._device) for name in names}

    def given_step(self, worker: int) -> Tensor:
        """Adds a read of the step of another worker's position; a scalar int64 tensor."""
        return read_numbers([f"given/{worker}"], self._device)[0]

    def requested_save(self) -> Tensor:
        """Adds a read of the step of `request_save`, for the chief; a scalar int64 tensor."""
        return read_numbers([_SAVE], self._device)[0]

    def attention(
        self, step_after: Tensor, *, max_steps: int, agreed_save: Tensor = None
    ) -> Tensor:
        """Adds a scalar float that is NaN after a step if the worker must read messages.

        The value is NaN if the chief has requested this step or an earlier step, if the chief
        has opened a new session, and after the last step. Otherwise the value is 0.

        Args:
          step_after: the global step after the step.
          max_steps: the last step.
          agreed_save: the chief's `requested_save`, which the workers exchange within the step;
            None: this worker reads the request from the host.
        """
        if agreed_save is not None:
            step = tf.cast(step_after, tf.int64)
            look = tf.logical_or(tf.equal(step, agreed_save), step >= max_steps)
            return tf.where(look, float("nan"), 0.0)
        given_key, joined_key = f"given/{self._worker}", f"joined/{self._worker}"
        # All on the host: each number that is sent would cost as much as the result.
        with tf.control_dependencies([step_after]), tf.device(None), tf.device(self._device):
            step = tf.cast(tf.train.get_global_step().read_value(), tf.int64)
            requested, stored, session, joined = tf.unstack(
                read_numbers([_SAVE, given_key, _SESSION, joined_key], self._device)
            )
            due = tf.logical_and(requested > stored, step >= requested)
            look = tf.reduce_any(tf.stack([due, tf.not_equal(session, joined), step >= max_steps]))
            return tf.where(look, float("nan"), 0.0)
