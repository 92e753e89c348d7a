r"""`Meeting`: the tasks of a job with a changing number of workers find each other in its folder.

Nothing tells a pod of a Kubernetes Job how many others there are, for the parallelism of the Job
may change while it runs. So each task announces itself by a file in `MODEL_DIR/tasks/meeting`, and
writes it again until the task is chosen. The chief, task 0, chooses among the tasks that it sees
writing. A task that comes later waits: when the job has saved, the chief ends all tasks, and they
meet again.

    JOB_COMPLETION_INDEX=2 TF_FRAME_ADDRESS=10.0.0.7:2222 TF_FRAME_NUM_WORKERS=2..4 \
      tf-frame run --cluster_from folder --batch_shards 4 --model_dir /runs/first

Each process has a name of its own, so that no process takes the choice of an earlier meeting for
its own.
"""

from __future__ import annotations

import dataclasses
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping

from tf_frame.cluster.cluster import Cluster, cluster_from_tf_config
from tf_frame.cluster.find import check_addresses
from tf_frame.cluster.meeting_folder import Announcement, Attendance, Choice, MeetingFolder
from tf_frame.cluster.status import read_statuses
from tf_frame.cluster.tf_config import TaskType, cluster_config
from tf_frame.errors import ConfigError, PeerLostError
from tf_frame.text import short_word

# Environment variables; Kubernetes gives the first one to each pod of an Indexed Job.
INDEX, ADDRESS, WORKERS = "JOB_COMPLETION_INDEX", "TF_FRAME_ADDRESS", "TF_FRAME_NUM_WORKERS"

# Object stores take one write of a file in a second.
_LOOK_SECS, _WRITE_SECS = 1.0, 2.0
# For this part of --cluster_timeout_secs the chief waits for more tasks, after the last one came.
_LATE = 0.1
_COUNTS = re.compile(r"([0-9]{1,6})(?:\.\.([0-9]{1,6}))?")
_INDEX = re.compile(r"[0-9]{1,6}")


def parse_worker_counts(text: str, name: str = "--num_workers") -> tuple[int, int]:
    """Returns the smallest and the largest number of workers: `2..4`; `4` is 4 and 4.

    Raises:
      ConfigError: the text, of the option or variable `name`, is neither a positive number nor a
        range of such numbers.
    """
    match = _COUNTS.fullmatch(text)
    if match is None:
        raise ConfigError(f"{name} {text!r:.80}: give a number, or a range such as 2..4")
    least, most = int(match[1]), int(match[2] or match[1])
    if not 1 <= least <= most:
        raise ConfigError(
            f"{name}: {text} is out of range; the least is 1, and the lower one is first"
        )
    return least, most


