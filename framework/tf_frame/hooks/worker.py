"""The hook of a worker beside the chief: gives its input position, and stops with the job."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import newest_checkpoint, read_step
from tf_frame.cluster.agreement import Agreement
from tf_frame.errors import CheckpointError, ConfigError
from tf_frame.graph.global_step import step_after_run
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.input_position import RestoredCheckpoint

# After a signal, the chief has as long to say at which step all stop.
_SIGNAL_SECS = 10.0


class BroadcastHook(tf.train.SessionRunHook):
    """Gives every worker the chief's values of all variables, where each has its own.

    Args:
      broadcast: the operation; waits for all workers.
      check_error: called with its error; may raise another one in its place.
    """

    phase = Phase.TRANSFORM

    def __init__(self, broadcast: Any, check_error: Callable[[Exception], None]) -> None:
        self._broadcast = broadcast
        self._check_error = check_error

    def after_create_session(self, session: Any, coord: Any) -> None:
        try:
            session.run(self._broadcast)
        except tf.errors.OpError as error:
            self._check_error(error)
            raise


class OpenSessionHook(tf.train.SessionRunHook):
    """Lets the other workers begin when a session of the chief is ready.

    Before that, variables that are restored one after the other have values of several steps.

    Args:
      agreement: the tasks of the job.
    """

    phase = Phase.STOP

    def __init__(self, agreement: Agreement) -> None:
        self._agreement = agreement

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._agreement.open_session()


class WatchingHook(Hook):
    """Runs a tensor with every step, so that all workers run the same collectives.

    Args:
      watched: a scalar float that is always finite.
    """

    def __init__(self, watched: Any) -> None:
        super().__init__()
        self.watched = watched


class JobMemberHook(Hook):
    """Does what the chief requests, at the step that it names.

    Made in the training graph.

    Args:
      agreement: the tasks of the job.
      position: the `InputPosition` of this worker, or None.
      restored: set to the checkpoint that holds the position of this worker.
      model_dir: the folder of the job.
      max_steps: the last step.
      lockstep: whether all workers make every step together.
      agreed_save: see `Agreement.attention`.
      interrupted: whether a signal asks this task to end; the chief got it as well, unless this
        worker alone is to end.
      report: takes a line for the user.
    """

    phase = Phase.TRANSFORM

    def __init__(
        self,
        agreement: Agreement,
        *,
        position: Any,
        restored: RestoredCheckpoint,
        model_dir: str,
        max_steps: int,
        lockstep: bool,
        agreed_save: Any = None,
        interrupted: Callable[[], object],
        report: Callable[[str], None],
    ) -> None:
        super().__init__()
        self._agreement = agreement
        self._position = position
        self._restored = restored
        self._model_dir = model_dir
        self.watched = agreement.attention(
            step_after_run(), max_steps=max_steps, agreed_save=agreed_save
        )
        self._lockstep = lockstep
        self._interrupted = interrupted
        self._report = report
        self._signalled_at: float | None = None

    def start(self, session: Any, step: int) -> None:
        super().start(session, step)
        self._join()
        # A worker that was started again: the job has made, and perhaps saved, steps since.
        newest = newest_checkpoint(self._model_dir, self._report)
        path = self._restored.path = max(self._restored.path, newest, key=read_step)
        if read_step(path) == 0:
            self._restored.path = None  # Nothing had been read.
        if self._lockstep and read_step(path) != step:
            self._report(
                f"note: the job is at step {step}; the input of this worker goes on from its "
                f"position at step {read_step(path)}, and reads the examples since then again"
            )

    def should_stop(self) -> bool:
        if not self._interrupted():
            return False
        now = time.monotonic()
        self._signalled_at = self._signalled_at or now
        return now > self._signalled_at + _SIGNAL_SECS

    def not_finite(self, run_context: Any, value: float, step: int) -> None:
        if self._agreement.has_new_session():
            self._join()
            self._rejoin(run_context.session)
            return
        # Without a position the step alone tells the chief that it may save.
        tensors = {} if self._position is None else self._position.tensors
        self._agreement.give_position(step, run_context.session.run(tensors))
        if 0 <= self._agreement.stop_step() <= step:
            run_context.request_stop()

    def _join(self) -> None:
        self._agreement.join()
        self._restored.path = self._agreement.restored()

    def _rejoin(self, session: Any) -> None:
        """Goes back to the position of the checkpoint that the chief has restored."""
        path = self._restored.path
        if self._position is None:
            return
        if path is None or read_step(path) == 0:
            session.run(self._position.initializers)
            return
        self._report(f"the chief goes on from {path}, and so does this worker")
        try:
            self._position.restore(session, path, report=self._report)
        except (CheckpointError, ConfigError) as error:
            reason = str(error).splitlines()[0]
            self._report(f"warning: {reason}; the input goes on where it is")
