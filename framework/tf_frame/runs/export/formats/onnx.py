"""The format `onnx`: a float32 model for ONNX Runtime and the many programs that read ONNX.

tf2onnx converts the frozen graph, and ONNX Runtime computes the outputs that are verified. Both
come with `pip install "tf-frame[onnx]"`.
"""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import write_file
from tf_frame.errors import ConfigError, TfFrameError
from tf_frame.runs.export.formats.frozen_graph import used_inputs
from tf_frame.runs.export.formats.tflite import examples
from tf_frame.runs.export.freeze import frozen
from tf_frame.runs.export.raw_inputs import RawSignature
from tf_frame.runs.export.serving import Request, choose_signature, restore_serving, tensor_specs
from tf_frame.runs.export.staging import Written
from tf_frame.runs.export.verify import DifferenceError, compare_batches
from tf_frame.tensorflow_log import log_level

FILE = "model.onnx"


def export(request: Request, folder: str) -> Written:
    """Writes `model.onnx` into a folder, and verifies it.

    Raises:
      ConfigError: tf2onnx or ONNX Runtime is not installed; or the model has several
        signatures, and none was chosen.
      TfFrameError: ONNX lacks an operation of the model.
      DifferenceError: the model computes other outputs than the restored session.
    """
    tf2onnx, _ = _tools()
    signature, batches = request.inputs, [request.inputs.batch]
    if isinstance(signature, RawSignature):
        # tf2onnx cannot convert the loop that prepares a batch.
        signature, batches = signature.for_one_example(), list(examples(signature.batch))
    with restore_serving(request, signature) as serving:
        name = choose_signature(serving.signatures, request.signature, "onnx")
        # Names of classes are in README.json; few programs take text from ONNX.
        outputs = {k: t for k, t in serving.signatures[name].items() if t.dtype != tf.string}
        graph_def = frozen(serving.session, outputs.values())
        inputs = used_inputs(serving, graph_def)
        expected = [serving.run((outputs, serving.scores), batch) for batch in batches]
    write_file(os.path.join(folder, FILE), _convert(tf2onnx, graph_def, inputs, outputs))
    comparison = compare_batches(
        expected, run(folder, batches), tolerance=request.tolerance, ranked_by=request.ranked_by
    )
    signatures = {name: tensor_specs(outputs)}
    return Written(FILE, tensor_specs(inputs), signatures, {name: sorted(inputs)}, comparison)


def run(folder: str, batches: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Loads an export, and computes output name -> array for each batch, input name -> array.

    Raises:
      DifferenceError: ONNX Runtime cannot run it.
    """
    _, runtime = _tools()
    path = os.path.join(folder, FILE)
    try:
        session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        for batch in batches:
            fed = {argument.name: batch[argument.name] for argument in session.get_inputs()}
            yield dict(zip(names, session.run(names, fed), strict=True))
    except Exception as error:  # The classes of ONNX Runtime's errors are not public.
        raise DifferenceError(
            f"the ONNX model was written, but cannot be run: {error}\nit was removed"
        ) from error


def _tools() -> tuple[Any, Any]:
    """Returns the modules `tf2onnx` and `onnxruntime`."""
    try:
        return importlib.import_module("tf2onnx"), importlib.import_module("onnxruntime")
    except ImportError as error:
        raise ConfigError(
            f'--format onnx cannot be written: {error}; pip install "tf-frame[onnx]"'
        ) from None


def _convert(
    tf2onnx: Any, graph_def: Any, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
) -> bytes:
    """Converts a frozen graph to the bytes of an ONNX model.

    `inputs` and `outputs` are name -> tensor.
    """
    names = {tensor.name: name for name, tensor in {**inputs, **outputs}.items()}
    try:
        with log_level("tf2onnx", logging.ERROR):
            model, _ = tf2onnx.convert.from_graph_def(
                graph_def,
                input_names=[tensor.name for tensor in inputs.values()],
                output_names=[tensor.name for tensor in outputs.values()],
                tensors_to_rename=names,
            )
            return bytes(model.SerializeToString())
    except Exception as error:  # tf2onnx has no class of errors.
        line = next(iter(str(error).splitlines()), type(error).__name__)
        raise TfFrameError(
            f"tf2onnx cannot convert this model: {line}\nexport it as a saved_model or frozen_graph"
        ) from error
