"""Shows the progress of an evaluation: a bar on a terminal, a line every half minute elsewhere.

If the data repeats for ever, the user sees the number of steps, and how to stop.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, TextIO

from tf_frame.config.run_options import RunOptions
from tf_frame.plugin import InputInfo, Mode
from tf_frame.progress_bar import ProgressBar
from tf_frame.runs.evaluation.evaluator import Evaluated, Evaluator
from tf_frame.runs.evaluation.printing import metrics_table
from tf_frame.runs.evaluation.results import numbers
from tf_frame.runs.setup.run_context import RunObserver

_LINE_SECS = 30.0


def evaluate_watched(
    evaluator: Evaluator,
    checkpoint: str | None,
    observer: RunObserver,
    *,
    hooks: Iterable[Any] = (),
) -> Evaluated:
    """Evaluates a checkpoint, and shows the progress.

    Args:
      evaluator, checkpoint, hooks: see `Evaluator.evaluate`.
      observer: takes reports, and may stop the evaluation.

    Raises:
      Interrupted: a signal stopped the evaluation; the metrics so far are reported.
    """
    interrupts, progress = observer.interrupts, None
    if observer.shows_progress:
        total = num_eval_steps(evaluator.config, evaluator.source.info)
        progress = EvaluationProgress(total, report=observer.report)
    try:
        evaluated = evaluator.evaluate(
            checkpoint,
            hooks=hooks,
            stop=lambda: interrupts.received is not None,
            after_step=progress.step if progress else lambda: None,
        )
    finally:
        if progress:
            progress.close()
    if evaluated.stopped and evaluated.steps:
        observer.report(_figures_so_far(evaluated))
        if note := partial_note(evaluator, evaluated):
            observer.report(note)
    if evaluated.stopped:
        interrupts.raise_if_received()
    return evaluated


def _figures_so_far(evaluated: Evaluated) -> str:
    steps = "1 step" if evaluated.steps == 1 else f"{evaluated.steps} steps"
    return (
        f"evaluation stopped after {steps} (--eval_steps {evaluated.steps} does as many); figures "
        f"so far\n{metrics_table(numbers(evaluated.metrics))}"
    )


def partial_note(evaluator: Evaluator, evaluated: Evaluated) -> str | None:
    """Returns a line if `--eval_steps` or a signal left examples out; None if all were seen.

    An evaluation with `--overfit_batches` has the training batches, whose number is chosen.
    """
    config, steps = evaluator.config, evaluated.steps
    examples = evaluator.source.info.num_examples.get(Mode.EVAL)
    seen, is_cut = steps * config.eval_batch_size, evaluated.stopped or steps == evaluator.steps
    if not is_cut or config.overfit_batches or not examples or seen >= examples:
        return None
    return (
        f"note: the evaluation saw {seen} of {examples} examples, in their order in the data, and "
        "need not be representative"
    )


def num_eval_steps(config: RunOptions, info: InputInfo) -> int | None:
    """Returns the number of steps of an evaluation; None if it is unknown."""
    examples = info.num_examples.get(Mode.EVAL)
    if config.overfit_batches:
        steps = config.overfit_batches * config.num_clones
        return steps if config.eval_steps is None else min(steps, config.eval_steps)
    if examples is None:
        return config.eval_steps
    steps = math.ceil(examples / config.eval_batch_size)
    return steps if config.eval_steps is None else min(steps, config.eval_steps)


class EvaluationProgress:
    """Shows the steps of one evaluation.

    Args:
      total: number of steps; None if it is unknown.
      report: takes a line where the output is not a terminal.
      out: output stream; default: standard output.
      line_secs: seconds between lines.
    """

    def __init__(
        self,
        total: int | None,
        *,
        report: Callable[[str], None],
        out: TextIO | None = None,
        line_secs: float = _LINE_SECS,
    ) -> None:
        self._total, self._report, self._line_secs = total, report, line_secs
        self._steps, self._started = 0, time.monotonic()
        self._next = self._started + line_secs
        self._out = out or sys.stdout
        self._bar = ProgressBar(
            total=total, file=self._out, unit="step", desc="evaluate", leave=False
        )

    def step(self) -> None:
        """Counts a step that is done."""
        self._steps += 1
        self._bar.update()
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._line_secs
        if self._bar.disable:
            self._report(self._line())
        elif self._goes_on():
            self._bar.write(self._line(), file=self._out)

    def close(self) -> None:
        """Removes the bar."""
        self._bar.close()

    def _goes_on(self) -> bool:
        """Returns whether the evaluation may have no end."""
        return self._total is None or self._steps > self._total

    def _line(self) -> str:
        rate = self._steps / (time.monotonic() - self._started)
        total = f" of {self._total}" if self._total else ""
        line = f"evaluated {self._steps}{total} steps, {rate:.2f} steps/s"
        if not self._goes_on():
            return line
        return (
            f"{line}; if the data never ends, Ctrl-C stops with the figures so far, and "
            "--eval_steps N evaluates N steps"
        )
