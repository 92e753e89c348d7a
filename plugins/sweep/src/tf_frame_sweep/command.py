"""`tf-frame sweep`: searches for the options with the best metric. Optuna is imported by `run`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from tf_frame import Command, option


class Sweep(Command):
    """Trains with other options in each trial, and finds the best ones.

    tf-frame sweep --trials 20 --metric accuracy --space "learning_rate=log 0.001..1"
      --space optimizer=momentum,adam -- run --plugin classification --eval_every_n_steps 100

    Each trial is a run with a folder of its own. The same command goes on where it was stopped.
    """

    usage: ClassVar[str] = "[OPTIONS] -- run --plugin NAME [OPTIONS OF THE RUN]"
    passes_words_on: ClassVar[bool] = True

    @dataclasses.dataclass(frozen=True)
    class Params:
        """Options of the search; those of the runs follow after `-- run`."""

        space: tuple[str, ...] = option(
            (),
            "OPTION=VALUES: 'log 0.001..1' or 0..0.9 (real numbers), '64..256 step 64' (whole "
            "numbers), momentum,adam (choices; with | instead of commas if a value has some); "
            "repeatable",
            verbatim=True,
        )
        metric: str = option("loss", "metric of the last evaluation of each run")
        mode: str | None = option(
            None,
            "the best value is the largest or the smallest; none: as the metric's name says",
            choices=("max", "min"),
        )
        trials: int = option(20, "trials of the whole sweep", min=1)
        seeds: int = option(
            1, "runs of each trial with other --random_seed; their mean counts", min=1
        )
        parallel: int = option(
            1, "trials at the same time; they share the cores and GPUs of the machine", min=1
        )
        sampler: str = option(
            "tpe",
            "how options are chosen; grid: all combinations, in random order",
            choices=("tpe", "random", "grid", "cma_es"),
        )
        pruner: str = option(
            "median",
            "how hopeless trials are ended early, by evaluations during training",
            choices=("median", "hyperband", "none"),
        )
        sampler_seed: int = option(1, "seed of the sampler", min=0)
        sweep_dir: str = option(
            "", "folder of the study and its runs; empty: one below sweeps for the same command"
        )
        storage: str = option(
            "",
            "another storage of Optuna, such as mysql://host/database, for several machines; "
            "empty: a file in the folder",
        )
        max_failures: int = option(3, "end the sweep after so many trials that failed", min=1)

    def run(self, words: Sequence[str]) -> int:
        """Runs trials until there are as many as asked for; returns the exit code."""
        from tf_frame_sweep.main import main

        return main(self.params, words)
