"""Damages small data sets at random, and tells which damage is not refused in one line.

    python tools/fuzz/fuzz.py --count 300                  300 damaged data sets of each kind
    python tools/fuzz/fuzz.py coco yolo --seed 1000 --count 50
    python tools/fuzz/fuzz.py coco --seed 1017 --count 1 --keep /tmp/case

The input is constructed and gives its report, a part of the cases also batches; converters convert
the data; a part of the cases also trains, evaluates and predicts by the commands. Allowed are
success and a `TfFrameError` of one line. Faults are: another exception, a crash, more than `--secs`
seconds, more than `--memory` MB, a file that is read or written outside of the folder of the data,
control characters in the output of a command.
"""

from __future__ import annotations

import argparse
import collections
import json
import select
import subprocess
import sys
from collections.abc import Iterator, Sequence

from cases import run_cases
from data_sets import KINDS

# Of the first case: the process imports TensorFlow before.
_START_SECS = 120


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the cases, and prints each fault and a summary; returns 1 if there are faults."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; default: all")
    parser.add_argument("--count", type=int, default=100, help="cases of each kind")
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the first case; below 0: no damage"
    )
    parser.add_argument("--secs", type=float, default=60, help="seconds for a case")
    parser.add_argument("--memory", type=int, default=1500, help="MB of the process")
    parser.add_argument(
        "--batches", type=float, default=0.2, help="part of the cases that reads examples, too"
    )
    parser.add_argument(
        "--commands", type=float, default=0, help="part that trains, evaluates and predicts, too"
    )
    parser.add_argument("--all", action="store_true", help="print each case, not only faults")
    parser.add_argument("--keep", help="folder for the data sets of faults")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    unknown = set(options.kinds) - set(KINDS)
    if unknown:
        parser.error(f"no kind {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    if options.child:
        run_cases(options)
        return 0
    has_faults = False
    for kind in options.kinds or KINDS:
        outcomes, most = collections.Counter(), 0
        for seed, outcome, text, memory in _results(kind, options):
            outcomes[outcome], most = outcomes[outcome] + 1, max(most, memory)
            is_fault = outcome not in ("used", "refused")
            has_faults = has_faults or is_fault
            if is_fault or options.all:
                print(f"{kind} --seed {seed}: {outcome}: {text}", flush=True)
        counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
        print(f"{kind}: {counts}; at most {most} MB", flush=True)
    return int(has_faults)


def _results(kind: str, options: argparse.Namespace) -> Iterator[tuple[int, str, str, int]]:
    """Yields seed, outcome, text and MB of each case; a process that hangs or dies is replaced."""
    seed, end = options.seed, options.seed + options.count
    while seed < end:
        command = [sys.executable, __file__, kind, "--child", "--seed", str(seed)]
        command += ["--count", str(end - seed), "--memory", str(options.memory)]
        command += ["--batches", str(options.batches), "--commands", str(options.commands)]
        command += ["--keep", options.keep] if options.keep else []
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
            assert child.stdout is not None
            secs = _START_SECS
            while seed < end:
                ready, _, _ = select.select([child.stdout], [], [], secs)
                line = child.stdout.readline() if ready else b""
                secs = options.secs
                if not line:
                    child.kill()
                    what = "the process died" if ready else f"no end within {secs:g} s"
                    yield seed, "crash" if ready else "hang", what, 0
                    seed += 1
                    break
                yield (seed, *json.loads(line))
                seed += 1


if __name__ == "__main__":
    sys.exit(main())
