"""Chooses the number of workers of a job that may go on with fewer: `--num_workers 2..4`.

The batch of such a job has shards (`--batch_shards`), so that the job ends with the same values for
any number of workers. When a worker is lost for good, the job goes on from its last checkpoint with
one less. At the next checkpoint it tries with all again; if that fails, it waits for twice as many
checkpoints before it tries once more.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

from tf_frame import file_system
from tf_frame.checkpoint.names import INDEX, checkpoint_prefix, step_in_path
from tf_frame.launch.job import Job
from tf_frame.launch.supervisor import Supervisor

_LOOK_SECS = 1.0


class WorkerCounts:
    """The numbers of workers of a job, one after the other.

    Args:
      job: the job, with its largest number of workers.
      say: takes a line for the user.

    Attributes:
      count: the present number.
    """

    def __init__(self, job: Job, say: Callable[[str], None]) -> None:
        self._job, self._say = job, say
        self.count = job.num_workers
        self._patience = 1  # Checkpoints before the job tries with all workers again.
        self._is_retry = False
        self._begin()

    def _begin(self) -> None:
        self._steps = set(_steps(self._job.model_dir))
        self._next_look = 0.0

    @property
    def job(self) -> Job:
        """The job with the present number of workers."""
        return dataclasses.replace(self._job, num_workers=self.count)

    @property
    def can_be_fewer(self) -> bool:
        """True if the job goes on with one worker less."""
        return self.count > (self._job.min_workers or self.count)

    def may_grow(self) -> bool:
        """Returns whether a job with fewer workers has saved, and is to try with all again."""
        if self.count == self._job.num_workers or time.monotonic() < self._next_look:
            return False
        self._next_look = time.monotonic() + _LOOK_SECS
        return len({*_steps(self._job.model_dir)} - self._steps) >= self._patience

    def goes_on(self, ended: Supervisor) -> bool:
        """Returns whether the job goes on with another number of workers, after all have ended."""
        if ended.received is not None or ended.failure is not None:
            return False
        if ended.lost is not None:
            self._lose(len({*_steps(self._job.model_dir)} - self._steps))
        elif ended.regroups and not ended.is_complete:
            self.count, self._is_retry = self._job.num_workers, True
            self._say(f"going on with {self.count} workers")
        else:
            return False
        self._begin()
        return True

    def _lose(self, saved: int) -> None:
        # A worker that was tried again and failed at once is not tried soon again.
        failed_again = self._is_retry and not saved
        self._patience = 2 * self._patience if failed_again else 1
        self._is_retry = False
        self.count -= 1
        self._say(f"going on with {self.count} workers from the last checkpoint")


def _steps(folder: str) -> list[int]:
    paths = [path for path in file_system.files_in(folder) if path.endswith(INDEX)]
    steps = [step_in_path(checkpoint_prefix(path)) for path in paths]
    return [step for step in steps if step is not None]
