"""Starts `probe` in a child process, and waits for its answers at most for a time."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Any

PROGRAM = (sys.executable, "-m", "tf_frame.cli.doctor.probe")
# Importing TensorFlow takes 3 s from a disk, and minutes from some network file systems.
_MAX_SECS = 120.0


@dataclasses.dataclass(frozen=True)
class Answer:
    """Result of a part of `probe`, or the reason why there is none.

    Attributes:
      result: what the part returned.
      error: the exception, the crash or the time limit; empty after success.
      tried: False if the process ended before this part began.
    """

    result: Any = None
    error: str = ""
    tried: bool = True


class Child:
    """A process that runs parts of `probe` while this one goes on; ended with the `with` block.

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
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
    """Text about the end of a process that did not answer, with the last line that it wrote."""
    how = f"exit code {code}"
    if code < 0:
        how = signal.strsignal(-code) or f"signal {-code}"
    last = [line.strip() for line in err.splitlines() if line.strip()][-1:]
    return ": ".join([f"the process ended by itself ({how})", *last])


def _parsed(names: Sequence[str], out: str, ending: str) -> dict[str, Answer]:
    found: dict[str, Answer] = {}
    begun = ""
    whole = out.rpartition("\n")[0]  # A killed process may leave a part of a line.
    for line in map(json.loads, whole.splitlines()):
        if "begins" in line:
            begun = line["begins"]
            found[begun] = Answer(error=ending)  # Unless its second line follows.
        else:
            found[begun] = Answer(line.get("result"), line.get("error", ""))
    if names and not found:
        found[names[0]] = Answer(error=ending)
    return {name: found.get(name, Answer(error=ending, tried=False)) for name in names}
