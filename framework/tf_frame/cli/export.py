"""`tf-frame export`: writes a trained model in a format that other programs load."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tf_frame.cli.checkpoint_tables import size_text
from tf_frame.cli.trained_input import (
    CLASSES,
    NEW_FOLDER,
    input_for_export,
    observed_run,
    parse_classes,
)
from tf_frame.command_line import option_help
from tf_frame.command_line.folder_setup import setup_from_folder
from tf_frame.command_line.screen import emphasised, report, report_help
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, EXIT_USAGE, ConfigError
from tf_frame.runs.export.formats import (
    CALIBRATION_EXAMPLES,
    FEATURES,
    FORMATS,
    INT8_TOLERANCE,
    RAW,
    TFLITE_QUANTIZED_TOLERANCE,
    TFLITE_TOLERANCE,
    TOLERANCE,
    check_packages,
)
from tf_frame.tensorflow_log import quiet_import
from tf_frame.text import columns, listed

OPTIONS = [
    Option("format", str | None, None, "what to write, see above", choices=tuple(FORMATS)),
    Option("checkpoint", str | None, None, "path of the checkpoint; none: the newest one"),
    Option(
        "output",
        str | None,
        None,
        "folder to write to; none: MODEL_DIR/export/saved_model, or FORMAT-STEP there",
    ),
    Option(
        "signature",
        str | None,
        None,
        "the signature to export as frozen_graph or tflite, if the model has several",
    ),
    Option(
        "serve",
        str | None,
        None,
        "the export takes raw data (image files, pixels) and prepares it itself, or the features "
        "of the model; none: raw where the input offers it",
        choices=(RAW, FEATURES),
    ),
    Option(
        "image_size",
        tuple[int, ...],
        (),
        "HEIGHT,WIDTH, or one number for both, of the images that a tflite, tflite_int8 or onnx "
        "takes; empty: the size of the run's images",
        min=1,
    ),
    Option(
        "calibration_examples",
        int,
        CALIBRATION_EXAMPLES,
        "number of evaluation examples for the ranges of activations of tflite_int8",
        min=1,
    ),
    Option(
        "freeze",
        bool,
        False,
        "constants instead of variables in a saved_model, and batch norm in the weights before it: "
        "faster, but it cannot be trained further; a frozen_graph always has them",
    ),
    Option("overwrite", bool, False, "replace the files of an earlier export"),
    *CLASSES,
]
_USAGE = f"""usage: tf-frame export MODEL_DIR --format FORMAT [OPTIONS]

Exports the model that tf-frame run has trained in MODEL_DIR, with its moving averages if the run
has them and --eval_moving_averages is on:

{columns([(name, export.text) for name, export in FORMATS.items()])}

The export is loaded again, and its outputs for a batch of the evaluation data are compared with
the outputs of the restored session. Floating-point outputs may differ by {TOLERANCE:g}, in
tflite by {TFLITE_TOLERANCE:g} ({TFLITE_QUANTIZED_TOLERANCE:g} with --quantize_delay_step),
times the largest value of the output if that is above 1. Integers and text must be equal;
classes may differ if their scores tie within twice that tolerance. Of
tflite_int8 the mean difference, and the share of other integers, may be {INT8_TOLERANCE:g}. If any
output differs by more, the export is removed, and the exit code is 1.

Any option of tf-frame run may follow; the others are taken from MODEL_DIR/config.yaml.

{NEW_FOLDER}"""


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if not argv or any(word in ("-h", "--help") for word in argv):
        report_help(f"{_USAGE}\n\n{option_help.group_text('Options', OPTIONS, {})}")
        return EXIT_OK if argv else EXIT_USAGE
    setup, values = setup_from_folder("export", argv, OPTIONS)
    format_name = values.pop("format")
    if not format_name:
        raise ConfigError(f"say what to write: --format {'|'.join(FORMATS)}")
    check_packages(format_name)
    classes = parse_classes(setup, values.pop("num_classes"), values.pop("class_names"))
    source, no_data = input_for_export(setup, classes)
    if no_data:
        report(f"note: exporting without evaluation data: {no_data}")
    # The libraries write log lines all the time, not only while they are imported.
    with observed_run(setup, source) as (setup, observer), quiet_import(setup.config.verbosity):
        from tf_frame.runs.export.export import export_run

        exported = export_run(
            setup, source, observer, format_name=format_name, no_data=no_data, **values
        )
        report(_summary(exported, source.info))
    return EXIT_OK


def _summary(exported: Any, info: Any) -> str:
    lines = [f"wrote {emphasised(exported.path)}, {size_text(exported.size_bytes)}", "inputs"]
    lines.append(_table(exported.inputs.items()))
    for signature, outputs in exported.signatures.items():
        fed = ", ".join(exported.fed[signature])
        origin = f", from {fed}" if len(exported.signatures) > 1 else ""
        lines += [f"outputs of {signature}{origin}", _table(outputs.items())]
    if info.num_classes:
        lines.append(f"{info.num_classes} classes: {listed(info.class_names, none='no names')}")
    return "\n".join([*lines, _difference(exported)])


def _table(specs: Iterable[tuple[str, Any]]) -> str:
    return columns((name, spec.dtype.name, _shape(spec.shape)) for name, spec in specs)


def _shape(shape: Any) -> str:
    if shape.rank is None:
        return "any shape"
    return f"[{', '.join('?' if size is None else str(size) for size in shape.as_list())}]"


def _difference(exported: Any) -> str:
    comparison = exported.comparison
    data = "a batch of the evaluation data" if exported.on_real_data else "random data"
    where = f" in {comparison.output}" if comparison.output else ""
    text = (
        f"loaded again, on {data}: {comparison.kind} difference from the restored session "
        f"{comparison.largest_difference:.2g}{where} (allowed: {exported.tolerance:g})"
    )
    if comparison.ties:
        text += f"; {comparison.ties} classes differ, all of them ties"
    return text
