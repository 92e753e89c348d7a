"""Export of a checkpoint in one of the formats, with verification (`tf-frame export`).

If an export computes other outputs than the checkpoint, it is removed before it can be served.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import listed_checkpoints, read_step
from tf_frame.checkpoint.find.path import resolve_checkpoint
from tf_frame.checkpoint.names import check_no_pattern
from tf_frame.config.run_options import RunOptions
from tf_frame.config.values import nearest
from tf_frame.errors import ConfigError
from tf_frame.plugin.exporting import exporting
from tf_frame.plugin.needs import check_batch
from tf_frame.plugin.origin import describe_method, describe_owner
from tf_frame.runs.error_translation import translated_errors
from tf_frame.runs.export.description_files import write_class_names, write_readme
from tf_frame.runs.export.formats import (
    CALIBRATION_EXAMPLES,
    FEATURES,
    FORMATS,
    RAW,
    Format,
    check_packages,
)
from tf_frame.runs.export.formats.checkpoint import exported_name
from tf_frame.runs.export.input_signature import InputSignature, input_signature
from tf_frame.runs.export.raw_inputs import raw_signature
from tf_frame.runs.export.serving import Request
from tf_frame.runs.export.staging import Written, check_output, staged_files
from tf_frame.runs.setup.run_context import RunObserver
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.text import brief

# Formats that TensorFlow restores variables from.
_WITH_CHECKPOINT = ("saved_model", "checkpoint")


@dataclasses.dataclass(frozen=True)
class Exported(Written):
    """An export that was written and verified; `path` is its file, folder or path prefix.

    Attributes:
      size_bytes: size of all files.
      tolerance: the largest allowed difference.
      on_real_data: whether outputs were compared on evaluation data; else on random numbers.
    """

    size_bytes: int
    tolerance: float
    on_real_data: bool


def export_run(
    setup: TrainingSetup,
    source: Any,
    observer: RunObserver,
    *,
    format_name: str,
    checkpoint: str | None = None,
    output: str | None = None,
    **options: Any,
) -> Exported:
    """Exports a checkpoint of a run; see `export_model` for the other arguments and errors.

    Args:
      setup, source: the run, and its input, constructed.
      observer: takes reports, and may stop the export.
      format_name: one of `tf_frame.runs.export.formats.FORMATS`.
      checkpoint: path of the checkpoint, or a folder; None for the newest one.
      output: the folder to write to; None for a folder below `MODEL_DIR/export`.
      **options: further arguments of `export_model`, such as `signature`.

    Raises:
      Interrupted: a signal stopped the export; nothing is left behind.
    """
    path = resolve_checkpoint(os.path.expanduser(checkpoint or setup.model_dir))
    # A SavedModel gets a number as name; names of other exports contain the step.
    folder = format_name if format_name == "saved_model" else f"{format_name}-{read_step(path)}"
    observer.report(f"exporting {path} as {format_name} ...")
    with translated_errors(setup.model_dir, source):
        return export_model(
            format_name,
            model=setup.make_model(source.info),
            source=source,
            config=setup.config,
            checkpoint=path,
            output=os.path.expanduser(output or os.path.join(setup.model_dir, "export", folder)),
            about=_about(setup),
            **options,
            check=lambda: observer.interrupts.raise_if_received("stopped; nothing was exported"),
        )


def export_model(
    format_name: str,
    *,
    model: Any,
    source: Any,
    config: RunOptions,
    checkpoint: str,
    output: str,
    signature: str | None = None,
    overwrite: bool = False,
    serve: str | None = None,
    calibration_examples: int = CALIBRATION_EXAMPLES,
    image_size: tuple[int, ...] = (),
    freeze: bool = False,
    no_data: str = "",
    about: Mapping[str, Any] = MappingProxyType({}),
    check: Callable[[], None] = lambda: None,
) -> Exported:
    """Writes a model in a format, loads the result, and compares the outputs of both.

    Args:
      format_name: one of `tf_frame.runs.export.formats.FORMATS`.
      model, source: the model and the input, constructed.
      config: the run options of the training.
      checkpoint: a checkpoint, or a folder with checkpoints (the newest one is taken).
      output: the folder to write to; created if it does not exist.
      signature: name of the signature to export, for formats that hold only one.
      overwrite: replace files of an earlier export.
      serve: `raw`: the export takes raw data, such as image files; `features`: the export takes
        the features of the model; None: raw data if the input offers it.
      calibration_examples: number of evaluation examples for the ranges of a rounding format.
      image_size: height and width, or one number for both, of the images that an export of fixed
        size takes; empty: the size of the input.
      freeze: write a SavedModel with constants instead of variables, and with batch norm in the
        weights before it.
      no_data: the reason why `source` has no evaluation data; empty if it has.
      about: further facts for the README.json.
      check: called before the work, and before the files get their names; after an
        exception nothing is left behind.

    Raises:
      ConfigError: an unknown format, no checkpoint, an output that cannot be written to, or a
        model with nothing to export or with several signatures.
      CheckpointError: the checkpoint belongs to another model.
      DifferenceError: the export has other outputs; it is removed.
      TfFrameError: the format cannot hold the model, or it could not be written.
    """
    chosen = FORMATS.get(format_name)
    if chosen is None:
        near = nearest(format_name, FORMATS)
        hint = f"did you mean {brief(near)}?" if near else f"there are {', '.join(FORMATS)}"
        raise ConfigError(f"unknown format {brief(format_name)}; {hint}")
    if signature is not None and not chosen.holds_one_signature:
        raise ConfigError(f"a {format_name} holds the whole model; leave --signature out")
    if freeze and format_name != "saved_model":
        raise ConfigError(f"--freeze is for a saved_model; leave it out for a {format_name}")
    size = _image_size(image_size, format_name, serve)
    check_packages(format_name)
    check_output(output)
    if format_name in _WITH_CHECKPOINT:
        check_no_pattern(output, "--output")
    prefix = resolve_checkpoint(checkpoint)
    if format_name == "checkpoint":
        _check_checkpoints(output, prefix)
    quantized = config.quantize_delay_step >= 0
    examples = calibration_examples if chosen.calibrates else config.eval_batch_size
    request = Request(
        model=model,
        config=config,
        checkpoint=prefix,
        inputs=_inputs(chosen, source, config, examples, serve, no_data, model, size),
        tolerance=chosen.tolerance_for(quantized=quantized),
        signature=signature,
        runs_as_written=quantized and chosen.quantized_tolerance is None,
        freeze=freeze,
    )
    check()
    with staged_files(output, overwrite=overwrite) as workshop:
        with exporting(format_name):
            written = importlib.import_module(chosen.module).export(request, workshop)
        if chosen.has_inputs:
            _describe(format_name, os.path.join(workshop, written.path), written, request, about)
        check()
        size_bytes = _size_bytes(workshop)
    moved = dataclasses.replace(written, path=os.path.join(output, written.path))
    return Exported(
        **vars(moved),
        size_bytes=size_bytes,
        tolerance=request.tolerance,
        on_real_data=request.inputs.is_real,
    )


def _about(setup: TrainingSetup) -> dict[str, Any]:
    """Returns the facts about the run for the README.json of an export."""
    assert setup.model is not None
    return {
        "plugin": setup.model.name,
        "model": setup.model.values(),
        "versions": {**setup.versions(), "tensorflow": tf.version.VERSION},
    }


def _inputs(
    chosen: Format,
    source: Any,
    config: RunOptions,
    examples: int,
    serve: str | None,
    no_data: str,
    model: Any,
    image_size: tuple[int, ...],
) -> InputSignature:
    """Returns the inputs of an export with a number of examples; see `export_model`."""
    if serve == RAW and not chosen.has_inputs:
        raise ConfigError("a checkpoint takes no data; leave --serve out")
    # An input need not inherit from `tf_frame.Input`.
    offer = getattr(source, "raw_serving", None)
    if serve != FEATURES and chosen.has_inputs and offer:
        forms = offer(fixed_size=image_size or chosen.fixed_size)
        if forms:
            raw = raw_signature(forms, examples, describe_method(source, "raw_serving"))
            _check_size(raw, image_size, source)
            return raw
    if image_size:
        _check_size(None, image_size, source)
    if serve == RAW:
        raise ConfigError(
            f"--serve {RAW}: {describe_owner(source)} has no raw_serving() for this "
            "format, so an export takes the features of the model; leave --serve out"
        )
    config = dataclasses.replace(config, eval_batch_size=examples)
    signature = input_signature(source, config, no_data=no_data)
    check_batch(model, source, signature.specs, None)
    return signature


def _image_size(numbers: tuple[int, ...], format_name: str, serve: str | None) -> tuple[int, ...]:
    """Returns height and width of `image_size`; empty if none is asked for."""
    fixed = [name for name, known in FORMATS.items() if known.fixed_size]
    if numbers and (format_name not in fixed or serve == FEATURES):
        raise ConfigError(
            f"--image_size is for images of {', '.join(fixed)}; a {format_name} "
            + ("of --serve features takes those of the data" if serve else "takes any size")
        )
    if len(numbers) > 2:
        raise ConfigError("--image_size takes HEIGHT,WIDTH, or one number for both")
    return numbers * 2 if len(numbers) == 1 else numbers


def _check_size(signature: InputSignature | None, size: tuple[int, ...], source: Any) -> None:
    """Refuses a size that the input does not give its images."""
    shapes = [] if signature is None else [s.shape.as_list() for s in signature.specs.values()]
    if size and not any(tuple(shape[1:3]) == size for shape in shapes):
        raise ConfigError(
            f"--image_size {'x'.join(map(str, size))}: the raw_serving() of "
            f"{describe_owner(source)} has no images of a size that can be chosen; leave it out"
        )


def _describe(
    format_name: str, path: str, written: Written, request: Request, about: Mapping[str, Any]
) -> None:
    """Adds README.json and class_names.txt to an export."""
    if tf.io.gfile.isdir(path):
        write_readme(path, format_name, written, request, about)
        return
    folder = os.path.dirname(path)
    write_readme(folder, format_name, written, request, about)
    write_class_names(request, folder)


def _check_checkpoints(output: str, prefix: str) -> None:
    """Refuses a folder with a list of other checkpoints, which would have to be replaced."""
    names = {os.path.basename(path) for path in listed_checkpoints(output)}
    is_source = os.path.realpath(output) == os.path.realpath(os.path.dirname(prefix))
    if is_source or names - {exported_name(prefix)}:
        raise ConfigError(f"{output} holds checkpoints of a run; take another --output")


def _size_bytes(folder: str) -> int:
    walk = tf.io.gfile.walk(folder)
    files = [os.path.join(parent, name) for parent, _, names in walk for name in names]
    return sum(tf.io.gfile.stat(file).length for file in files)
