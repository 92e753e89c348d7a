"""`InputPositionHook`: restores the input position, so that a resumed run reads the next batch.

Otherwise a resumed run would read the data from the beginning, and repeat the first examples.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from tf_frame.checkpoint.find.newest import read_step
from tf_frame.errors import CheckpointError, ConfigError, DataError, short_reason
from tf_frame.graph.inputs.position import InputPosition
from tf_frame.hooks.base import Hook, Phase
from tf_frame.types import Session


@dataclasses.dataclass
class RestoredCheckpoint:
    """The checkpoint that the present session restored.

    Attributes:
      path: path prefix; None if the variables are new, or if another task restores them.
      input_restarts_at: global step of a checkpoint after which the input is read from its
        beginning; None: no such step.
    """

    path: str | None = None
    input_restarts_at: int | None = None

    @property
    def position_path(self) -> str | None:
        """The checkpoint with the input position; None: the input is read from its beginning."""
        if self.path is None or read_step(self.path) == self.input_restarts_at:
            return None
        return self.path


@dataclasses.dataclass(eq=False)
class InputPositionHook(Hook):
    """Restores the position in the input when a session has been opened.

    The hook has the first phase, so that it runs before the first save of a session.

    Args:
      position: the input position of the graph.
      restored: the checkpoint of the session; set before `start` is called.
      allow_inexact: if the position cannot be saved or restored, begin a new pass
        over the data, with a warning, instead of an error.
      report: function that shows a line to the user.
      runs_per_step: runs of the train op in a global step. An input whose position cannot be saved
        is then read again up to the step of the checkpoint, unless `allow_inexact`; 0: the batches
        cannot be counted.
      strict: whether such an input is an error.
      interrupted: whether a signal asks this process to end.
      exact: False for an input without a saved position, which is read from its beginning after
        each resume (`Input.exact_resume`).

    Raises:
      DataError: from `start`: the position cannot be saved.
      CheckpointError, ConfigError: from `start`: the position of the checkpoint
        cannot be restored; see `InputPosition.restore`. At step 0 another input may begin.
    """

    phase = Phase.TRANSFORM

    position: InputPosition
    _: dataclasses.KW_ONLY
    restored: RestoredCheckpoint
    allow_inexact: bool
    report: Callable[[str], None]
    runs_per_step: int = 0
    strict: bool = False
    interrupted: Callable[[], object] = lambda: False
    exact: bool = True

    def __post_init__(self) -> None:
        super().__init__()

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        path = self.restored.position_path
        if not self.exact:
            self.position.leave_out(session)
            if path is not None:
                self.report(
                    "note: the input is read from its beginning, as it declares by exact_resume"
                )
        elif self._can_be_restored(session) and path is not None:
            self._restore(session, path)
            self._note_rejoin(step, read_step(path))
        elif path is not None:
            self.report("warning: a new pass over the data begins")

    def _note_rejoin(self, step: int, of_position: int) -> None:
        """Says how far the input of a worker is behind the job, which went on without it."""
        if step > of_position:
            self.report(
                f"goes on at step {step} with its input position of step {of_position}, which is "
                f"{step - of_position} steps behind"
            )

    def _can_be_restored(self, session: Session) -> bool:
        try:
            self.position.check(session)
        except DataError as error:
            if not self.allow_inexact:
                self._count(session, error)
                return True
            self.report(f"warning: {short_reason(error)}; a resumed run will not be exact")
            self.position.leave_out(session)
            return False
        return True

    def _count(self, session: Session, error: DataError) -> None:
        """Lets the input be read again to restore its position; raises the error if it cannot."""
        if not (self.runs_per_step and self.position.is_countable):
            raise error
        if self.strict:
            reason = f"{short_reason(error)} (an error because of --strict)"
            raise DataError(f"{reason}\n{self.position.counted_advice}")
        exactness = self.position.count(
            session, runs_per_step=self.runs_per_step, interrupted=self.interrupted
        )
        advice = "" if self.restored.path else f"\n  {self.position.counted_advice}"
        self.report(f"note: {short_reason(error)}; {exactness}{advice}")

    def _restore(self, session: Session, path: str) -> None:
        try:
            self.position.restore(session, path, report=self.report)
        except (CheckpointError, ConfigError) as error:
            if read_step(path) == 0:
                # The run ended before its second checkpoint: nothing had been read. Now it has
                # other options, or reads what another worker was to read.
                return
            if not self.allow_inexact:
                raise
            self.report(f"warning: {short_reason(error)}; a new pass over the data begins")
