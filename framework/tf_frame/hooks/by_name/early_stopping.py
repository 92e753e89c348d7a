"""Early stopping: ends training once an evaluation metric is good enough or no longer improves.

    hook = stop_if_no_increase("accuracy", 2000, eval_dir="runs/first/eval")

The four functions `stop_if_higher`, `..._lower`, `..._no_increase` and `..._no_decrease` mean the
same as in tf.estimator.experimental (estimator/early_stopping.py), with four exceptions.
Training goes on after a new best value, also if there was none for too long before. Evaluations of
later steps, which a killed run left, do not count. Evaluations without the metric are ignored; if
all lack the metric, that is an error. Each worker reads the evaluations itself, so the graph needs
no variable for the stop. The evaluations are also read before the first step of a session: training
that an earlier run stopped, or should have stopped when it was killed, does not go on.
"""

from __future__ import annotations

import logging
import math
import operator
import os
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence, Either, Multiples
from tf_frame.text import brief, listed
from tf_frame.types import Session

_LOG = logging.getLogger("tf_frame")
_PREFIXES = ("metrics/", "losses/")

EvalMetrics = Mapping[int, Mapping[str, float]]
# The folder of the event files of evaluations, or a function that returns evaluations.
EvalSource = str | Callable[[], EvalMetrics]


class EarlyStoppingHook(Hook):
    """Ends training when a function of the evaluations gives a reason.

    Args:
      verdict: takes the evaluations up to now, as `EvalMetricsReader` returns them; returns the
        reason to stop training, empty to go on.
      metrics: folder with the event files of evaluations, or a function that returns
        evaluations.
      run_every_secs: seconds between checks.
      run_every_steps: steps between checks; give one of the two.
      multiples_of: also checks at the multiples of this number of steps; None: no multiples.
      report: function that takes the reason as a line; default: the log.

    Attributes:
      reason: the reason why training was stopped, empty if it was not.

    Raises:
      ValueError: both or neither of seconds and steps are given.
    """

    phase = Phase.STOP
    option = "--hook early_stopping"
    asked_between_steps = False

    def __init__(
        self,
        verdict: Callable[[EvalMetrics], str],
        metrics: EvalSource,
        *,
        run_every_secs: float | None = 60,
        run_every_steps: int | None = None,
        multiples_of: int | None = None,
        report: Callable[[str], None] = _LOG.info,
    ) -> None:
        if run_every_secs is not None and run_every_steps is not None:
            raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
        if run_every_secs is None and run_every_steps is None:
            raise ValueError("One of `run_every_secs` and `run_every_steps` must be set.")
        self._verdict = verdict
        self._metrics = EvalMetricsReader(metrics).read if isinstance(metrics, str) else metrics
        self.reason = ""
        self._report = report
        cadence = Cadence(every_secs=run_every_secs, every_steps=run_every_steps)
        super().__init__(Either(cadence, Multiples(multiples_of)) if multiples_of else cadence)

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        evaluations = self._evaluations_until(step)
        if evaluations:
            self._check(evaluations, step)

    def should_stop(self) -> bool:
        return bool(self.reason)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        self._check(self._evaluations_until(step), step)
        if self.reason:
            run_context.request_stop()

    def _evaluations_until(self, step: int) -> EvalMetrics:
        return {at: values for at, values in self._metrics().items() if at <= step}

    def _check(self, evaluations: EvalMetrics, step: int) -> None:
        self.reason = self._verdict(evaluations)
        if self.reason:
            self._report(f"{self.reason}; early stopping at global step {step}")


def stop_if_higher(
    metric: str, threshold: float, eval_dir: EvalSource, **more: Any
) -> EarlyStoppingHook:
    """Stops once `metric` is above `threshold`.

    Args:
      metric: name of the metric, such as `loss`.
      threshold: the limit.
      eval_dir: folder of the evaluations' event files, or a function that returns
        `{step: {metric: value}}`.
      **more: `min_steps` (0): evaluations before this step are ignored;
        `run_every_secs` (60) or `run_every_steps`, the other one None; `multiples_of` and
        `report` of `EarlyStoppingHook`.
    """
    return _stop_by_threshold(metric, threshold, eval_dir, higher=True, **more)


def stop_if_lower(
    metric: str, threshold: float, eval_dir: EvalSource, **more: Any
) -> EarlyStoppingHook:
    """Stops once `metric` is below `threshold`.

    Args:
      metric, threshold, eval_dir, more: see `stop_if_higher`.
    """
    return _stop_by_threshold(metric, threshold, eval_dir, higher=False, **more)


def stop_if_no_increase(
    metric: str, max_steps_without_increase: int, eval_dir: EvalSource, **more: Any
) -> EarlyStoppingHook:
    """Stops once `metric` has had no new maximum for a number of global steps.

    Args:
      metric, eval_dir, more: see `stop_if_higher`.
      max_steps_without_increase: the number of global steps.
    """
    return stop_if_not_better(
        metric, max_steps_without_increase, eval_dir, higher=True, unit="steps", **more
    )


