"""`JobMember`: this worker in its job, from the wait for other tasks to the end of the job.

The methods do nothing for a process that trains alone.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import time
from collections.abc import Callable, Iterator

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import newest_checkpoint, read_step
from tf_frame.cluster.agreement import Agreement
from tf_frame.cluster.cluster import Cluster, wait_for_servers
from tf_frame.cluster.status import ENDED, NewStatuses
from tf_frame.errors import PeerLostError, TfFrameError
from tf_frame.session.interrupts import Interrupts

_LOG = logging.getLogger("tf_frame")

# Errors of a collective if a peer is lost, was restarted, or is late.
_COLLECTIVE_ERRORS = (
    tf.errors.UnavailableError,
    tf.errors.AbortedError,
    tf.errors.FailedPreconditionError,
    tf.errors.DeadlineExceededError,
    tf.errors.CancelledError,
    tf.errors.InternalError,
)


class NothingLeftToTrain(Exception):
    """The other workers reached the last step, or a later step, while this worker waited.

    Attributes:
      step: the step that the other workers reached.
    """

    def __init__(self, step: int) -> None:
        super().__init__(f"the other workers have reached step {step}")
        self.step = step


@dataclasses.dataclass(frozen=True, kw_only=True)
class JobMember:
    """This worker in its job.

    Attributes:
      cluster: this worker.
      agreement: the connection with the other tasks; None for a process that trains alone.
      model_dir: the folder of the job.
      max_steps: the last step.
      timeout_secs: seconds to wait for other tasks.
      report: takes a line for the user.
      interrupts: the signals of this process.
    """

    cluster: Cluster
    agreement: Agreement | None = None
    model_dir: str = ""
    max_steps: int = 0
    timeout_secs: float = 300
    report: Callable[[str], None] = _LOG.warning
    interrupts: Interrupts = dataclasses.field(default_factory=Interrupts)
    _statuses: NewStatuses | None = dataclasses.field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.model_dir:
            object.__setattr__(self, "_statuses", NewStatuses(self.model_dir))

    def wait_for_servers(self) -> None:
        """Waits until all servers that a session needs answer.

        Raises:
          TfFrameError: a server does not answer in time.
          NothingLeftToTrain: the job ended during the wait.
          Interrupted: a signal was received.
        """
        if self.cluster.target:
            wait_for_servers(
                self.cluster.addresses(),
                timeout_secs=self.timeout_secs,
                report=self.report,
                check=self._check,
                error_class=self._too_late,
            )

    def waiting_for_chief(self) -> Iterator[None]:
        """Yields until the caller finds that the chief has initialised the variables.

        Raises:
          TfFrameError: the time is over.
          NothingLeftToTrain, Interrupted: see `wait_for_servers`.
        """
        deadline = time.monotonic() + self.timeout_secs
        yield
        self.report("waiting for the chief to initialise the variables ...")
        while time.monotonic() < deadline:
            self._check()
            yield
        raise self._too_late(
            f"the chief has not initialised the variables in {self.timeout_secs:g} s "
            "(--cluster_timeout_secs); is it running?"
        )

    @property
    def _too_late(self) -> type[TfFrameError]:
        # Tasks that have met meet again without the one that does not come.
        return PeerLostError if self.cluster.meeting else TfFrameError

    def chief_is_ready(self) -> bool:
        """Returns whether the other workers may join the chief's present session.

        Raises:
          NothingLeftToTrain: the session has ended at the last step.
        """
        if self.agreement is None or self.agreement.is_open():
            return True
        self._check_steps_left(self.agreement.closed_at())
        return False

    def begin_session(self, restored: str | None) -> None:
        """Announces a session of the chief, and the checkpoint that it restores, or None."""
        if self.agreement is not None:
            self.agreement.begin_session(restored)

    def check_error(self, error: Exception) -> None:
        """Raises another error if an error of a step was caused by another task.

        Raises:
          tf.errors.AbortedError: a parameter server was lost.
          tf.errors.OutOfRangeError: another worker has ended, which ends the training.
          PeerLostError: another worker was lost.
        """
        if self.cluster.has_several_tasks and not self.cluster.all_reduces:
            if isinstance(error, tf.errors.CancelledError):
                # A lost server fails a part of the step and cancels the other parts. TensorFlow may
                # report the code of a cancelled part, but opens a new session only after an
                # `AbortedError`.
                raise tf.errors.AbortedError(None, None, error.message) from error
            return
        if not (self.cluster.all_reduces and isinstance(error, _COLLECTIVE_ERRORS)):
            return
        for status in self._statuses.read() if self._statuses else ():
            is_peer = status.task != self.cluster.task_name
            if is_peer and status.state == ENDED and not status.task.startswith("evaluator"):
                self.report(f"{status.task} has ended at step {status.step}")
                raise tf.errors.OutOfRangeError(None, None, "another worker has ended") from error
        raise PeerLostError(
            "another worker was lost; this one goes on from the last checkpoint when it is "
            "started again"
        ) from error

    def finish(self) -> None:
        """Tells the chief that this worker has ended, unless a signal stopped only this worker."""
        if self.agreement is None or self.cluster.is_chief:
            return
        # The server of the job may have ended already.
        with contextlib.suppress(tf.errors.OpError):
            if not self.interrupts.received or self.agreement.stop_step() >= 0:
                self.agreement.finish()

    def _check(self) -> None:
        self.interrupts.raise_if_received()
        self._check_steps_left(read_step(newest_checkpoint(self.model_dir)))

    def _check_steps_left(self, reached: int) -> None:
        if not self.cluster.is_chief and reached >= self.max_steps:
            raise NothingLeftToTrain(reached)
