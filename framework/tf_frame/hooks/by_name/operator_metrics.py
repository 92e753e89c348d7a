"""`OperatorMetrics`: figures of a run for those who operate it, by Prometheus or OpenTelemetry.

Most figures are those of `tf-frame status`, read from the files of the tasks whenever somebody
asks. So they cost training nothing, and the chief has them for all tasks of a job.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.cluster.status import read_statuses
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.metrics_log import EVAL, TRAIN
from tf_frame.side_files import from_json, read_or_set_aside, write_json
from tf_frame.types import Session

STARTS_FILE = "starts.json"
STEP, MAX_STEPS, RATE, STALENESS = "step", "max_steps", "steps_per_second", "staleness"
HEARTBEAT, LOSS, METRIC = "heartbeat_timestamp_seconds", "train", "evaluation"
SAVES, RESTARTS = "saves", "restarts"
# Name of a figure -> its help text.
FIGURES: Mapping[str, str] = {
    STEP: "global step, as each task last reported it",
    MAX_STEPS: "global step to end at",
    RATE: "global steps per second in the last interval of each task",
    STALENESS: "updates by other workers within a step of an asynchronous worker",
    HEARTBEAT: "seconds since 1970 of the last report of each task",
    LOSS: "figures of the last log interval: losses, learning rate, rates",
    METRIC: "figures of the last evaluation",
    SAVES: "checkpoints that this process saved",
    RESTARTS: "sessions of the run after its first one, in this or earlier processes",
}
COUNTERS = (SAVES, RESTARTS)
_OF_TASKS = {
    STEP: "step",
    MAX_STEPS: "max_steps",
    RATE: "steps_per_sec",
    STALENESS: "staleness",
    HEARTBEAT: "time",
}


@dataclasses.dataclass(frozen=True)
class _Starts:
    """Content of the file that counts the sessions of a run."""

    starts: int


# Labels and value.
Point = tuple[Mapping[str, str], float]


class OperatorMetrics:
    """The present figures of a run; a `MetricsLogger` of the run.

    Args:
      model_dir: the folder of the run.

    Attributes:
      saves, restarts: counts of checkpoints and of sessions after the first one.
      on_close: called once, after the last figures.
    """

    def __init__(self, model_dir: str) -> None:
        self._model_dir = model_dir
        self._last: dict[str, Mapping[str, float]] = {TRAIN: {}, EVAL: {}}
        self.saves = self.restarts = 0
        self.on_close: Callable[[], None] = lambda: None

    def write(self, split: str, step: int, values: Mapping[str, float]) -> None:
        # Replaced as a whole: another thread reads.
        self._last[split] = dict(values)

    def close(self) -> None:
        self.on_close()

    def points(self, name: str) -> Iterator[Point]:
        """Yields the labels and the value of each point of a figure."""
        if name in _OF_TASKS:
            for status in read_statuses(self._model_dir):
                value = getattr(status, _OF_TASKS[name])
                if value is not None:
                    yield {"task": status.task}, float(value)
        elif name in COUNTERS:
            yield {}, float(self.saves if name == SAVES else self.restarts)
        else:
            for key, value in self._last[TRAIN if name == LOSS else EVAL].items():
                yield {"name": key}, value


@dataclasses.dataclass(eq=False)
class OperatorMetricsHook(Hook):
    """Counts sessions and begins to serve figures with the first one.

    Args:
      model_dir: the folder of the run.
      metrics: gets the counts.
      serve: begins to serve the figures; returns a function that ends it.
      report: takes a line about a damaged file.
    """

    phase = Phase.OBSERVE
    model_dir: str
    metrics: OperatorMetrics
    _: dataclasses.KW_ONLY
    serve: Callable[[OperatorMetrics], Callable[[], None]]
    report: Callable[[str], None]

    def __post_init__(self) -> None:
        super().__init__()
        self._serves = False

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        path = os.path.join(self.model_dir, STARTS_FILE)
        parse = functools.partial(from_json, _Starts)
        before = read_or_set_aside(path, parse, report=self.report) or _Starts(0)
        self.metrics.restarts = before.starts
        write_json(path, {"starts": before.starts + 1})
        if not self._serves:
            self._serves = True
            self.metrics.on_close = self.serve(self.metrics)


@dataclasses.dataclass(eq=False)
class CountSaves(tf.train.CheckpointSaverListener):
    """Counts the checkpoints of a process."""

    metrics: OperatorMetrics

    def after_save(self, session: Any, global_step_value: int) -> None:
        self.metrics.saves += 1
