"""`tf-frame export`: a trained model as a file that other programs load."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tf_frame.cli import option_help
from tf_frame.cli.checkpoint_tables import size_text
from tf_frame.cli.quiet import without_chatter
from tf_frame.cli.screen import emphasised, report
from tf_frame.cli.training_setup import setup_of_folder
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, EXIT_USAGE, ConfigError
from tf_frame.estimator.export.formats import (
    FORMATS,
    TFLITE_QUANTIZED_TOLERANCE,
    TFLITE_TOLERANCE,
    TOLERANCE,
)
from tf_frame.estimator.training.setup import TrainingSetup
from tf_frame.session.interrupts import Interrupts
from tf_frame.text import columns

_OWN = [
    Option("format", str | None, None, "what to write, see above", choices=tuple(FORMATS)),
    Option(
        "checkpoint",
        str | None,
        None,
        "a checkpoint, or a folder with some; none: the newest in MODEL_DIR",
    ),
    Option(
        "output",
        str | None,
        None,
        "the folder to write to; none: MODEL_DIR/export/saved_model, or FORMAT-STEP there",
    ),
    Option(
        "signature",
        str | None,
        None,
        "which signature of the model, for frozen_graph and tflite; needed if it has several",
    ),
    Option("overwrite", bool, False, "replace the files of an earlier export"),
]
_USAGE = f"""usage: tf-frame export MODEL_DIR --format FORMAT [OPTIONS]

Writes the model that tf-frame run has trained in MODEL_DIR, with its moving averages where the run
has them and --eval_moving_averages is on:

{columns([(name, each.text) for name, each in FORMATS.items()])}

What was written is loaded again, and what it computes for a batch of the evaluation data is
compared with the restored session. Floating-point outputs may differ by {TOLERANCE:g}, those of
tflite by {TFLITE_TOLERANCE:g} ({TFLITE_QUANTIZED_TOLERANCE:g} with --quantize_delay_step),
times the largest value of the output where that is above 1. Integers and text must be equal;
classes may differ where their scores tie within twice that tolerance. If anything differs by
more, nothing is kept, and the exit code is 1.

Any option of tf-frame run may follow; the others are taken from MODEL_DIR/config.yaml."""


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if not argv or any(word in ("-h", "--help") for word in argv):
        report(f"{_USAGE}\n\n{option_help.group_text('Options', _OWN, {})}")
        return EXIT_OK if argv else EXIT_USAGE
    setup, given = setup_of_folder("export", argv, _OWN)
    if not given["format"]:
        raise ConfigError(f"say what to write: --format {'|'.join(FORMATS)}")
    source = setup.make_input()
    # The libraries write log lines all along, not only while they are imported.
    with Interrupts().installed() as interrupts, without_chatter(setup.config.verbosity):
        exported = _export(setup, source, given, interrupts)
    report(_told(exported))
    return EXIT_OK


def _export(
    setup: TrainingSetup, source: Any, given: Mapping[str, Any], interrupts: Interrupts
) -> Any:
    from tf_frame.checkpoint.find.path import resolve
    from tf_frame.estimator.error_translation import translated_errors
    from tf_frame.estimator.export.checkpoint_export import export_model

    name = given["format"]
    checkpoint = resolve(os.path.expanduser(given["checkpoint"] or setup.model_dir))
    output = os.path.expanduser(given["output"] or _default_output(setup, name, checkpoint))
    report(f"exporting {checkpoint} as {name} ...")
    with translated_errors(setup.model_dir):
        return export_model(
            name,
            model=setup.make_model(source.info),
            source=source,
            config=setup.config,
            checkpoint=checkpoint,
            output=output,
            signature=given["signature"],
            overwrite=given["overwrite"],
            check=lambda: interrupts.raise_if_received("stopped; nothing was exported"),
        )


def _default_output(setup: TrainingSetup, name: str, checkpoint: str) -> str:
    """SavedModels have a number of their own; the others say of which step they are."""
    from tf_frame.checkpoint.find.newest import step_of

    folder = name if name == "saved_model" else f"{name}-{step_of(checkpoint)}"
    return os.path.join(setup.model_dir, "export", folder)


def _told(exported: Any) -> str:
    lines = [f"wrote {emphasised(exported.path)}, {size_text(exported.size_bytes)}", "inputs"]
    lines.append(_table(exported.inputs.items()))
    for signature, outputs in exported.signatures.items():
        lines += [f"outputs of {signature}", _table(outputs.items())]
    return "\n".join([*lines, _difference(exported)])


def _table(specs: Iterable[tuple[str, Any]]) -> str:
    return columns((name, spec.dtype.name, _shape(spec.shape)) for name, spec in specs)


def _shape(shape: Any) -> str:
    if shape.rank is None:
        return "any shape"
    return f"[{', '.join('?' if size is None else str(size) for size in shape.as_list())}]"


def _difference(exported: Any) -> str:
    found = exported.comparison
    data = "a batch of the evaluation data" if exported.on_real_data else "random numbers"
    where = f" in {found.output}" if found.output else ""
    text = (
        f"loaded again, on {data}: largest difference from the restored session "
        f"{found.largest_difference:.2g}{where} (allowed: {exported.tolerance:g})"
    )
    if found.ties:
        text += f"; {found.ties} classes differ, all of them ties"
    return text