def stop_if_no_decrease(
    metric: str, max_steps_without_decrease: int, eval_dir: EvalSource, **more: Any
) -> EarlyStoppingHook:
    """Stops once `metric` has had no new minimum for a number of global steps.

    Args:
      metric, eval_dir, more: see `stop_if_higher`.
      max_steps_without_decrease: the number of global steps.
    """
    return stop_if_not_better(
        metric, max_steps_without_decrease, eval_dir, higher=False, unit="steps", **more
    )


def _stop_by_threshold(
    metric: str, threshold: float, source: Any, *, higher: bool, min_steps: int = 0, **every: Any
) -> EarlyStoppingHook:
    crossed = operator.gt if higher else operator.lt
    word = "greater than" if higher else "less than"

    def verdict(metrics: EvalMetrics) -> str:
        for step, value in _values(metrics, metric, min_steps):
            if crossed(value, threshold):
                return (
                    f'At step {step}, metric "{metric}" has value {value:g} which is {word} the '
                    f"configured threshold ({threshold:g}) for early stopping"
                )
        return ""

    return EarlyStoppingHook(verdict, source, **every)


def stop_if_not_better(
    metric: str,
    patience: int,
    eval_dir: EvalSource,
    *,
    higher: bool,
    unit: str = "evaluations",
    min_steps: int = 0,
    **every: Any,
) -> EarlyStoppingHook:
    """Stops once `metric` has had no new best value for `patience` evaluations or steps.

    Args:
      metric, eval_dir: see `stop_if_higher`.
      patience: number of evaluations or steps, by `unit`.
      higher: whether a larger value is better.
      unit: `evaluations`, or `steps` for global steps.
      min_steps: evaluations before this step are ignored.
      every: `run_every_secs` (60) or `run_every_steps`, the other one None; `multiples_of` and
        `report` of `EarlyStoppingHook`.
    """
    better = operator.gt if higher else operator.lt
    word = "increase" if higher else "decrease"

    def verdict(metrics: EvalMetrics) -> str:
        best: tuple[int, float] | None = None
        waited = -1
        for count, (step, value) in enumerate(_values(metrics, metric, min_steps)):
            at = step if unit == "steps" else count
            # Any number is better than NaN.
            if best is None or better(value, best[1]) or math.isnan(best[1]):
                best = (at, value)
            waited = at - best[0]
        # The newest evaluation decides: a run that was continued and has improved goes on.
        if waited < patience:
            return ""
        return (
            f'No {word} in metric "{metric}" for {waited} {unit}, which is greater '
            f"than or equal to max {unit} ({patience}) configured for early stopping"
        )

    return EarlyStoppingHook(verdict, eval_dir, **every)


def _values(metrics: EvalMetrics, metric: str, min_steps: int) -> list[tuple[int, float]]:
    """Returns pairs of step and value of the metric, from `min_steps` on.

    Raises:
      ConfigError: there are evaluations, but none of them has the metric.
    """
    names = sorted({name for values in metrics.values() for name in values})
    if metrics and metric not in names:
        raise ConfigError(
            f"early stopping: no evaluation has a metric {brief(metric)}; there are: "
            f"{listed(names)}"
        )
    return [
        (s, metrics[s][metric]) for s in sorted(metrics) if s >= min_steps and metric in metrics[s]
    ]


class EvalMetricsReader:
    """Reads the metrics in the event files of a folder of evaluations, incrementally."""

    def __init__(self, eval_dir: str) -> None:
        self._eval_dir = eval_dir
        self._read: dict[str, int] = {}
        self._metrics: dict[int, dict[str, float]] = {}

    def read(self) -> dict[int, dict[str, float]]:
        """Reads the new records, and returns all metrics.

        Returns:
          Global step -> metric -> value, by ascending step; the tags `losses/loss` and
          `metrics/accuracy` are also called `loss` and `accuracy`. Empty if there is no
          such folder.
        """
        if tf.io.gfile.isdir(self._eval_dir):
            for path in sorted(tf.io.gfile.glob(os.path.join(self._eval_dir, "*.tfevents.*"))):
                for end, record in _records(path, self._read.get(path, 0)):
                    self._add(tf.Event.FromString(record))
                    self._read[path] = end
        return {step: dict(self._metrics[step]) for step in sorted(self._metrics)}

    def _add(self, event: Any) -> None:
        values = {v.tag: v.simple_value for v in event.summary.value if v.HasField("simple_value")}
        named = {t[len(p) :]: v for t, v in values.items() for p in _PREFIXES if t.startswith(p)}
        if values:
            self._metrics.setdefault(event.step, {}).update({**values, **named})


def _records(path: str, start: int) -> Iterator[tuple[int, bytes]]:
    """Yields the end and the data of each complete record of a TFRecord file from a byte on.

    A record has 8 bytes with the length, 4 bytes of checksum, the data, and 4 bytes of checksum
    (tensorflow/core/lib/io/record_writer.h). A record that is still being written is left for
    the next call.
    """
    size = tf.io.gfile.stat(path).length
    with tf.io.gfile.GFile(path, "rb") as file:
        while start + 12 <= size:
            file.seek(start)
            (length,) = struct.unpack("<Q", file.read(12)[:8])
            if start + 16 + length > size:
                return
            start += 16 + length
            yield start, file.read(length)