class Meeting:
    """The meeting, from the view of the task of this process.

    Args:
      model_dir: the folder of the job, which exists.
      environment: the environment variables.
      batch_shards: the number of workers that can train at most.
      max_steps: the last step of the training.
      timeout_secs: seconds until a worker takes the chief for lost.
      report: takes a line for the user.

    Raises:
      ConfigError: a variable is missing or wrong.
    """

    def __init__(
        self,
        model_dir: str,
        environment: Mapping[str, str],
        *,
        batch_shards: int,
        max_steps: int,
        timeout_secs: float,
        report: Callable[[str], None],
    ) -> None:
        self._least, self._most = parse_worker_counts(_value(environment, WORKERS), WORKERS)
        index = _value(environment, INDEX)
        address = _in_brackets(_value(environment, ADDRESS))
        if not _INDEX.fullmatch(index):
            raise ConfigError(f"{INDEX}={short_word(index)} is not the number of a task")
        if self._most > batch_shards:
            raise ConfigError(
                f"{WORKERS}={environment[WORKERS]}: --batch_shards {batch_shards} are too few for "
                f"{self._most} workers"
            )
        self._own = Announcement(index=int(index), address=address, process=secrets.token_hex(8))
        self._max_steps, self._timeout_secs, self._report = max_steps, timeout_secs, report
        self._model_dir, self._folder = model_dir, MeetingFolder(model_dir)
        self._attendance = Attendance(self._folder.announcements())
        self._written_at = float("-inf")
        self._choice: Choice | None = None

    def attend(self, check: Callable[[], None]) -> Cluster | None:
        """Waits until this task is chosen; returns its place, or None if the training has ended.

        Args:
          check: called between looks; may raise to stop waiting.

        Raises:
          PeerLostError: there has been no sign of the chief for `timeout_secs`.
          ConfigError: an address is malformed.
        """
        waits = self._chief_waits if self._own.index == 0 else self._worker_waits
        for _ in waits():
            check()
            self._announce()
            time.sleep(_LOOK_SECS)
        assert self._choice is not None
        return self._cluster() if self._own.process in self._choice.members else None

    def others_wait(self) -> bool:
        """Returns whether the chief can take in another task; to be asked every few seconds."""
        present = self._attendance.look(self._folder.announcements())
        assert self._choice is not None
        members = self._choice.members
        return len(members) < self._most and any(task.process not in members for task in present)

    def end(self) -> None:
        """Lets the chief tell later tasks that the training has ended by itself."""
        assert self._choice is not None
        self._folder.choose(dataclasses.replace(self._choice, max_steps=self._max_steps))

    def _chief_waits(self) -> Iterator[None]:
        """Yields until the workers are there; then chooses them."""
        late_secs, count = _LATE * self._timeout_secs, 0
        while True:
            present = self._attendance.look(self._folder.announcements())
            workers = [task for task in present if task.index > 0]
            if count != (count := 1 + len(workers)):
                self._report(f"{count} of {self._least} to {self._most} workers are there")
            late = time.monotonic() > self._attendance.changed_at + late_secs
            if count >= self._most or (late and count >= self._least):
                break
            yield
        chosen = [self._own, *workers[: self._most - 1]]
        self._choice = Choice(
            meeting=1 + secrets.randbelow(2**31),
            members={task.process: task.address for task in chosen},
        )
        self._folder.choose(self._choice)

    def _worker_waits(self) -> Iterator[None]:
        """Yields until the chief has chosen this worker, or the training has ended."""
        signs, since, began = None, time.monotonic(), time.monotonic()
        while True:
            self._choice = choice = self._folder.choice()
            if choice and self._own.process in choice.members:
                return
            now = time.monotonic()
            ended = choice is not None and (choice.max_steps or 0) >= self._max_steps
            # A chief that goes on with an ended training may come later than its workers.
            if ended and now > began + _LATE * self._timeout_secs:
                self._report("the training has ended: nothing to train")
                return
            if signs != (signs := self._signs_of_chief()):
                since = now
            if now > since + self._timeout_secs:
                raise PeerLostError(
                    f"no sign of the chief (task 0) for {self._timeout_secs:g} s "
                    "(--cluster_timeout_secs); this worker waits again when it is started again"
                )
            yield

    def _signs_of_chief(self) -> object:
        announced = [task for task in self._folder.announcements() if task.index == 0]
        statuses = [status for status in read_statuses(self._model_dir) if status.task == "chief-0"]
        return announced, statuses, self._choice

    def _announce(self) -> None:
        if time.monotonic() > self._written_at + _WRITE_SECS:
            self._own = dataclasses.replace(self._own, writes=self._own.writes + 1)
            self._folder.announce(self._own)
            self._written_at = time.monotonic()

    def _cluster(self) -> Cluster:
        assert self._choice is not None
        place = list(self._choice.members).index(self._own.process)
        chief, *workers = self._choice.members.values()
        jobs = {TaskType.CHIEF: [chief], TaskType.WORKER: workers}
        kind, index = (TaskType.WORKER, place - 1) if place else (TaskType.CHIEF, 0)
        content = {
            "cluster": {job: addresses for job, addresses in jobs.items() if addresses},
            "task": {"type": kind, "index": index},
        }
        cluster = cluster_from_tf_config(cluster_config(content))
        check_addresses(cluster, f"{ADDRESS} of a task")
        return dataclasses.replace(cluster, meeting=self._choice.meeting)


def _in_brackets(address: str) -> str:
    """Puts an IPv6 address in brackets, which Kubernetes gives without."""
    host, _, port = address.rpartition(":")
    return f"[{host}]:{port}" if ":" in host and "[" not in host else address


def _value(environment: Mapping[str, str], name: str) -> str:
    if not environment.get(name):
        raise ConfigError(
            f"{name} is not set, which --cluster_from folder needs; the manifest of tf-frame "
            "launch --on kubernetes --num_workers 2..4 sets it"
        )
    return environment[name]
