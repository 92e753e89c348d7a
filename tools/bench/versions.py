"""Measures the training steps of this version of tf-frame over those of another one, in turns.

    python tools/bench/versions.py CHECKOUT [--starts 6] [--secs 60] [WORDS OF tf-frame run ...]

CHECKOUT is a working tree of the repository, such as `git worktree add /tmp/before main`. Both
versions train the same in processes of their own, by default deeplab; while one has its turn, the
other stands still. A ratio above 1 says that this version is faster. Two equal processes were seen
to differ by up to 5 % for their whole life, so both are started several times; the last line is
over all starts. With this working tree as CHECKOUT the figures show the noise.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path

from tf_frame.experiments.compare import FIRST_STEPS, compare_losses
from tf_frame.experiments.ratio import paired_ratio
from tf_frame.experiments.trial import Trial
from tf_frame.experiments.variant import Variant

_WORDS = ("--plugin", "deeplab")


def of_checkout(folder: str) -> Variant:
    """Returns the change of a training that takes all packages of a working tree."""
    root = Path(folder).resolve(strict=True)
    paths = [root / "framework", *sorted(root.glob("plugins/*/src"))]
    return Variant(environment={"PYTHONPATH": os.pathsep.join(map(str, paths))})


def compare_once(
    words: Sequence[str], other: Variant, secs: float, turn: float
) -> list[tuple[float, float]]:
    """Starts both versions; returns the seconds of the other and of this one in pairs of turns."""
    with Trial(other.words(words)) as before, Trial(words) as after:
        for trial in (before, after):
            trial.wait_until_ready()
            for _ in range(FIRST_STEPS):
                trial.train(1)
        took = [trial.train(FIRST_STEPS).secs for trial in (before, after)]
        steps = max(1, round(FIRST_STEPS * turn / min(took)))
        pairs: list[tuple[float, float]] = []
        end = time.monotonic() + secs
        while not pairs or time.monotonic() < end:
            # Load that grows meets both alike.
            order = (before, after) if len(pairs) % 2 else (after, before)
            by_trial = {trial: trial.train(steps).secs for trial in order}
            pairs.append((by_trial[before], by_trial[after]))
        print(f"{paired_ratio(pairs)}, {compare_losses(before, after)}", flush=True)
    return pairs


def main() -> None:
    """Prints the ratio of each start, whether the losses stay equal, and the ratio of all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("checkout", help="working tree of the other version")
    parser.add_argument("--starts", type=int, default=6, help="starts of both versions")
    parser.add_argument("--secs", type=float, default=60, help="seconds of the turns of a start")
    parser.add_argument("--turn", type=float, default=2, help="seconds of a turn")
    argv, words = parser.parse_known_args()
    other, words = of_checkout(argv.checkout), words or list(_WORDS)
    starts = [compare_once(words, other, argv.secs, argv.turn) for _ in range(argv.starts)]
    # The turns of a start are no independent samples of the differences between processes.
    totals = [(sum(before), sum(after)) for before, after in (zip(*p, strict=True) for p in starts)]
    print(f"all: {paired_ratio(totals)}")


if __name__ == "__main__":
    main()
