"""Exports a checkpoint of a model in one of the formats, and verifies what was written."""

from __future__ import annotations

import dataclasses
import importlib
import os
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import known_checkpoints
from tf_frame.checkpoint.find.path import resolve
from tf_frame.config.run_options import RunOptions
from tf_frame.config.values import nearest
from tf_frame.errors import ConfigError
from tf_frame.estimator.export.folder import check_output, staged_files
from tf_frame.estimator.export.formats import FORMATS
from tf_frame.estimator.export.formats.checkpoint import name_of
from tf_frame.estimator.export.input_signature import input_signature
from tf_frame.estimator.export.serving import Request
from tf_frame.estimator.export.verify import Comparison


@dataclasses.dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes:
      path: the file or folder; for a checkpoint its path prefix.
      size_bytes: of all its files.
      inputs: input name -> `tf.TensorSpec`.
      signatures: signature name -> output name -> `tf.TensorSpec`.
      comparison: how far its outputs are from those of the restored session.
      tolerance: how far they might have been.
      on_real_data: whether they were compared on evaluation data; else on random numbers.
    """

    path: str
    size_bytes: int
    inputs: Mapping[str, Any]
    signatures: Mapping[str, Mapping[str, Any]]
    comparison: Comparison
    tolerance: float
    on_real_data: bool


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
    """Writes a model in a format, loads it again, and compares what it computes.

    Args:
      format_name: one of `tf_frame.estimator.export.formats.FORMATS`.
      model, source: the model and input plugins, constructed.
      config: the run options that it was trained with.
      checkpoint: a checkpoint, or a folder with checkpoints (its newest).
      output: the folder to write to; made where there is none.
      signature: which of the model's signatures, where the format holds one.
      overwrite: whether files of an earlier export may be replaced.
      check: called before the work, and before the files are put in place; may
        raise to stop, and then nothing is left behind.

    Raises:
      ConfigError: an unknown format, no checkpoint, an output that cannot be
        written to, a model with nothing to export or with several signatures.
      CheckpointError: the checkpoint belongs to another model.
      DifferenceError: what was written computes something else; it is removed.
      TfFrameError: the format cannot hold the model, or it could not be written.
    """
    chosen = FORMATS.get(format_name)
    if chosen is None:
        raise unknown_format(format_name)
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
        size_bytes=size_bytes,
        inputs=written.inputs,
        signatures=written.signatures,
        comparison=written.comparison,
        tolerance=request.tolerance,
        on_real_data=request.inputs.is_real,
    )


def unknown_format(name: str) -> ConfigError:
    """The error for a format that there is not."""
    near = nearest(name, FORMATS)
    hint = f"did you mean {near!r}?" if near else f"there are {', '.join(FORMATS)}"
    return ConfigError(f"unknown format {name!r}; {hint}")


def _check_checkpoints(output: str, prefix: str) -> None:
    """Refuses a folder whose list of checkpoints would have to be replaced."""
    held = [os.path.basename(path) for path in known_checkpoints(output)]
    is_source = os.path.realpath(output) == os.path.realpath(os.path.dirname(prefix))
    if is_source or set(held) - {name_of(prefix)}:
        raise ConfigError(f"{output} holds checkpoints of a run; take another --output")


def _size_bytes(folder: str) -> int:
    files = [
        os.path.join(parent, name)
        for parent, _, names in tf.io.gfile.walk(folder)
        for name in names
    ]
    return sum(tf.io.gfile.stat(file).length for file in files)
