"""`tf-frame evaluate`: evaluates a checkpoint of a folder, or each one as it comes."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.cli import option_help
from tf_frame.cli.quiet import without_chatter
from tf_frame.cli.screen import columns, reader_may_leave, report
from tf_frame.cli.training_setup import setup_of_folder
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, EXIT_USAGE, CheckpointError, ConfigError
from tf_frame.estimator.training.setup import TrainingSetup
from tf_frame.session.interrupts import Interrupted, Interrupts

_USAGE = """usage: tf-frame evaluate MODEL_DIR [OPTIONS]

Evaluates what tf-frame run has trained, or is training, in MODEL_DIR: the newest checkpoint, the
one that --checkpoint names, or with --continuous each new one until the last step. Takes every
option of tf-frame run as well (--eval_steps 10, --input.split test); the others are those of the
run. Writes MODEL_DIR/eval: events for TensorBoard, and metrics.json with the last figures."""

_CONTINUOUS = Option("continuous", bool, False, "wait for checkpoints and evaluate each new one")
_EVERY = Option(
    "every_secs", float, 0.0, "with --continuous: seconds between two evaluations", min=0
)
_TIMEOUT = Option(
    "timeout_secs",
    float | None,
    None,
    "with --continuous: end when there is no new checkpoint for so long; none: wait for ever",
    min=0,
)
_OWN = (
    Option("checkpoint", str | None, None, "path of the checkpoint; none: the newest one"),
    _CONTINUOUS,
    _EVERY,
    _TIMEOUT,
    Option("name", str | None, None, "write to MODEL_DIR/eval_NAME, for other data for example"),
)


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if not argv or any(word in ("-h", "--help") for word in argv):
        report(f"{_USAGE}\n\n{option_help.group_text('Options', _OWN, {})}")
        return EXIT_OK if argv else EXIT_USAGE
    setup, given = setup_of_folder("evaluate", argv, _OWN)
    _check(given)
    source = setup.make_input()
    with reader_may_leave(), Interrupts().installed() as interrupts:
        started = time.monotonic()
        with without_chatter(setup.config.verbosity):
            # Importing TensorFlow takes seconds.
            from tf_frame.estimator.error_translation import translated_errors
        interrupts.raise_if_received("stopped; nothing was evaluated")
        evaluation = _Evaluation(setup, source, given["name"], interrupts)
        with translated_errors(setup.model_dir):
            try:
                _evaluate(evaluation, setup, given)
            finally:
                evaluation.close()
        report(f"done in {time.monotonic() - started:.0f} s; results in {evaluation.eval_dir}")
    return EXIT_OK


def _check(given: Mapping[str, Any]) -> None:
    """Refuses options that do not go together."""
    if given["continuous"]:
        if given["checkpoint"]:
            raise ConfigError("--checkpoint names one, --continuous waits for all; give one")
        return
    for option in (_EVERY, _TIMEOUT):
        if given[option.name] != option.default:
            raise ConfigError(f"--{option.name} has no meaning without --continuous")


def _evaluate(evaluation: _Evaluation, setup: TrainingSetup, given: Mapping[str, Any]) -> None:
    if given["continuous"]:
        _evaluate_each(evaluation, setup, given)
        return
    from tf_frame.checkpoint.find.path import resolve

    evaluation(resolve(os.path.expanduser(given["checkpoint"] or setup.model_dir)))


def _evaluate_each(evaluation: _Evaluation, setup: TrainingSetup, given: Mapping[str, Any]) -> None:
    from tf_frame.estimator.evaluation.repeated import evaluate_repeatedly

    report(f"waiting for checkpoints in {setup.model_dir}, until step {setup.config.max_steps}")
    step = evaluate_repeatedly(
        evaluation,
        setup.model_dir,
        min_interval_secs=given["every_secs"],
        timeout=given["timeout_secs"],
        last_step=setup.config.max_steps,
        stop=lambda: evaluation.interrupts.received is not None,
    )
    evaluation.check()
    if step is None:
        raise CheckpointError(
            f"there was no checkpoint in {setup.model_dir} within {given['timeout_secs']:g} s; "
            "raise --timeout_secs, or look whether the training runs"
        )
    if step < setup.config.max_steps:
        report(f"no new checkpoint for {given['timeout_secs']:g} s after step {step}")


class _Evaluation:
    """Evaluates checkpoints of a setup, shows what they come to, and writes it."""

    def __init__(
        self, setup: TrainingSetup, source: Any, name: str | None, interrupts: Interrupts
    ) -> None:
        from tf_frame.estimator.evaluation.setup_evaluator import SetupEvaluator
        from tf_frame.estimator.training.context import RunObserver

        self._evaluator = SetupEvaluator(
            setup,
            model=setup.make_model(source.info),
            source=source,
            observer=RunObserver(report, interrupts),
            name=name,
        )
        self.eval_dir = self._evaluator.eval_dir
        self.interrupts = interrupts
        self._count = 0

    def __call__(self, checkpoint: str) -> int:
        """Evaluates a checkpoint and returns its step."""
        from tf_frame.estimator.evaluation.results import write_figures

        report(f"evaluating {checkpoint}")
        try:
            evaluated = self._evaluator.evaluate(checkpoint)
        except Interrupted:
            self.check()
            raise
        metrics, step = evaluated.metrics, evaluated.global_step
        write_figures(self.eval_dir, metrics, step, checkpoint)
        report(f"evaluation at step {step}")
        report(columns([(name, _text(value)) for name, value in metrics.items()]))
        self._count += 1
        return step

    def check(self) -> None:
        """Raises `Interrupted` once a signal has arrived."""
        done = "1 checkpoint is" if self._count == 1 else f"{self._count} checkpoints are"
        self.interrupts.raise_if_received(f"stopped; {done} evaluated, in {self.eval_dir}")

    def close(self) -> None:
        self._evaluator.close()


def _text(value: Any) -> str:
    """A metric in the table; of one that is no number, only what it is."""
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    shape = getattr(value, "shape", ())
    return f"array {list(shape)}" if shape else f"{float(value):.4f}"
