"""`tf-frame evaluate`: evaluates one checkpoint of a folder, or each new one.

For an earlier checkpoint, for other data, or (`--continuous`) beside a training in another
process, which then does not have to stop for its evaluations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.cli import option_help
from tf_frame.cli.screen import reader_may_leave, report, without_chatter
from tf_frame.cli.training_setup import setup_of_folder
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, EXIT_USAGE, ConfigError
from tf_frame.estimator.training.context import RunObserver
from tf_frame.session.interrupts import Interrupts
from tf_frame.text import columns

_USAGE = """usage: tf-frame evaluate MODEL_DIR [OPTIONS]

Evaluates a model that tf-frame run has trained, or is training, in MODEL_DIR: the newest
checkpoint, the checkpoint that --checkpoint names, or with --continuous each new one until the
last step. Takes every option of tf-frame run as well (--eval_steps 10, --input.split test);
others are taken from MODEL_DIR/config.yaml. Writes MODEL_DIR/eval: events for TensorBoard, and
metrics.json with the metrics of the last evaluation."""

_CONTINUOUS = Option("continuous", bool, False, "wait for checkpoints and evaluate each new one")
_EVERY = Option(
    "every_secs", float, 0.0, "with --continuous: seconds between two evaluations", min=0
)
_TIMEOUT = Option(
    "timeout_secs",
    float | None,
    None,
    "with --continuous: seconds without a new checkpoint before the end; none: wait for ever",
    min=0,
)
_OWN = (
    Option("checkpoint", str | None, None, "path of the checkpoint; none: the newest one"),
    _CONTINUOUS,
    _EVERY,
    _TIMEOUT,
    Option("name", str | None, None, "write to MODEL_DIR/eval_NAME, for other data say"),
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
        with without_chatter(setup.config.verbosity):
            # Importing TensorFlow takes seconds.
            from tf_frame.estimator.evaluation.run import evaluate_run
        for evaluated in evaluate_run(setup, source, RunObserver(report, interrupts), **given):
            report(f"evaluation at step {evaluated.global_step}")
            report(columns([(name, _text(value)) for name, value in evaluated.metrics.items()]))
    return EXIT_OK


def _check(given: Mapping[str, Any]) -> None:
    """Refuses options that contradict each other."""
    if given["continuous"]:
        if given["checkpoint"]:
            raise ConfigError(
                "--checkpoint names one checkpoint, --continuous evaluates all new ones; leave out "
                "one of the two"
            )
        return
    for option in (_EVERY, _TIMEOUT):
        if given[option.name] != option.default:
            raise ConfigError(f"--{option.name} has no effect without --continuous")


def _text(value: Any) -> str:
    """Returns a number as text; of any other metric only its kind and size."""
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    shape = getattr(value, "shape", ())
    return f"array {list(shape)}" if shape else f"{float(value):.4f}"
