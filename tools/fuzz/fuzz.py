"""Damages small data sets at random, and tells which damage is not refused in one line.

    python tools/fuzz/fuzz.py --count 300                  300 damaged data sets of each kind
    python tools/fuzz/fuzz.py coco yolo --seed 1000 --count 50
    python tools/fuzz/fuzz.py coco --seed 1017 --count 1 --keep /tmp/case

The input is constructed, and gives its report and its first batches. Allowed are success and a
`TfFrameError` of one line. Faults are: another exception, a crash, more than `--secs` seconds, more
than `--memory` MB, a file that is read or written outside of the folder of the data.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import os
import random
import select
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from data_sets import KINDS, Kind

# Of the first case: the process imports TensorFlow before.
_START_SECS = 120
_BATCHES = 2


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
    parser.add_argument("--keep", help="folder for the data sets of faults")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    unknown = set(options.kinds) - set(KINDS)
    if unknown:
        parser.error(f"no kind {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    if options.child:
        _run_cases(options)
        return 0
    outcomes = collections.Counter()
    for kind in options.kinds or KINDS:
        for seed, outcome, text in _results(kind, options):
            outcomes[kind, outcome] += 1
            if outcome not in ("used", "refused"):
                print(f"{kind} --seed {seed}: {outcome}: {text}", flush=True)
        counts = (f"{n} {outcome}" for (k, outcome), n in sorted(outcomes.items()) if k == kind)
        print(f"{kind}: {', '.join(counts)}", flush=True)
    return int(any(outcome not in ("used", "refused") for _, outcome in outcomes))


def _results(kind: str, options: argparse.Namespace) -> Iterator[tuple[int, str, str]]:
    """Yields seed, outcome and text of each case; a process that hangs or dies is replaced."""
    seed, end = options.seed, options.seed + options.count
    while seed < end:
        command = [sys.executable, __file__, kind, "--child", "--seed", str(seed)]
        command += ["--count", str(end - seed), "--memory", str(options.memory)]
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
                    yield seed, "crash" if ready else "hang", what
                    seed += 1
                    break
                yield (seed, *json.loads(line))
                seed += 1


def _run_cases(options: argparse.Namespace) -> None:
    """Runs cases in this process, and prints outcome and text of each."""
    (name,) = options.kinds
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for seed in range(options.seed, options.seed + options.count):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            outcome, text = _run_case(KINDS[name], root, seed, options.memory)
            if options.keep and outcome not in ("used", "refused"):
                shutil.copytree(root / "data", Path(options.keep) / f"{name}-{seed}")
        print(json.dumps([outcome, text]), file=results, flush=True)


def _run_case(kind: Kind, root: Path, seed: int, memory: int) -> tuple[str, str]:
    """Returns the outcome of a case, and a description."""
    from changes import damage

    data, outside, chance = root / "data", root / "outside", random.Random(seed)
    kind.write(data)
    canary = _write_canary(outside)
    damages = []
    for _ in range(chance.choice((1, 1, 1, 2)) if seed >= 0 else 0):
        pattern = chance.choice(kind.damaged)
        path = chance.choice(sorted(path for path in data.glob(pattern) if path.is_file()))
        damages.append(damage(path, chance, outside))
    skip_corrupt = chance.random() < 0.5
    what = ", ".join([*damages, *(["skip_corrupt"] if skip_corrupt else [])])
    Path("/proc/self/clear_refs").write_text("5")
    outcome, text = _use(kind, data, skip_corrupt)
    if _is_changed(canary) or sorted(path.name for path in root.iterdir()) != ["data", "outside"]:
        outcome = "outside"
    if _peak_memory() > memory:
        outcome, text = "memory", f"{_peak_memory()} MB; {text}"
    return outcome, f"{what}: {text}"


def _use(kind: Kind, data: Path, skip_corrupt: bool) -> tuple[str, str]:
    from tf_frame.errors import PluginError, TfFrameError

    try:
        _read_batches(kind, data, skip_corrupt)
    except TfFrameError as error:
        is_fault = isinstance(error, PluginError) or "\n" in str(error)
        return "text" if is_fault else "refused", str(error)
    except Exception:
        return "exception", traceback.format_exc()[-3000:]
    return "used", ""


def _read_batches(kind: Kind, data: Path, skip_corrupt: bool) -> None:
    import tensorflow.compat.v1 as tf

    from tf_frame import InputContext, Mode
    from tf_frame.errors import NoDataError
    from tf_frame.plugin.data_warnings import find_data_report
    from tf_frame.plugin.kinds import INPUT
    from tf_frame.runs.error_translation import translated_errors
    from tf_frame.testing.elements import read_elements
    from tf_frame.testing.toy import installed_plugin

    values = {"data_dir": str(data), "skip_corrupt": skip_corrupt, **kind.options}
    named = {f"input.{name}": value for name, value in values.items()}
    source = installed_plugin(INPUT, kind.input, named, "input").make()
    source.notes()
    find_data_report(source)
    for mode in (Mode.TRAIN, Mode.EVAL):
        with (
            contextlib.suppress(NoDataError),
            tf.Graph().as_default(),
            translated_errors(str(data), source),
        ):
            read_elements(source.dataset(mode, InputContext(batch_size=4)), _BATCHES)


def _write_canary(outside: Path) -> Path:
    """Writes an image that nothing may read; its time of access is that of 2001."""
    from PIL import Image

    outside.mkdir()
    path = outside / "canary.png"
    Image.new("RGB", (32, 24)).save(path)
    os.utime(path, (1e9, path.stat().st_mtime))
    return path


def _is_changed(canary: Path) -> bool:
    return canary.stat().st_atime != 1e9 or len(list(canary.parent.iterdir())) != 1


def _peak_memory() -> int:
    """Returns the greatest memory of the process since the last case began, in MB."""
    status: Any = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


if __name__ == "__main__":
    sys.exit(main())
