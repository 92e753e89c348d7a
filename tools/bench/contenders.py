"""Contenders of a benchmark, each in a process of its own, that take turns on a busy machine.

    with contender([sys.executable, __file__, "--worker"]) as ask:
        (rate,) = ask("train 10")

The process reads its turns with `questions`, and prints the figures of each with `answer`. Between
two turns it stands still, as trials of `tf_frame.experiments` do: no thread of its input goes on.
"""

from __future__ import annotations

import contextlib
import shlex
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tf_frame.experiments.ratio import paired_ratio

_ANSWER = "answer"
Ask = Callable[[str], list[float]]


@contextlib.contextmanager
def contender(command: Sequence[str]) -> Iterator[Ask]:
    """Starts a process; yields a function that asks it one line and returns its figures."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        question, lines = process.stdin, process.stdout

        def ask(text: str) -> list[float]:
            process.send_signal(signal.SIGCONT)
            # A process that has ended says so by its exit code, not by a broken pipe.
            with contextlib.suppress(BrokenPipeError):
                print(text, file=question, flush=True)
            for line in lines:
                if line.startswith(_ANSWER):
                    process.send_signal(signal.SIGSTOP)
                    return [float(number) for number in line.split()[1:]]
            raise SystemExit(f"{shlex.join(command)} ended without an answer: {process.wait()}")

        try:
            yield ask
        finally:
            process.send_signal(signal.SIGCONT)
            with contextlib.suppress(BrokenPipeError):
                question.close()


def rates_text(ours: Sequence[float], others: Sequence[float]) -> str:
    """Returns medians of rates, of their ratio in each turn, and the interval of the ratio."""
    pairs = list(zip(ours, others, strict=True))
    ratio = paired_ratio([(1 / other, 1 / mine) for mine, other in pairs])
    return (
        f"{statistics.median(ours):10.2f}{statistics.median(others):10.2f}"
        f"{statistics.median(mine / other for mine, other in pairs):9.2f}"
        f"   ({ratio.low:.2f} to {ratio.high:.2f})"
    )


def questions() -> Iterator[list[str]]:
    """Yields the words of each line on the standard input."""
    for line in sys.stdin:
        yield line.split()


def answer(*figures: float) -> None:
    """Answers a question."""
    print(_ANSWER, *figures, flush=True)


class TrainingTurns:
    """Turns of a training whose loop calls `step` after each step: questions `train SECS`.

    Attributes:
      goes_on: whether another turn has come; the first other question ends the training.
    """

    def begin(self) -> None:
        """Waits for a turn."""
        words = next(questions(), ["stop"])
        self.goes_on = words[0] == "train"
        self._secs = float(words[1]) if self.goes_on else 0.0
        self._steps, self._began = 0, time.perf_counter()

    def step(self) -> None:
        """Counts a step; at the end of a turn answers with steps/s and waits for the next one."""
        self._steps += 1
        took = time.perf_counter() - self._began
        if took >= self._secs:
            answer(self._steps / took)
            self.begin()


def infer_in_turns(call: Callable[[Any], Any], images: Any) -> None:
    """Answers `infer BATCH_SIZE SECS` with images/s, until the questions end.

    Args:
      call: takes a batch of images.
      images: `[count, height, width, 3]`, of which the first ones are taken.
    """
    for _, size, secs in questions():
        batch = images[: int(size)]
        call(batch)
        done, began = 0, time.perf_counter()
        while (took := time.perf_counter() - began) < float(secs):
            call(batch)
            done += len(batch)
        answer(done / took)
