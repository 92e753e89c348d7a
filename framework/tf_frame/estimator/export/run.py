"""Export of a checkpoint in one of the formats, with verification (`tf-frame export`).

An export that computes something else than the checkpoint is removed before anyone serves it.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import known_checkpoints, step_of
from tf_frame.checkpoint.find.path import resolve
from tf_frame.config.run_options import RunOptions
from tf_frame.config.values import nearest
from tf_frame.errors import ConfigError
from tf_frame.estimator.error_translation import translated_errors
from tf_frame.estimator.export.folder import Written, check_output, staged_files
from tf_frame.estimator.export.formats import FORMATS
from tf_frame.estimator.export.formats.checkpoint import name_of
from tf_frame.estimator.export.input_signature import input_signature
from tf_frame.estimator.export.serving import Request
from tf_frame.estimator.training.context import RunObserver
from tf_frame.estimator.training.setup import TrainingSetup


@dataclasses.dataclass(frozen=True)
class Exported(Written):
    """An export that was written and verified; `path` is its file, folder or path prefix.

    Attributes:
      size_bytes: size of all files.
      tolerance: the largest difference that is allowed.
      on_real_data: whether the outputs are of evaluation data; else of random numbers.
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
    signature: str | None = None,
    overwrite: bool = False,
) -> Exported:
    """Exports a checkpoint of a run; see `export_model` for the other arguments and errors.

    Args:
      setup: the run.
      source: the input, constructed.
      observer: the user.
      format_name: one of `tf_frame.estimator.export.formats.FORMATS`.
      checkpoint: path of the checkpoint, or a folder; None for the newest one.
      output: the folder to write to; None for one below `MODEL_DIR/export`.
      signature, overwrite: see `export_model`.

    Raises:
      Interrupted: a signal stopped the export; nothing is left behind.
    """
    path = resolve(os.path.expanduser(checkpoint or setup.model_dir))
    # SavedModels have a number of their own; the names of other exports contain the step.
    folder = format_name if format_name == "saved_model" else f"{format_name}-{step_of(path)}"
    observer.report(f"exporting {path} as {format_name} ...")
    with translated_errors(setup.model_dir):
        return export_model(
            format_name,
            model=setup.make_model(source.info),
            source=source,
            config=setup.config,
            checkpoint=path,
            output=os.path.expanduser(output or os.path.join(setup.model_dir, "export", folder)),
            signature=signature,
            overwrite=overwrite,
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
    check: Callable[[], None] = lambda: None,
) -> Exported:
    """Writes a model in a format, loads the result, and compares the outputs of both.

    Args:
      format_name: one of `tf_frame.estimator.export.formats.FORMATS`.
      model, source: the model and the input, constructed.
      config: the run options of the training.
      checkpoint: a checkpoint, or a folder with checkpoints (its newest one).
      output: the folder to write to; created if it does not exist.
      signature: name of the signature to export, for formats that hold only one.
      overwrite: replace files of an earlier export.
      check: called before the work, and before the files get their names; after an
        exception nothing is left behind.

    Raises:
      ConfigError: an unknown format, no checkpoint, an output that cannot be
        written to, a model with nothing to export or with several signatures.
      CheckpointError: the checkpoint belongs to another model.
      DifferenceError: the export computes other outputs; it is removed.
      TfFrameError: the format cannot hold the model, or it could not be written.
    """
    chosen = FORMATS.get(format_name)
    if chosen is None:
        near = nearest(format_name, FORMATS)
        hint = f"did you mean {near!r}?" if near else f"there are {', '.join(FORMATS)}"
        raise ConfigError(f"unknown format {format_name!r}; {hint}")
    if signature is not None and not chosen.holds_one_signature:
        raise ConfigError(f"a {format_name} holds the whole model; leave --signature out")
    check_output(output)
    prefix = resolve(checkpoint)
    if format_name == "checkpoint":
        _check_checkpoints(output, prefix)
    quantized = config.quantize_delay_step >= 0
    request = Request(
        model=model,
        config=config,
        checkpoint=prefix,
        inputs=input_signature(source, config),
        tolerance=chosen.tolerance_of(quantized=quantized),
        signature=signature,
        runs_as_written=quantized and chosen.quantized_tolerance is None,
    )
    check()
    with staged_files(output, overwrite=overwrite) as workshop:
        written = importlib.import_module(chosen.module).export(request, workshop)
        check()
        size_bytes = _size_bytes(workshop)
    return Exported(
        path=os.path.join(output, written.path),
        inputs=written.inputs,
        signatures=written.signatures,
        comparison=written.comparison,
        size_bytes=size_bytes,
        tolerance=request.tolerance,
        on_real_data=request.inputs.is_real,
    )


def _check_checkpoints(output: str, prefix: str) -> None:
    """Refuses a folder whose list of checkpoints would have to be replaced."""
    held = [os.path.basename(path) for path in known_checkpoints(output)]
    is_source = os.path.realpath(output) == os.path.realpath(os.path.dirname(prefix))
    if is_source or set(held) - {name_of(prefix)}:
        raise ConfigError(f"{output} holds checkpoints of a run; take another --output")


def _size_bytes(folder: str) -> int:
    walk = tf.io.gfile.walk(folder)
    files = [os.path.join(parent, name) for parent, _, names in walk for name in names]
    return sum(tf.io.gfile.stat(file).length for file in files)
