"""`Setting`: runs that differ in the seed only. The spread of their values is the noise."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from tf_frame.config import option_groups as groups
from tf_frame.config.option import declared_options
from tf_frame.runs.comparison.compared_run import ComparedRun

SEED = "random_seed"
# Options that save, show, evaluate or stop, or change the last bits of a step alone.
_WITHOUT_EFFECT = frozenset(
    [
        SEED,
        "model_dir",
        "evaluate",
        "eval_batch_size",
        "strict",
        "intra_op_threads",
        "inter_op_threads",
        *(
            option.name
            for group in (
                groups.CheckpointOptions,
                groups.LoopOptions,
                groups.ProfilingOptions,
                groups.OutputOptions,
            )
            for option in declared_options(group)
        ),
    ]
)


@dataclasses.dataclass(frozen=True)
class Setting:
    """Runs of the same setting.

    Attributes:
      runs: the runs.
      name: the options that differ from those of the other settings, or the labels of the runs.
      values: the finite values of the compared metric, one of each seed.
    """

    runs: Sequence[ComparedRun]
    name: str
    values: Sequence[float]

    @property
    def labels(self) -> str:
        """The labels of the runs, such as `A, B`."""
        return ", ".join(run.label for run in self.runs)

    @property
    def mean(self) -> float:
        """The mean of the values; NaN without any."""
        return math.fsum(self.values) / len(self.values) if self.values else math.nan

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the values; None: there are fewer than two."""
        if len(self.values) < 2:
            return None
        squares = math.fsum((value - self.mean) ** 2 for value in self.values)
        return math.sqrt(squares / (len(self.values) - 1))


def find_settings(
    runs: Sequence[ComparedRun],
    differing: Mapping[str, Sequence[str]],
    metric: str,
    step: int | None,
) -> list[Setting]:
    """Groups runs by the options that differ, apart from seeds and what has no effect on a step.

    Args:
      runs: all runs.
      differing: option -> its value in each run, for the options that differ.
      metric, step: the values to compare; see `ComparedRun.metrics_at`.
    """
    names = [name for name in differing if name not in _WITHOUT_EFFECT]
    by_values: dict[tuple[str, ...], list[ComparedRun]] = {}
    for number, run in enumerate(runs):
        key = tuple(differing[name][number] for name in names)
        by_values.setdefault(key, []).append(run)
    return [
        Setting(members, _name(names, key), _values(members, metric, step))
        for key, members in by_values.items()
    ]


def _values(runs: Sequence[ComparedRun], metric: str, step: int | None) -> list[float]:
    """Returns the finite values, one of each seed: a repeated run is no further evidence."""
    values: dict[str, float] = {}
    for run in runs:
        value = run.metrics_at(step).get(metric)
        if value is not None and math.isfinite(value):
            values.setdefault(run.options.get(SEED, ""), value)
    return list(values.values())


def repeated_seeds(settings: Sequence[Setting]) -> list[str]:
    """Returns a line for each run with the options and the seed of an earlier one."""
    lines = []
    for setting in settings:
        first: dict[str, ComparedRun] = {}
        for run in setting.runs:
            earlier = first.setdefault(run.options.get(SEED, ""), run)
            if earlier is not run:
                lines.append(f"{run.label} repeats {earlier.label}, its seed too: it counts once")
    return lines


def _name(names: Sequence[str], values: Sequence[str]) -> str:
    return ", ".join(f"{n} {v or 'empty'}" for n, v in zip(names, values, strict=True))
