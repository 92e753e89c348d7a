"""`Setting`: runs with the same options but for the seed, whose values say how large noise is."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from tf_frame.config import option_groups as groups
from tf_frame.config.option import declared_options
from tf_frame.runs.comparison.compared_run import ComparedRun

SEED = "random_seed"
# Options that save, show or stop, and do not change what a step computes.
_WITHOUT_EFFECT = frozenset(
    [
        SEED,
        "model_dir",
        "evaluate",
        "strict",
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
      values: the compared metric of the runs that have it.
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
    settings = []
    for key, members in by_values.items():
        found = (run.metrics_at(step).get(metric) for run in members)
        values = [value for value in found if value is not None]
        settings.append(Setting(members, _name(names, key), values))
    return settings


def _name(names: Sequence[str], values: Sequence[str]) -> str:
    return ", ".join(f"{n} {v or 'empty'}" for n, v in zip(names, values, strict=True))
