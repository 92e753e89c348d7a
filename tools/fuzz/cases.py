"""Runs cases of `fuzz.py` in this process: damages a data set, uses it, and finds faults."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from command_cases import COMMAND_KINDS, CONTROL, run_command_case
from data_sets import KINDS, Kind

# Examples of a data set of many damaged ones.
_MANY = 40
_BATCHES = 2
_SHORT = ("--train_batch_size", "2", "--eval_batch_size", "2", "--max_steps", "1")
_SMALL = {"classification": ("--model.name", "lenet")}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class _Opened:
    """Notes files that Python opens in a folder, or writes anywhere but in two others."""

    def __init__(self) -> None:
        self.root = ""
        self.wrong: list[str] = []
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: Any) -> None:
        if event != "open" or not self.root or not isinstance(arguments[0], (str, bytes)):
            return
        path = os.path.realpath(os.fsdecode(arguments[0]))
        outside = os.path.join(self.root, "outside")
        is_written = bool((arguments[2] or 0) & _WRITES) and not path.startswith("/dev/")
        if path.startswith(outside) or (is_written and not path.startswith(self.root)):
            self.wrong.append(path)


def run_cases(options: argparse.Namespace) -> None:
    """Runs the cases that are read, a kind and a seed each; prints outcome, text and MB."""
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    opened = _Opened()
    for line in sys.stdin:
        name, seed = json.loads(line)
        with tempfile.TemporaryDirectory() as folder:
            root = Path(os.path.realpath(folder))
            tempfile.tempdir = str(root / "temporary")
            os.mkdir(tempfile.tempdir)
            os.environ["XDG_CACHE_HOME"] = str(root / "cache")
            if name in COMMAND_KINDS:
                outcome, text, memory = run_command_case(name, root, seed, options)
            else:
                outcome, text = _run_case(KINDS[name], root, seed, options, opened)
                memory = _peak_memory()
            if options.keep and outcome not in ("used", "refused"):
                kept = root if name in COMMAND_KINDS else root / "data"
                _keep(kept, Path(options.keep) / f"{name}-{seed}")
            tempfile.tempdir = None
        print(json.dumps([outcome, text, memory]), file=results, flush=True)


def _keep(source: Path, target: Path) -> None:
    """Copies a folder with its pipes and links."""
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    os.spawnlp(os.P_WAIT, "cp", "cp", "-a", str(source), str(target))


def _run_case(
    kind: Kind, root: Path, seed: int, options: argparse.Namespace, opened: _Opened
) -> tuple[str, str]:
    """Returns the outcome of a case, and a description."""
    data, outside, chance = root / "data", root / "outside", random.Random(seed)
    kind.write(data)
    canary = _write_canary(outside)
    damages = _damage(kind, data, outside, chance) if seed >= 0 else []
    is_many = damages == ["many"]
    skip_corrupt = is_many or chance.random() < 0.5
    what = ", ".join([*damages, *(["skip_corrupt"] if skip_corrupt else [])])
    reads = is_many or seed < 0 or chance.random() < options.batches
    commands = chance.random() < options.commands
    Path("/proc/self/clear_refs").write_text("5")
    opened.root, opened.wrong = str(root), []
    outcome, text = _use(kind, root, skip_corrupt, reads, commands)
    opened.root = ""
    allowed = {"data", "outside", "temporary", "cache", "records", "model", "predictions", "files"}
    if opened.wrong or _is_changed(canary) or {path.name for path in root.iterdir()} - allowed:
        outcome, text = "outside", f"{opened.wrong}: {text}"
    if _peak_memory() > options.memory:
        outcome = "memory"
    return outcome, f"{what}: {text}"


def _damage(kind: Kind, data: Path, outside: Path, chance: random.Random) -> list[str]:
    from changes import damage, multiply

    if kind.multiplied and chance.random() < 0.3:
        multiply(_some_file(data, kind.multiplied, chance), chance, _MANY)
        return ["many"]
    damages = []
    for _ in range(chance.choice((1, 1, 1, 2))):
        path = _some_file(data, kind.damaged, chance)
        damages.append(damage(path, chance, outside))
    return damages


def _some_file(data: Path, patterns: Sequence[str], chance: random.Random) -> Path:
    paths: list[Path] = []
    while not paths:
        paths = sorted(path for path in data.glob(chance.choice(patterns)) if path.is_file())
        patterns = (*patterns, "**/*")
    return chance.choice(paths)


def _use(
    kind: Kind, root: Path, skip_corrupt: bool, reads: bool, commands: bool
) -> tuple[str, str]:
    from tf_frame.errors import PluginError, TfFrameError

    faults = [] if kind.input else [("used", "")]
    if kind.input:
        try:
            _read(kind, root / "data", skip_corrupt, reads)
            faults.append(("used", ""))
        except TfFrameError as error:
            is_fault = isinstance(error, PluginError) or "\n" in str(error)
            faults.append(("text" if is_fault else "refused", str(error)))
        except Exception:  # A traceback is the fault that the fuzzer looks for.
            return "exception", traceback.format_exc()[-3000:]
    faults += _run_commands(_convert_commands(kind, root, skip_corrupt))
    if commands and kind.input:
        faults += _run_commands(_commands(kind, root, skip_corrupt))
    order = ("exception", "text", "control", "refused", "used")
    return min(faults, key=lambda fault: order.index(fault[0]))


def _read(kind: Kind, data: Path, skip_corrupt: bool, reads: bool) -> None:
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
    # Records and images of evaluation are damaged; a training would repeat without an end.
    mode, limit = (Mode.EVAL, _MANY) if kind.multiplied else (Mode.TRAIN, _BATCHES)
    if reads:
        with (
            contextlib.suppress(NoDataError),
            tf.Graph().as_default(),
            translated_errors(str(data), source),
        ):
            read_elements(source.dataset(mode, InputContext(batch_size=4)), limit)


def _convert_commands(kind: Kind, root: Path, skip_corrupt: bool) -> Iterator[list[str]]:
    if kind.converter:
        words = ["convert", kind.converter, str(root / "data"), str(root / "records")]
        if kind.converter == "coco_panoptic":
            words += ["--split", "train"]
        yield [*words, "--shards", "1", *(["--skip_corrupt"] if skip_corrupt else [])]


def _commands(kind: Kind, root: Path, skip_corrupt: bool) -> Iterator[list[str]]:
    words = ["run", "--plugin", kind.plugin, "--input", kind.input]
    for name, value in {"data_dir": root / "data", **kind.options}.items():
        text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
        words.append(f"--input.{name}={text}")
    words += ["--input.skip_corrupt"] if skip_corrupt else []
    words += _SMALL.get(kind.plugin, ())
    yield [*words, "--print_data"]
    model = str(root / "model")
    yield [*words, *_SHORT, "--model_dir", model]
    yield ["evaluate", model]
    yield ["predict", model, "--output", str(root / "predictions"), "--format", "csv"]
    files = ["--input", str(root / "data"), "--output", str(root / "files")]
    yield ["predict", model, *files, *(["--input.skip_corrupt"] if skip_corrupt else [])]


def _run_commands(commands: Iterator[list[str]]) -> Iterator[tuple[str, str]]:
    """Yields outcome and output of each command until one fails."""
    from tf_frame.cli.main import main

    for words in commands:
        output = io.StringIO()
        try:
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                code = main(words)
        except SystemExit as error:
            code = error.code
        except BaseException:  # As above; the report tells it.
            yield "exception", f"{words[0]}: {traceback.format_exc()[-3000:]}"
            return
        text = output.getvalue()
        described = f"{' '.join(words[:2])}: exit {code}: {text[-3000:]}"
        if "Traceback" in text or code not in (0, 1, 2):
            yield "exception", described
        elif CONTROL.search(text):
            yield "control", f"{CONTROL.search(text)}: {described}"
        else:
            yield "refused" if code else "used", described
        if code:
            return


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
