"""`FollowChiefHook`: a worker gives the chief its input position, and stops with the job."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

from tf_frame.checkpoint.find.newest import newest_checkpoint, read_step
from tf_frame.cluster.agreement import Agreement
from tf_frame.errors import CheckpointError, ConfigError, short_reason
from tf_frame.graph.global_step import step_after_run
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.input_position import RestoredCheckpoint
from tf_frame.types import Session, Tensor

# After a signal, the chief has this long to name the step at which all workers stop.
_SIGNAL_SECS = 10.0


@dataclasses.dataclass(eq=False, kw_only=True)
class FollowChiefHook(Hook):
    """Answers the requests of the chief at the steps that the chief names.

    The hook must be made in the training graph.

    Args:
      agreement: the connection with the other tasks.
      position: the `InputPosition` of this worker, or None.
      restored: set to the checkpoint that holds the position of this worker.
      model_dir: the folder of the job.
      max_steps: the last step.
      agreed_save: see `Agreement.attention`.
      interrupted: whether a signal asks this task to end. The chief received the signal too,
        unless only this worker is to end.
      report: takes a line for the user.
    """

    phase = Phase.TRANSFORM

    agreement: Agreement
    position: Any
    restored: RestoredCheckpoint
    model_dir: str
    max_steps: int
    agreed_save: Tensor = None
    interrupted: Callable[[], object]
    report: Callable[[str], None]

    def __post_init__(self) -> None:
        super().__init__()
        self.watched = self.agreement.attention(
            step_after_run(), max_steps=self.max_steps, agreed_save=self.agreed_save
        )
        self._signalled_at: float | None = None

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        self._join()
        # If this worker was started again, the job has made, and may have saved, later steps.
        newest = newest_checkpoint(self.model_dir, self.report)
        path = self.restored.path = max(self.restored.path, newest, key=read_step)
        if read_step(path) == 0:
            self.restored.path = None  # Nothing had been read.

    def should_stop(self) -> bool:
        if not self.interrupted():
            return False
        now = time.monotonic()
        self._signalled_at = self._signalled_at or now
        return now > self._signalled_at + _SIGNAL_SECS

    def not_finite(self, run_context: Any, value: float, step: int) -> None:
        # `Agreement.attention` is NaN: the chief has a request, or a new session.
        if self.agreement.has_new_session():
            self._join()
            self._restore_position(run_context.session)
            return
        # Without a position the step alone tells the chief that it may save.
        tensors = {} if self.position is None else self.position.tensors
        self.agreement.give_position(step, run_context.session.run(tensors))
        if 0 <= self.agreement.stop_step() <= step:
            run_context.request_stop()

    def _join(self) -> None:
        self.agreement.join()
        self.restored.path = self.agreement.restored()

    def _restore_position(self, session: Session) -> None:
        """Goes back to the position in the checkpoint that the chief has restored."""
        path = self.restored.path
        if self.position is None:
            return
        if path is None or read_step(path) == 0:
            session.run(self.position.initializers)
            return
        self.report(f"the chief goes on from {path}, and so does this worker")
        try:
            self.position.restore(session, path, report=self.report)
        except (CheckpointError, ConfigError) as error:
            self.report(
                f"warning: {short_reason(error)}; the input goes on at its present position"
            )
