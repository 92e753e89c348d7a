"""Damages data sets, configurations, options and files of runs; tells what is not refused well.

    python tools/fuzz/fuzz.py --count 300                  300 damaged data sets of each kind
    python tools/fuzz/fuzz.py coco yolo --seed 1000 --count 50
    python tools/fuzz/fuzz.py coco --seed 1017 --count 1 --keep /tmp/case
    python tools/fuzz/fuzz.py configurations options side_files --count 500 --secs 10 --memory 1000

The input is constructed and gives its report, a part of the cases also batches; converters convert
the data; a part of the cases also trains, evaluates and predicts by the commands. Allowed are
success and a `TfFrameError` of one line. Faults are: another exception, a crash, more than `--secs`
seconds, more than `--memory` MB, a file that is read or written outside of the folder of the data,
control characters in the output of a command.

`configurations` are files of `--config`, `options` are values and names of options of all commands,
and `side_files` are the files in the folder of a run and the variables of a cluster. They are
parsed or read by the commands; a line of more than 300 characters is a fault, too.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from cases import run_cases
from command_cases import COMMAND_KINDS
from data_sets import KINDS

_ALL = (*KINDS, *COMMAND_KINDS)
# Of the first case: the process imports TensorFlow before.
_START_SECS = 120


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the cases, and prints each fault and a summary; returns 1 if there are faults."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(_ALL)}; default: all")
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
    parser.add_argument("--trained", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    unknown = set(options.kinds) - set(_ALL)
    if unknown:
        parser.error(f"no kind {', '.join(sorted(unknown))}; there are {', '.join(_ALL)}")
    if options.child:
        run_cases(options)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        options.trained = os.path.join(folder, "trained")
        return int(_has_faults(options))


def _has_faults(options: argparse.Namespace) -> bool:
    """Runs the cases, and prints faults and summaries."""
    has_faults = False
    with _Child(options) as child:
        for kind in options.kinds or _ALL:
            outcomes, most = collections.Counter(), 0
            for seed in range(options.seed, options.seed + options.count):
                outcome, text, memory = child.run(kind, seed)
                outcomes[outcome], most = outcomes[outcome] + 1, max(most, memory)
                is_fault = outcome not in ("used", "refused")
                has_faults = has_faults or is_fault
                if is_fault or options.all:
                    print(f"{kind} --seed {seed}: {outcome}: {text.strip()}", flush=True)
            counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
            print(f"{kind}: {counts}; at most {most} MB", flush=True)
    return has_faults


class _Child:
    """A process that runs the cases; one that hangs or dies is replaced.

    Args:
      options: those of the command line.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self._options, self._process = options, None
        self._has_run_sessions = False

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *failure: object) -> None:
        self._end()

    def run(self, kind: str, seed: int) -> tuple[str, str, int]:
        """Returns outcome, text and MB of a case."""
        # A command's own process ends in time by itself.
        if kind in COMMAND_KINDS and self._has_run_sessions:
            # Commands are forked, and TensorFlow's threads do not follow.
            self._end()
        self._has_run_sessions = kind not in COMMAND_KINDS
        secs = self._options.secs * (2 if kind in COMMAND_KINDS else 1)
        secs += _START_SECS if self._process is None else 0
        process = self._process = self._process or self._start()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(f"{json.dumps([kind, seed])}\n".encode())
        process.stdin.flush()
        is_ready, _, _ = select.select([process.stdout], [], [], secs)
        line = process.stdout.readline() if is_ready else b""
        if line:
            outcome, text, memory = json.loads(line)
            return outcome, text, memory
        self._end()
        return ("crash", "the process died", 0) if is_ready else ("hang", f"{secs:g} s", 0)

    def _start(self) -> subprocess.Popen[bytes]:
        options = self._options
        # -B: bytecode, written at a first import, would be a file outside of the folder.
        command = [sys.executable, "-B", __file__, "--child", "--memory", str(options.memory)]
        command += ["--batches", str(options.batches), "--commands", str(options.commands)]
        command += ["--secs", str(options.secs), "--trained", options.trained]
        command += ["--keep", options.keep] if options.keep else []
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


if __name__ == "__main__":
    sys.exit(main())
