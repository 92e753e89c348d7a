"""Evaluation of a run's checkpoints: a single one, or each new one (`tf-frame evaluate`).

A separate process evaluates each new checkpoint, so that the training does not wait. The training
may delete a checkpoint before its evaluation; such a checkpoint is skipped.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import logging
import os
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from tf_frame.checkpoint.find.newest import checkpoints_iterator, find_damage
from tf_frame.checkpoint.find.path import resolve_checkpoint
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.errors import CheckpointError
from tf_frame.runs.error_translation import translated_errors
from tf_frame.runs.evaluation.evaluator import Evaluated, Evaluator
from tf_frame.runs.evaluation.progress import evaluate_watched, partial_note
from tf_frame.runs.evaluation.results import find_at_chance, write_figures
from tf_frame.runs.setup.folder_claim import check_writable
from tf_frame.runs.setup.run_context import RunObserver
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.session.interrupts import Interrupted
from tf_frame.text import short

_LOG = logging.getLogger("tf_frame")
_Result = TypeVar("_Result")


def run_evaluator(
    setup: TrainingSetup,
    *,
    model: Any,
    source: Any,
    name: str | None = None,
    output: str | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> Evaluator:
    """Returns an evaluator of a run's checkpoints on the evaluation split.

    `report` takes lines of the model's hooks; for other arguments see `evaluate_run`.
    """
    folder = os.path.join(setup.model_dir, f"eval_{name}" if name else "eval")
    return Evaluator(
        model=model,
        source=source,
        config=setup.config,
        steps=setup.config.eval_steps,
        eval_dir=os.path.expanduser(output) if output else folder,
        report=report,
    )


def evaluate_run(
    setup: TrainingSetup,
    source: Any,
    observer: RunObserver,
    *,
    checkpoint: str | None = None,
    name: str | None = None,
    output: str | None = None,
    continuous: bool = False,
    every_secs: float = 0.0,
    timeout_secs: float | None = None,
) -> Iterator[Evaluated]:
    """Evaluates one checkpoint, or each new one, and writes events and `metrics.json`.

    Args:
      setup, source: the run, and its input, constructed.
      observer: takes reports, and may stop the evaluation.
      checkpoint: path of the checkpoint, or a folder; None for the newest one.
      name: name of the evaluation, and of its folder; None for `eval`.
      output: the folder for the results; None for a folder in the folder of the run.
      continuous: wait for new checkpoints until the last step.
      every_secs: least number of seconds between the starts of two evaluations.
      timeout_secs: longest time without a new checkpoint; None: no limit.

    Yields:
      The result of each evaluation.

    Raises:
      CheckpointError: there is no checkpoint, or it belongs to another model.
      ConfigError: the results cannot be written.
      Interrupted: a signal stopped the evaluation.
    """
    started, count = time.monotonic(), 0
    model = setup.make_model(source.info)
    evaluator = run_evaluator(
        setup, model=model, source=source, name=name, output=output, report=observer.report
    )
    eval_dir = str(evaluator.eval_dir)
    check_writable(eval_dir, "--output")

    def evaluate(path: str) -> Evaluated:
        observer.report(f"evaluating {path}")
        evaluated = evaluate_watched(evaluator, path, observer)
        files = write_figures(eval_dir, evaluated.metrics, evaluated.global_step, path)
        if note := partial_note(evaluator, evaluated):
            observer.report(note)
        at_chance = find_at_chance(model, evaluated.metrics)
        return dataclasses.replace(evaluated, files=files, at_chance=at_chance)

    with translated_errors(setup.model_dir, source), contextlib.closing(evaluator):
        try:
            if continuous:
                results = _evaluate_training(evaluate, setup, observer, every_secs, timeout_secs)
            else:
                path = resolve_checkpoint(os.path.expanduser(checkpoint or setup.model_dir))
                results = map(evaluate, [path])
            for evaluated in results:
                count += 1
                yield evaluated
            observer.interrupts.raise_if_received()
        except Interrupted as interrupted:
            checkpoints = "1 checkpoint is" if count == 1 else f"{count} checkpoints are"
            message = f"stopped; {checkpoints} evaluated, in {eval_dir}"
            raise Interrupted(interrupted.signum, message) from None
    secs = time.monotonic() - started
    observer.report(f"done in {secs:.0f} s; results in {eval_dir}")


def _evaluate_training(
    evaluate: Callable[[str], Evaluated],
    setup: TrainingSetup,
    observer: RunObserver,
    every_secs: float,
    timeout_secs: float | None,
) -> Iterator[Evaluated]:
    """Evaluates the checkpoints of a training in another process; see `evaluate_run`."""
    folder, last_step, step = setup.model_dir, setup.config.max_steps, None
    observer.report(f"waiting for checkpoints in {folder}, until step {last_step}")
    for evaluated in _evaluate_each(
        evaluate,
        folder,
        last_step=last_step,
        min_interval_secs=every_secs,
        timeout=timeout_secs,
        stop=lambda: observer.interrupts.received is not None,
    ):
        step = evaluated.global_step
        yield evaluated
    observer.interrupts.raise_if_received()
    if step is None:
        raise CheckpointError(
            f"there was no checkpoint in {short(folder)} within {timeout_secs:g} s; raise "
            "--timeout_secs, or look whether the training runs"
        )
    if step < last_step:
        observer.report(f"no new checkpoint for {timeout_secs:g} s after step {step}")


def evaluate_repeatedly(
    evaluate: Callable[[str], _Result],
    model_dir: str,
    *,
    max_evaluations: int | None = None,
    last_step: int | None = None,
    **waiting: Any,
) -> _Result | None:
    """Calls a function with each new checkpoint of a folder.

    Skips deleted and damaged checkpoints with a warning.

    Args:
      evaluate: takes a path prefix.
      model_dir: the folder.
      max_evaluations: largest number of evaluations; None: no limit.
      last_step: global step of the last evaluation; None: no limit.
      **waiting: further arguments of `checkpoints_iterator`: `min_interval_secs`,
        `timeout`, `timeout_fn`, `stop` ...

    Returns:
      The last return value of `evaluate`; None without any.

    Raises:
      CheckpointError: a checkpoint belongs to another model.
    """
    limit = None if max_evaluations is None else max(max_evaluations, 0)
    result: _Result | None = None
    evaluations = _evaluate_each(evaluate, model_dir, last_step=last_step, **waiting)
    for evaluated in itertools.islice(evaluations, limit):
        result = evaluated
    return result


def _evaluate_each(
    evaluate: Callable[[str], _Result], model_dir: str, *, last_step: int | None, **waiting: Any
) -> Iterator[_Result]:
    """Yields the return value of each call; see `evaluate_repeatedly`."""
    for path in checkpoints_iterator(model_dir, **waiting):
        try:
            step = Checkpoint(path).global_step or 0
            result = evaluate(path)
        except CheckpointError:
            if not find_damage(path):
                raise
            _LOG.warning("skipping %s, which is gone or damaged by now", path)
            continue
        yield result
        if last_step is not None and step >= last_step:
            return
