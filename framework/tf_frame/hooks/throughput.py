"""`ThroughputHook`: measures steps/s and examples/s, with uncertainty.

The measurement leaves out warm-up, traced steps and evaluations. The uncertainty tells a real
change of speed from noise.
"""

from __future__ import annotations

import collections
import dataclasses
import logging
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.background_writer import wait_for_background_writer, write_in_background
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Multiples
from tf_frame.hooks.training_clock import traced_steps, training_clock
from tf_frame.profiling.step_times import StepTimes, quantiles
from tf_frame.types import Session

_LOG = logging.getLogger("tf_frame")
_INTERVALS = 100
# Median absolute deviation -> standard deviation, for normally distributed values.
_MAD_TO_DEVIATION = 1.4826


@dataclasses.dataclass(frozen=True)
class Throughput:
    """Steps per second over intervals.

    Attributes:
      mean: all steps over all seconds.
      uncertainty: standard error of the mean of the intervals' rates; None for
        one interval.
      jitter: median absolute deviation of the rates, scaled to a standard
        deviation, so that a few very slow intervals hardly change it.
    """

    mean: float
    uncertainty: float | None
    jitter: float


def compute_throughput(steps: Sequence[int], seconds: Sequence[float]) -> Throughput:
    """Computes statistics of the steps and seconds of intervals.

    As `get_perf_timing` of tf_cnn_benchmarks (benchmark_cnn.py).
    """
    # Plain Python: for so few numbers NumPy takes several times as long.
    rates = [count / secs for count, secs in zip(steps, seconds, strict=True)]
    middle = statistics.median(rates)
    deviation = statistics.median([abs(rate - middle) for rate in rates])
    distance = math.dist(rates, [statistics.fmean(rates)] * len(rates))
    return Throughput(
        mean=sum(steps) / sum(seconds),
        # The standard deviation over the square root of the number of rates.
        uncertainty=distance / len(rates) if len(rates) > 1 else None,
        jitter=_MAD_TO_DEVIATION * deviation,
    )


@dataclasses.dataclass(eq=False, kw_only=True)
class ThroughputHook(Hook):
    """Logs and writes steps/s and examples/s, with their uncertainty and jitter.

        step 120: 41.2 +/- 0.3 steps/s (jitter 0.8), 329.6 examples/s

    The intervals lie between the multiples of `every_steps`. The first steps of each session, and
    intervals with a traced step (`training_clock.mark_traced`, or a `RunOptions.trace_level` at a
    step of this hook), do not count: the hook logs `not considering steps 1 to 10 (12.3
    examples/s)` and writes nothing, as the Inception trainer does (inception_distributed_train.py
    of tensorflow/models). The statistics are of the last 100 intervals.

    Summaries: `throughput/steps_per_sec` and `throughput/examples_per_sec` of the interval;
    `throughput/mean_steps_per_sec`, `throughput/uncertainty` and `throughput/jitter`, in steps per
    second; with `times`, `step_times/p50_secs`, `p90_secs` and `p99_secs` of the steps of the
    interval, and `step_times/hooks_secs`, the time of all hooks per step.

    Args:
      examples_per_step: examples in one step.
      every_steps: steps between lines.
      warmup_steps: number of steps at the begin of a session that do not count.
      last_step: global step at which training and the last interval end.
      min_secs: shortest interval; with short steps an interval has more than `every_steps`.
      writer: summary writer, or None.
      times: durations of the loop, for the summaries.

    Raises:
      ValueError: a number of steps that is not positive.
    """

    phase = Phase.LOG
    option = "--log_every_n_steps"

    examples_per_step: int
    every_steps: int
    warmup_steps: int = 10
    last_step: int | None = None
    min_secs: float = 0.0
    writer: Any = None
    times: StepTimes | None = None

    def __post_init__(self) -> None:
        if self.every_steps <= 0 or self.warmup_steps < 0:
            raise ValueError(
                f"every_steps is {self.every_steps}, warmup_steps {self.warmup_steps}; the first "
                "must be positive, the second not negative"
            )
        self._counted: collections.deque[tuple[int, float]] = collections.deque(maxlen=_INTERVALS)
        super().__init__(
            Multiples(self.every_steps, first=self.warmup_steps, last_step=self.last_step)
        )

    @property
    def throughput(self) -> Throughput | None:
        """Statistics of the last intervals; None before the first interval that counts."""
        return compute_throughput(*zip(*self._counted, strict=True)) if self._counted else None

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        self._warm_from = step + self.warmup_steps
        self._since = (step, training_clock())
        self._traced_before = traced_steps()
        self._times_before = self._copied_times()

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        (since, began), now = self._since, training_clock()
        if step == since or (since >= self._warm_from and now - began < self.min_secs):
            return
        self._since = (step, now)
        before, self._times_before = self._times_before, self._copied_times()
        if since < self._warm_from or self._is_traced(run_values):
            rate = (step - since) * self.examples_per_step / max(now - began, 1e-9)
            _LOG.info("not considering steps %d to %d (%.1f examples/s)", since + 1, step, rate)
            return
        self._counted.append((step - since, max(now - began, 1e-9)))
        write_in_background(self._report, step, list(self._counted))
        if self.writer is not None:
            write_in_background(self._write_times, step, before, self._times_before)

    def close(self) -> None:
        wait_for_background_writer()

    def _is_traced(self, run_values: Any) -> bool:
        """Returns whether a step of the interval was traced."""
        before, self._traced_before = self._traced_before, traced_steps()
        traces = run_values.options is not None and run_values.options.trace_level > 0
        return traces or self._traced_before != before

    def _copied_times(self) -> tuple[list[int], float]:
        """Returns the steps in each class of durations, and the seconds of all hooks."""
        if self.times is None:
            return [], 0.0
        return list(self.times.counts), sum(time.secs for time in self.times.hooks.values())

    def _write_times(
        self, step: int, before: tuple[list[int], float], after: tuple[list[int], float]
    ) -> None:
        """Writes the summaries of the durations in an interval."""
        counts = [new - old for new, old in zip(after[0], before[0], strict=True)]
        values = quantiles(counts)
        steps = values.pop("steps")
        if steps:
            values["hooks_secs"] = (after[1] - before[1]) / steps
            write_scalars(self.writer, "step_times", values, step)

    def _report(self, step: int, counted: Sequence[tuple[int, float]]) -> None:
        steps, seconds = counted[-1]
        overall = compute_throughput(*zip(*counted, strict=True))
        error = "" if overall.uncertainty is None else f" +/- {overall.uncertainty:.1f}"
        examples = overall.mean * self.examples_per_step
        text = f"{overall.mean:.1f}{error} steps/s (jitter {overall.jitter:.1f})"
        _LOG.info("step %d: %s, %.1f examples/s", step, text, examples)
        values = {
            "steps_per_sec": steps / seconds,
            "examples_per_sec": steps / seconds * self.examples_per_step,
            "mean_steps_per_sec": overall.mean,
            "uncertainty": overall.uncertainty,
            "jitter": overall.jitter,
        }
        write_scalars(self.writer, "throughput", values, step)


def write_scalars(writer: Any, prefix: str, values: Mapping[str, Any], step: int) -> None:
    """Writes scalar summaries called `PREFIX/NAME`, except values of None, if there is a writer."""
    if writer is None:
        return
    scalars = [
        tf.Summary.Value(tag=f"{prefix}/{name}", simple_value=value)
        for name, value in values.items()
        if value is not None
    ]
    writer.add_summary(tf.Summary(value=scalars), step)
