"""`Comparison`: what several runs have in common, how they differ, and which is the best."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tf_frame.config.metric_directions import higher_is_better
from tf_frame.config.values import nearest
from tf_frame.errors import ConfigError, TfFrameError
from tf_frame.profiling.profile_folders import list_folders, read_recorded_run
from tf_frame.profiling.report.build_report import build_report
from tf_frame.profiling.report.diff import Comparison as ProfileComparison, compare
from tf_frame.runs.comparison.compared_run import ComparedRun
from tf_frame.runs.comparison.settings import Setting, find_settings, repeated_seeds
from tf_frame.runs.comparison.verdict import Verdict, judge
from tf_frame.runs.records.evaluations import Evaluation, best_evaluation
from tf_frame.runs.records.options import differing_options
from tf_frame.text import brief, figure, gflops_text, listed, readable_bytes

# Title -> a cell for each run; empty where a run has none.
Rows = Mapping[str, Sequence[str]]
# Metric -> label of a run -> steps and values.
Curves = dict[str, dict[str, list[tuple[int, float]]]]
TRAINING = "training "  # before the name of a loss of the log intervals
_LEAST_COUNT = 1000
_OVER = ("done", "ended early", "stopped by", "diverged", "failed", "gone")


@dataclasses.dataclass(frozen=True)
class Comparison:
    """All that differs between runs.

    Attributes:
      runs: the runs.
      metric: the metric that the verdict is about.
      rises: whether its largest value is the best; None: not known.
      step: the evaluated step that is compared; None: the last one of each run.
      options, origin: name -> value in each run, of the options, and of the versions and packages,
        that differ.
      settings: the runs with the same options but for the seed.
      verdict: the result.
      notes: what limits the comparison.
      profiles: label of a run -> its profile against that of the first run that has one.
    """

    runs: Sequence[ComparedRun]
    metric: str
    rises: bool | None
    step: int | None
    options: Rows
    origin: Rows
    settings: Sequence[Setting]
    verdict: Verdict
    notes: Sequence[str]
    profiles: Mapping[tuple[str, str], ProfileComparison]

    def metric_names(self) -> list[str]:
        """Returns the metrics of the compared step, the main one first."""
        names = (name for run in self.runs for name in run.metrics_at(self.step))
        return list(dict.fromkeys([self.metric, *names]))

    def metric_rows(self) -> Rows:
        """Returns the metrics at the compared step, with those of single classes."""
        return {
            name: [_figure(run.metrics_at(self.step).get(name)) for run in self.runs]
            for name in self.metric_names()
        }

    def best_rows(self) -> Rows:
        """Returns the best value of the metric in each run, and its step; empty if unknown."""
        if self.rises is None:
            return {}
        mode = "max" if self.rises else "min"
        best = [best_evaluation(run.evaluations, self.metric, mode) for run in self.runs]
        return {
            f"best {self.metric}": [_figure(e and e.metrics[self.metric]) for e in best],
            "at step": ["" if e is None else str(e.step) for e in best],
        }

    def step_rows(self) -> Rows:
        """Returns the metric at all steps that at least two runs have evaluated, the last first."""
        steps = sorted({e.step for run in self.runs for e in run.evaluations})
        cells = {
            str(step): [_figure(run.metrics_at(step).get(self.metric)) for run in self.runs]
            for step in reversed(steps)
        }
        return {step: row for step, row in cells.items() if sum(map(bool, row)) > 1}

    def speed_rows(self) -> Rows:
        """Returns speed, time and memory."""
        rows = {
            title: [text(run.result) for run in self.runs] for title, text in _SPEED_CELLS.items()
        }
        return {title: row for title, row in rows.items() if any(row)}

    def curves(self) -> Curves:
        """Returns the curves of all figures: the metric, losses, and the others."""
        losses = [prefix + name for name in ("loss", "total_loss") for prefix in ("", TRAINING)]
        curves: Curves = {name: {} for name in (self.metric, *losses, *self.metric_names())}
        for run in self.runs:
            for prefix, rows in (("", run.evaluations), (TRAINING, run.losses)):
                for name, points in _curves(rows).items():
                    curves.setdefault(prefix + name, {})[run.label] = points
        return {name: lines for name, lines in curves.items() if lines}


def compare_runs(
    runs: Sequence[ComparedRun], *, metric: str = "", mode: str | None = None
) -> Comparison:
    """Compares runs.

    Args:
      runs: at least two.
      metric: of the verdict; empty: the main metric of the first run.
      mode: `max` or `min`, the best value of the metric; None: as its name says.

    Raises:
      ConfigError: no run has the metric, or no run has evaluated.
    """
    metric = _check_metric(runs, metric)
    rises = _direction(metric, mode, runs)
    step, notes = _common_step(runs, metric)
    options = _by_name(differing_options(run.record.blocks for run in runs))
    settings = find_settings(runs, options, metric, step)
    return Comparison(
        runs=runs,
        metric=metric,
        rises=rises,
        step=step,
        options=options,
        origin=_by_name(differing_options((run.record.blocks for run in runs), origin=True)),
        settings=settings,
        verdict=judge(settings, metric, rises=rises),
        notes=[*notes, *_notes(runs), *_not_finite(runs, metric, step), *repeated_seeds(settings)],
        profiles=dict(_profiles(runs)),
    )


def _check_metric(runs: Sequence[ComparedRun], metric: str) -> str:
    names = dict.fromkeys(name for run in runs for e in run.evaluations for name in e.metrics)
    if not names:
        raise ConfigError(
            f"none of the runs {listed(run.name for run in runs)} has evaluated; evaluate them, "
            "such as by tf-frame run --evaluate --model_dir FOLDER"
        )
    if metric and metric not in names:
        near = nearest(metric, names)
        hint = f"did you mean {near}?" if near else f"there are {listed(names)}"
        raise ConfigError(f"--metric {brief(metric)}: no run has evaluated it; {hint}")
    main = (run.record.metric for run in runs if run.record.metric in names)
    return metric or next(main, next(iter(names)))


def _direction(metric: str, mode: str | None, runs: Sequence[ComparedRun]) -> bool | None:
    given = filter(None, (run.best_mode(metric) for run in runs))
    with contextlib.suppress(ConfigError):
        return higher_is_better(metric, mode or next(given, None), "")
    return None


def _common_step(runs: Sequence[ComparedRun], metric: str) -> tuple[int | None, list[str]]:
    """Returns the last step that all runs have evaluated, and notes on runs that went further."""
    evaluated = [run for run in runs if any(metric in e.metrics for e in run.evaluations)]
    steps = [{e.step for e in run.evaluations if metric in e.metrics} for run in evaluated]
    without = [run.label for run in runs if run not in evaluated]
    notes = [f"{listed(without)} without {metric}: not compared"] if without else []
    common = set.intersection(*steps)
    if not common:
        return None, [*notes, "no step was evaluated by all runs; the last one of each is compared"]
    step = max(common)
    if further := [run.label for run, own in zip(evaluated, steps, strict=True) if max(own) > step]:
        notes.append(
            f"compared at step {step}, the last one that all evaluated; {listed(further)} went on"
        )
    return step, notes


def _notes(runs: Sequence[ComparedRun]) -> Iterator[str]:
    for run in runs:
        yield from (f"{run.label}: {fault}" for fault in run.faults)
        if not run.record.state.startswith(_OVER):
            yield f"{run.label} is not over: {run.record.state}"
        elif run.record.state in ("diverged", "failed", "gone"):
            yield f"{run.label} {run.record.state}: {run.record.fault or 'without a reason'}"


def _not_finite(runs: Sequence[ComparedRun], metric: str, step: int | None) -> Iterator[str]:
    for run in runs:
        value = run.metrics_at(step).get(metric, 0.0)
        if not math.isfinite(value):
            yield f"{metric} of {run.label} is {value}: not compared"


def _by_name(of_runs: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    names = dict.fromkeys(name for values in of_runs for name in values)
    return {name: [values.get(name, "") for values in of_runs] for name in names}


def _curves(rows: Sequence[Evaluation]) -> dict[str, list[tuple[int, float]]]:
    curves: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        for name, value in row.metrics.items():
            curves.setdefault(name, []).append((row.step, value))
    return curves


def _profiles(
    runs: Sequence[ComparedRun],
) -> Iterator[tuple[tuple[str, str], ProfileComparison]]:
    """Yields the comparisons of the newest profiles with the first of them."""
    having = [run for run in runs if any(f.steps for f in list_folders(run.record.folder))]
    if len(having) < 2:
        return
    first, *others = having
    for run in others:
        folders = (first.record.folder, run.record.folder)
        # A profile of another version cannot be read, and the rest can.
        with contextlib.suppress(TfFrameError):
            yield (first.label, run.label), compare(*map(_newest_report, folders))


@functools.cache
def _newest_report(folder: str) -> Any:
    recorded = read_recorded_run(folder)
    path = os.path.join(folder, "plugins", "profile", recorded.name)
    return build_report(recorded.profiles, run=path, max_operations=None)


def _figure(value: float | None) -> str:
    if value is None:
        return ""
    # A count, such as of pixels.
    return f"{value:.0f}" if value.is_integer() and abs(value) >= _LEAST_COUNT else figure(value)


def _number(name: str, form: str = "{:.2f}", of: str = "") -> Callable[[Mapping[str, Any]], str]:
    def text(result: Mapping[str, Any]) -> str:
        values = result.get(of) if of else result
        value = values.get(name) if isinstance(values, Mapping) else None
        return form.format(value) if isinstance(value, (int, float)) else ""

    return text


def _flops(result: Mapping[str, Any]) -> str:
    rate, peak = (result.get(name) for name in ("gflops_per_sec", "peak_gflops"))
    return gflops_text(rate and rate * 1e9, peak and peak * 1e9).replace(" GFLOP/s", "")


def _memory(result: Mapping[str, Any]) -> str:
    value = result.get("peak_memory_bytes")
    return readable_bytes(value) if isinstance(value, int) else ""


_SPEED_CELLS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "steps/s": _number("steps_per_sec"),
    "examples/s": _number("examples_per_sec", "{:.1f}"),
    "GFLOP/s": _flops,
    "waits for input": _number("input_share", "{:.0%}"),
    "median step, s": _number("p50_secs", "{:.4g}", "step_times"),
    "p90 step, s": _number("p90_secs", "{:.4g}", "step_times"),
    "duration, s": _number("duration_secs", "{:.0f}"),
    "start, s": _number("start", "{:.1f}", "phase_secs"),
    "graph, s": _number("graph", "{:.1f}", "phase_secs"),
    "peak memory": _memory,
}
