"""Kills runs at random moments, lets them go on, and compares them with runs never killed.

    python tools/chaos/chaos.py --kills 7                    each kind is killed seven times
    python tools/chaos/chaos.py keep_best --kills 50 --seed 3 --keep /tmp/chaos

A run is killed up to three times before it may end: before a call that changes a file, or after a
random time. Its variables, `best/`, `metrics.csv`, evaluations and decisions must then be those of
the other run. Prints a line for each kind and each difference; returns 1 if there are any.
"""

from __future__ import annotations

import argparse
import functools
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from compare import differences
from killed import Ended, run_forked
from kinds import KINDS

_MOST_KILLS_OF_A_RUN = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; default: all")
    parser.add_argument("--kills", type=int, default=7, help="kills of each kind")
    parser.add_argument("--seed", type=int, default=0, help="of the moments of the kills")
    parser.add_argument("--keep", help="folder that keeps the runs; default: a temporary one")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.kinds) - set(KINDS))
    if unknown:
        parser.error(f"no kind {', '.join(unknown)}; there are {', '.join(KINDS)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.keep or temporary)
        kinds = options.kinds or list(KINDS)
        good = [_survives(kind, folder / kind, options.kills, options.seed) for kind in kinds]
    return 0 if all(good) else 1


def _survives(kind: str, folder: Path, kills: int, seed: int) -> bool:
    """Kills a kind of runs so often; prints and returns whether all ended as the other run."""
    folder.mkdir(parents=True)
    expected = _start(kind, folder / "unharmed")
    if expected.status != 0:
        print(f"{kind}: the run that is not killed fails; see {folder}/unharmed.log", flush=True)
        return False
    chance, killed, runs, faults = random.Random(f"{kind} {seed}"), 0, 0, 0
    while killed < kills:
        name = f"killed_{runs}"
        runs += 1
        killed += _kill(
            kind, folder / name, min(kills - killed, _MOST_KILLS_OF_A_RUN), expected, chance
        )
        for line in _faults(kind, folder, name):
            faults += 1
            print(f"{kind}, {folder / name}: {line}", flush=True)
    print(f"{kind}: {killed} kills in {runs} runs, {faults} differences", flush=True)
    return not faults


def _kill(kind: str, run: Path, kills: int, expected: Ended, chance: random.Random) -> int:
    """Starts a run until it has been killed so often or has ended; returns the kills."""
    for killed in range(kills):
        if chance.random() < 0.7:
            ended = _start(kind, run, write=chance.randint(1, expected.writes))
        else:
            ended = _start(kind, run, secs=chance.uniform(0, expected.secs))
        if not ended.is_killed:
            return killed
    return kills


def _faults(kind: str, folder: Path, name: str) -> Iterator[str]:
    ended = _start(kind, folder / name)
    if ended.status != 0:
        yield f"fails; see {folder / name}.log"
    else:
        yield from differences(folder / "unharmed", folder / name)


def _start(kind: str, run: Path, **moment: float | None) -> Ended:
    run.mkdir(exist_ok=True)
    log = run.with_suffix(".log")
    return run_forked(functools.partial(KINDS[kind].run, str(run)), log, **moment)


if __name__ == "__main__":
    sys.exit(main())
