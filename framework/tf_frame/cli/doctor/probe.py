"""Runs imports that may crash, such as the import of TensorFlow, in a child process.

    python -m tf_frame.cli.doctor.probe tensorflow profile_tab plugins folder=gs://bucket/run

`Child` starts the process. Before each part (argument) the process writes the name of the
part, and after it the result or error, so that `Child` knows which part crashed.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tf_frame.file_system import write_probe

PROGRAM = (sys.executable, "-m", "tf_frame.cli.doctor.probe")
# Importing TensorFlow takes 3 s from a disk, and minutes from some network file systems.
_MAX_SECS = 120.0


@dataclasses.dataclass(frozen=True)
class Answer:
    """Result of a part, or the reason why there is none.

    Attributes:
      result: the value that the part returned.
      error: the exception, the crash or the time limit; empty after success.
      tried: False if the process ended before this part began.
    """

    result: Any = None
    error: str = ""
    tried: bool = True


class Child:
    """A child process that runs parts of this module; it ends with the `with` block.

    Args:
      parts: names of parts, or `name=argument`.
      max_secs: seconds after which the process is killed.
    """

    def __init__(self, parts: Sequence[str], *, max_secs: float = _MAX_SECS) -> None:
        self._names = [part.partition("=")[0] for part in parts]
        self._max_secs = max_secs
        self._process = subprocess.Popen(
            [*PROGRAM, *parts],
            env={"TF_CPP_MIN_LOG_LEVEL": "3", **os.environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *error: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()

    def answers(self) -> dict[str, Answer]:
        """Waits for the end of the process; returns the answer to each part by its name."""
        try:
            out, err = self._process.communicate(timeout=self._max_secs)
            ending = _ending(self._process.returncode, err)
        except subprocess.TimeoutExpired:
            self._process.kill()
            out, _ = self._process.communicate()
            ending = f"no answer after {self._max_secs:g} s"
        return _parsed(self._names, out, ending)


def _ending(code: int, err: str) -> str:
    """Describes the end of a process that did not answer, with the last line that it wrote."""
    reason = f"exit code {code}"
    if code < 0:
        reason = signal.strsignal(-code) or f"signal {-code}"
    last = [line.strip() for line in err.splitlines() if line.strip()][-1:]
    return ": ".join([f"the process ended by itself ({reason})", *last])


def _parsed(names: Sequence[str], out: str, ending: str) -> dict[str, Answer]:
    answers: dict[str, Answer] = {}
    begun = ""
    complete = out.rpartition("\n")[0]  # A killed process may leave a part of a line.
    for line in map(json.loads, complete.splitlines()):
        if "begins" in line:
            begun = line["begins"]
            answers[begun] = Answer(error=ending)  # Unless its second line follows.
        else:
            answers[begun] = Answer(line.get("result"), line.get("error", ""))
    if names and not answers:
        answers[names[0]] = Answer(error=ending)
    return {name: answers.get(name, Answer(error=ending, tried=False)) for name in names}


def main(parts: Sequence[str]) -> None:
    """Runs the parts in turn."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # An imported module may print.
    for part in parts:
        name, _, argument = part.partition("=")
        print(json.dumps({"begins": name}), file=answers, flush=True)
        print(json.dumps(_answer(PARTS[name], argument)), file=answers, flush=True)


def _answer(run: Callable[[str], Any], argument: str) -> dict[str, Any]:
    try:
        return {"result": run(argument)}
    except BaseException as error:  # An imported module may raise anything, SystemExit as well.
        text = " ".join(str(error).split())
        return {"error": f"{type(error).__name__}: {text}" if text else type(error).__name__}


def _tensorflow(_: str) -> dict[str, Any]:
    tf = importlib.import_module("tensorflow")
    gpus = tf.config.list_physical_devices("GPU")
    named = [tf.config.experimental.get_device_details(gpu).get("device_name") for gpu in gpus]
    return {
        "version": tf.__version__,
        "gpus": [name or gpu.name for name, gpu in zip(named, gpus, strict=True)],
        "cuda": tf.test.is_built_with_cuda(),
    }


def _profile_tab(_: str) -> None:
    for module in ("tensorboard.default", "xprof.profile_plugin"):
        importlib.import_module(module)


def _peak(_: str) -> dict[str, Any]:
    machine_peak = importlib.import_module("tf_frame.profiling.machine_peak")
    peak = machine_peak.measure_peak()
    kept = machine_peak.peak_file()
    try:
        machine_peak.write_peak(peak)
    except OSError as error:
        kept = f"no file: {error.strerror or error}"
    return {**dataclasses.asdict(peak), "kept": kept}


PARTS: dict[str, Callable[[str], Any]] = {
    "tensorflow": _tensorflow,
    "profile_tab": _profile_tab,
    "plugins": lambda _: importlib.import_module("tf_frame.cli.plugin_list").checked_plugins(),
    "peak": _peak,
    "folder": write_probe,
}

if __name__ == "__main__":
    main(sys.argv[1:])
