"""`Trial`: a training in a process of its own, which runs only while it has the turn."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any, NamedTuple

from tf_frame.errors import TfFrameError
from tf_frame.text import short

# The words of the program that trains; the number of the pipe for the answers, the folder and the
# words of the run follow.
_PROGRAM = (sys.executable, "-m", "tf_frame.cli.trial")

# Blocked while a process is started.
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class TrialError(TfFrameError):
    """A training of an experiment ended early; the message is its last one."""


class Turn(NamedTuple):
    """The last step of a turn, the seconds of its steps, and the loss of the last step."""

    step: int
    secs: float
    loss: float


class Trial:
    """A training in a process of its own, which runs only while it has the turn.

    While it waits it is stopped as a whole (SIGSTOP): no thread of its input fills buffers during
    the turns of another trial, which would slow that one and flatter this one.

    Args:
      words: the words of `tf-frame run`.

    Attributes:
      examples_per_step: examples of a step; 0 before `wait_until_ready`.
      losses: global step -> loss, of the last step of each turn.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = tuple(words)
        self.examples_per_step = 0
        self.losses: dict[int, float] = {}

    def __enter__(self) -> Trial:
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tf-frame-trial-"))
            self._log = stack.enter_context(open(os.path.join(folder, "log"), "w+b"))
            reader, writer = os.pipe()
            self._answers = stack.enter_context(open(reader, encoding="utf-8"))
            with open(writer, "w", encoding="utf-8"):  # The process has a copy.
                self._start(writer, os.path.join(folder, "run"), stack)
            self._stack = stack.pop_all()
        return self

    def _start(self, answers: int, folder: str, stack: contextlib.ExitStack) -> None:
        """Starts the process; `stack` gets its end."""
        # An exception of a signal handler in the middle would leave the process without an end. The
        # program begins with unblocking the signals.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            self._process = subprocess.Popen(
                [*_PROGRAM, str(answers), folder, *self._words],
                # One process would take all memory of a GPU, and two trials need it.
                env={**os.environ, "TF_FORCE_GPU_ALLOW_GROWTH": "true"},
                stdin=subprocess.PIPE,
                stdout=self._log,
                stderr=self._log,
                pass_fds=[answers],
                text=True,
            )
            stack.callback(self._end)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    @property
    def is_running(self) -> bool:
        """True until the process ends."""
        return self._process.poll() is None

    def wait_until_ready(self) -> None:
        """Waits for the first step, which then waits for its turn.

        Raises:
          TrialError: the training ended before.
        """
        self.examples_per_step = int(self._next_answer()["examples_per_step"])
        self._stop()

    def train(self, steps: int) -> Turn:
        """Trains, while all other trials stand still.

        Raises:
          TrialError: the training ended.
        """
        assert self._process.stdin is not None
        self._signal(signal.SIGCONT)
        # A process that has ended says why in its log.
        with contextlib.suppress(BrokenPipeError):
            print(steps, file=self._process.stdin, flush=True)
        turn = Turn(**self._next_answer())
        self._stop()
        self.losses[turn.step] = turn.loss
        return turn

    def _next_answer(self) -> dict[str, Any]:
        line = self._answers.readline()
        if not line:
            code = self._process.wait()
            raise TrialError(f"{self._last_message()} (exit code {code})")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_message(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").split("\n")
        messages = [line for line in lines if line.startswith("tf-frame: ")]
        last = (messages or [line for line in lines if line.strip()] or ["it ended"])[-1]
        return short(last.removeprefix("tf-frame: "))

    def _stop(self) -> None:
        """Stops the process, and waits until it stands still."""
        self._signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def _signal(self, signum: int) -> None:
        # The process leads a group (`os.setpgid` of its program), with those that it has started.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signum)

    def _end(self) -> None:
        """Kills the process: nothing of it is kept."""
        self._signal(signal.SIGKILL)
        self._process.kill()
        with contextlib.suppress(BrokenPipeError):
            self._process.communicate()
