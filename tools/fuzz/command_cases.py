"""Runs commands on fuzzed configurations, options and side files, each in a forked process.

A fault is a traceback, a line of an error, a warning or a note with more than 300 characters, more
memory or more time than allowed, and control characters in the output.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import io
import os
import pickle
import random
import re
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from changes import damage
from command_words import RUN, odd_command
from data_sets import KINDS
from odd_values import odd_cluster, write_odd_configuration

LONGEST_LINE = 300
# Control characters that no output may have: they steer a terminal.
CONTROL = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_MESSAGE = re.compile(r"(tf-frame|warning|note|error)\b", re.IGNORECASE)
_DEATH_SIGNAL = 1  # of prctl(2): the child ends with its parent
_DATA = "class_folders"
_TRAINING_SECS = 300
_TRAINING = {
    "plugin": "classification",
    "max_steps": 2,
    "train_batch_size": 2,
    "eval_batch_size": 2,
    "save_checkpoint_steps": 1,
    "keep_best": 2,
    "best_metric": "accuracy",
    "model": {"name": "lenet"},
    "input": {"name": "image_folder", "data_dir": "data", "image_size": 28},
    "optimizer": {"name": "momentum", "momentum": 0.9},
    "schedule": {"name": "fixed"},
    "transforms": [{"name": "clip_by_norm", "norm": 10.0}],
    "hooks": [{"name": "csv", "path": "more.csv"}],
    "versions": {"tf-frame": "0.1.0"},
    "lock": {"tf-frame": {"sha256": "ab", "plugins": ["momentum"]}},
}
_MODEL_DIR = "model"
_READERS = {
    "tasks": (("status", _MODEL_DIR),),
    "eval": (("evaluate", _MODEL_DIR),),
    "": (
        ("run", "--model_dir", _MODEL_DIR, "--max_steps", "3"),
        ("predict", _MODEL_DIR, "--output", "predictions", "--format", "csv"),
        ("evaluate", _MODEL_DIR),
    ),
}
_SIDE_FILES = ("config.yaml", "checkpoint", "run.lock", "data.json", "input.json", "result.json")
_SIDE_FILES += ("metrics.csv", "best/best.json", "best/checkpoint", "tasks/chief-0.json")
_SIDE_FILES += ("eval/metrics.json", "profile_request.json")


def run_command_case(
    name: str, root: Path, seed: int, options: argparse.Namespace
) -> tuple[str, str, int]:
    """Returns outcome, description and MB of a case of `COMMAND_KINDS`."""
    chance = random.Random(f"{name} {seed}")
    if name == "side_files" and not os.path.isdir(options.trained):
        _train(options.trained)
    what, run = COMMAND_KINDS[name](chance, seed, options.trained)
    code, text, memory = _forked(run, root, options.secs)
    described = f"{what}: exit {code}: {text[-3000:]}"
    return _outcome(code, text, memory > options.memory), described, memory


def _outcome(code: int | str, text: str, is_large: bool) -> str:
    if is_large:
        return "memory"
    if isinstance(code, str):
        return code
    if "Traceback" in text or code not in (0, 1, 2):
        return "exception"
    if CONTROL.search(text):
        return "control"
    if any(len(line) > LONGEST_LINE for line in text.splitlines()):
        return "text"
    return "refused" if code else "used"


def _forked(run: Callable[[], int], root: Path, secs: float) -> tuple[int | str, str, int]:
    """Runs a function in a child, in the folder `root`; returns its code, messages and MB."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
        signal.setitimer(signal.ITIMER_REAL, secs)
        os.chdir(root)
        with os.fdopen(write, "wb") as file:
            pickle.dump(_captured(run), file)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        answer = file.read()
    _, status, used = os.wait4(child, 0)
    memory = used.ru_maxrss // 1024
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return "hang" if number == signal.SIGALRM else "crash", f"signal {number}", memory
    code, text = pickle.loads(answer)
    return code, text, memory


def _captured(run: Callable[[], int]) -> tuple[int, str]:
    """Returns the exit code of a command, and its messages."""
    out, errors = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            code = run()
    except SystemExit as error:
        code = int(error.code or 0)
    except BaseException:  # A traceback is the fault that the fuzzer looks for.
        return 1, traceback.format_exc()[-3000:]
    notes = [line for line in out.getvalue().splitlines() if _MESSAGE.match(line)]
    return code, "\n".join([*notes, errors.getvalue()])


def _train(folder: str) -> None:
    """Trains the run whose files are damaged."""
    KINDS[_DATA].write(Path(folder, "data"))
    words = [*RUN, "--model_dir", _MODEL_DIR, "--max_steps", "2", "--save_checkpoint_steps", "1"]
    words += ["--train_batch_size", "2", "--eval_batch_size", "2", "--keep_best", "2"]
    words += ["--eval_every_n_steps", "1", "--noevaluate", "--best_metric", "accuracy"]
    for run in (_main(*words), _main("evaluate", _MODEL_DIR)):
        code, text, _ = _forked(run, Path(folder), _TRAINING_SECS)
        if code:
            raise RuntimeError(f"the run to be damaged failed: {text}")


def _main(*words: str) -> Callable[[], int]:
    from tf_frame.cli.main import main

    return lambda: main(words)


def _configuration(chance: random.Random, seed: int, trained: str) -> tuple[str, Callable[[], int]]:
    content = {**_TRAINING}
    state = random.Random(chance.random())
    words = ["run", "--config", "config.yaml", "--print_config"]
    words += ["--locked"] if chance.random() < 0.2 else []

    def run() -> int:
        if seed < 0:
            import yaml

            Path("config.yaml").write_text(yaml.safe_dump(content))
        else:
            print("note:", write_odd_configuration(Path("config.yaml"), content, state)[:200])
        return _main(*words)()

    return " ".join(words), run


def _option(chance: random.Random, seed: int, trained: str) -> tuple[str, Callable[[], int]]:
    words = odd_command(chance) if seed >= 0 else [*RUN, "--print_config"]
    return " ".join(map(repr, words))[:2000], _main(*words)


def _side_file(chance: random.Random, seed: int, trained: str) -> tuple[str, Callable[[], int]]:
    if seed >= 0 and chance.random() < 0.25:
        variables = odd_cluster(chance)
        return f"variables {str(variables)[:1000]}", lambda: _find_cluster(variables)
    file = chance.choice(_SIDE_FILES)
    words = chance.choice(_READERS.get(file.partition("/")[0], _READERS[""]))
    state = random.Random(chance.random())

    def run() -> int:
        shutil.copytree(trained, ".", dirs_exist_ok=True)
        path = Path(_MODEL_DIR, file)
        if not path.exists():
            path.write_text('{"label": "a", "steps": 1}')
        if seed >= 0:
            print("note:", damage(path, state, Path("outside"))[:200])
        return _main(*words)()

    return f"{file}: {' '.join(words)}", run


def _find_cluster(variables: dict[str, str]) -> int:
    from tf_frame.cluster.find import find_cluster
    from tf_frame.config.run_options import RunOptions
    from tf_frame.errors import TfFrameError

    for source in ("environment", "slurm"):
        try:
            find_cluster(RunOptions(cluster_from=source), variables)
        except TfFrameError as error:
            print(f"tf-frame: {error}", file=sys.stderr)
            return error.exit_code
    return 0


COMMAND_KINDS = {
    "configurations": _configuration,
    "options": _option,
    "side_files": _side_file,
}
