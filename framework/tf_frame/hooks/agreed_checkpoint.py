"""`AgreedCheckpointHook`: saves checkpoints with the input positions of all workers.

The chief's hook requests each save before the step that is saved, so that every worker stores its
position after exactly this step (`cluster.agreement`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster.agreement import Agreement
from tf_frame.graph.inputs.position import step_name
from tf_frame.hooks.base import REPLAN
from tf_frame.hooks.cadence import NEVER, Cadence
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.types import Session, Tensor

# A worker stores its position within a step, unless the worker is being restarted.
_POSITION_SECS = 10.0
# Other workers see the last step at once, unless they are within a long step.
_FINISH_SECS = 3.0
# If the chief has no more data, other workers may still train.
_STILL_SECS = 60.0


class AgreedCadence(Cadence):
    """The steps of another cadence, with a request to the workers before each step.

    Args:
      cadence: the other cadence.
      request: takes the number of the next wanted step.

    Attributes:
      requested: the requested step that is still to come; `NEVER` without one.
      is_last: whether all workers stop at the requested step. Then no further step is requested: a
        worker that read the later request would not store its position at the last step.
    """

    def __init__(self, cadence: Cadence, request: Callable[[int], None]) -> None:
        self.inner = cadence
        self._request = request
        super().__init__()

    def start(self, step: int) -> None:
        self.requested, self.is_last = NEVER, False
        self.inner.start(step)

    def request_next(self) -> None:
        """Requests the next step that the other cadence wants by number."""
        step = self.inner.next_step()
        if step != NEVER and step != self.requested:
            self.request(int(step))

    def request(self, step: int, *, is_last: bool = False) -> None:
        """Requests a step."""
        self.requested, self.is_last = step, is_last
        self._request(step)

    def is_agreed(self, step: int) -> bool:
        """Returns whether this step or an earlier step was requested."""
        return step >= self.requested

    def mark(self, step: int) -> None:
        if self.is_agreed(step) and not self.is_last:
            self.requested = NEVER
            self.inner.mark(step)
            self.request_next()

    def next_step(self) -> float:
        return self.requested

    def next_time(self) -> float:
        return self.inner.next_time() if self.requested == NEVER else NEVER

    def wants(self, step: int) -> bool:
        return self.is_agreed(step) or self.inner.wants(step)

    def __bool__(self) -> bool:
        return bool(self.inner)

    def __str__(self) -> str:
        return f"{self.inner}, agreed with the workers"


@dataclasses.dataclass(eq=False, kw_only=True)
class AgreedCheckpointHook(CheckpointHook):
    """Saves the chief's checkpoints with the input positions of all workers.

    At the end the hook waits for the other workers, so that the last checkpoint has all updates.

    Args:
      agreement: the connection with the other tasks.
      last_step: the step at which all workers stop by themselves.
      interrupted: whether a signal asks this task to end.
      end_updates: lets workers stop that wait for an update of the chief.
    """

    agreement: Agreement
    last_step: int
    interrupted: Callable[[], object] = lambda: False
    end_updates: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.cadence = self._agreed = AgreedCadence(self.cadence, self.agreement.request_save)
        self._stop_at: int | None = None
        # The workers without a position at the last save, and the step of the last save.
        self._absent: set[int] = set()
        self._position_step = 0
        self.asked_between_steps = True

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        self._absent, self._position_step = set(), 0
        self._stop_at = None  # A new session of the chief has forgotten the request.
        self._agreed.request_next()

    def should_stop(self) -> bool:
        if self._stop_at is None and self.interrupted():
            # The next step: every worker reads the request before this step begins.
            self._stop_at = int(self._session.run(self._global_step)) + 1
            self.agreement.request_stop(self._stop_at)
            self._agreed.request(self._stop_at, is_last=True)
            return REPLAN  # type: ignore[no-any-return]
        return super().should_stop()

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        if self._stop_at is not None and step >= self._stop_at:
            run_context.request_stop()  # `after_last_step` saves.
        elif self._agreed.is_agreed(step):
            super().after_step(run_context, run_values, step)
        else:
            self._agreed.request(step + 1)

    def after_last_step(self, step: int) -> None:
        if self._stop_at is None:
            self.agreement.request_stop(step)
        self.end_updates()
        self._let_finish(step)
        self.agreement.close_session(step)
        step = int(self._session.run(self._global_step))
        super().after_last_step(step)

    def _save(self, session: Session, step: int, *, may_stop: bool) -> None:
        if self.saved_step is not None or self._first_step is not None:
            self._wait_for_positions(step)
        super()._save(session, step, may_stop=may_stop)

    def _wait_for_positions(self, step: int) -> None:
        requested = min(self._agreed.requested, self.last_step)
        # Workers without lockstep store it after their next step.
        step = min(step, int(requested))
        secs = _POSITION_SECS if step >= requested else 0
        present = self.agreement.present()
        # A worker that was absent at the last save counts again after it has stored a position.
        absent = self.agreement.without_position(
            self._position_step, workers=self._absent, timeout_secs=0
        )
        awaited = [worker for worker in present if worker not in absent]
        missing = self.agreement.without_position(step, workers=awaited, timeout_secs=secs)
        self._absent, self._position_step = {*absent, *missing}, step
        for worker in missing if secs else ():
            self.report(
                f"note: the checkpoint of step {step} lacks the input position of worker {worker}"
            )

    def _let_finish(self, step: int) -> None:
        """Waits until no other worker makes updates."""
        ended = step >= self.last_step or self._stop_at is not None
        awaited = [worker for worker in self.agreement.present() if worker not in self._absent]
        moved_at = step
        while unfinished := self.agreement.unfinished(
            workers=awaited, timeout_secs=_FINISH_SECS if ended else _STILL_SECS
        ):
            step = int(self._session.run(self._global_step))
            if ended or step == moved_at:
                names = ", ".join(f"worker {worker}" for worker in unfinished)
                self.report(f"note: the end of the training does not wait for {names}")
                return
            moved_at = step


def worker_positions(
    agreement: Agreement, position: Any, parts_of: Callable[[int], Sequence[int]]
) -> dict[str, Tensor]:
    """Adds reads of the input positions of all workers but the chief, for its checkpoints.

    `parts_of` returns the parts of the data that a worker reads.
    """
    tensors: dict[str, Tensor] = {}
    for worker in agreement.other_workers:
        tensors |= agreement.position_tensors(position.position_names(parts_of(worker)))
        with tf.device(None):
            step = tf.identity(agreement.given_step(worker))
        tensors |= {step_name(part): step for part in parts_of(worker)}
    return tensors
