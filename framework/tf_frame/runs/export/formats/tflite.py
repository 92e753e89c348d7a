"""The format `tflite`: a float32 model for TensorFlow Lite, on phones and small devices.

TensorFlow Lite plans its memory for fixed sizes, so the model takes batches of one example, with
the sizes of the evaluation data.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import write_file
from tf_frame.errors import ConfigError, TfFrameError
from tf_frame.file_system import read_bytes
from tf_frame.runs.export.export_outputs import DEFAULT_KEY
from tf_frame.runs.export.formats.frozen_graph import used_inputs
from tf_frame.runs.export.freeze import frozen
from tf_frame.runs.export.serving import Request, choose_signature, restore_serving, tensor_specs
from tf_frame.runs.export.staging import Written
from tf_frame.runs.export.verify import Comparison, compare_batches

FILE = "model.tflite"


def export(
    request: Request,
    folder: str,
    *,
    configure: Callable[[Any, Sequence[Mapping[str, Any]]], None] = lambda converter, examples: (
        None
    ),
    compare: Callable[..., Comparison] = compare_batches,
    check: Callable[[Any], None] = lambda graph_def: None,
) -> Written:
    """Writes `model.tflite` into a folder, and verifies it on every example of the batch.

    Args:
      request: the model and its inputs.
      folder: an empty folder.
      configure: sets options of a `TFLiteConverter`, from the examples of the batch.
      compare: compares outputs; see `compare_batches`.
      check: raises an error for a `GraphDef` that cannot be converted.

    Raises:
      ConfigError: TensorFlow comes without TensorFlow Lite, or without eager execution;
        or the model has several signatures, and none was chosen.
      TfFrameError: TensorFlow Lite lacks an operation of the model.
      DifferenceError: the model computes other outputs than the restored session.
    """
    lite = tensorflow_lite()
    batches = list(examples(request.inputs.batch))
    with restore_serving(request, request.inputs.for_one_example()) as serving:
        name = choose_signature(serving.signatures, request.signature, "tflite")
        # TensorFlow Lite has no operations on text.
        outputs = {k: t for k, t in serving.signatures[name].items() if t.dtype != tf.string}
        graph_def = frozen(serving.session, outputs.values())
        check(graph_def)
        inputs = used_inputs(serving, graph_def)
        expected = [serving.run((outputs, serving.scores), example) for example in batches]
    saved_model = os.path.join(folder, "saved_model")
    _write_saved_model(saved_model, graph_def, inputs, outputs)
    model = _convert(lite, saved_model, lambda converter: configure(converter, batches))
    tf.io.gfile.rmtree(saved_model)
    write_file(os.path.join(folder, FILE), model)
    comparison = compare(
        expected, run(folder, batches), tolerance=request.tolerance, ranked_by=request.ranked_by
    )
    signatures = {name: tensor_specs(outputs)}
    return Written(FILE, tensor_specs(inputs), signatures, {name: sorted(inputs)}, comparison)


def run(folder: str, batches: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Loads an export, and computes output name -> array for each batch of one example.

    A batch is input name -> array, and may contain more inputs than the model reads.
    """
    content = read_bytes(os.path.join(folder, FILE))
    with _without_deprecation():
        interpreter = tensorflow_lite().Interpreter(model_content=content)
    runner = interpreter.get_signature_runner(DEFAULT_KEY)
    names = runner.get_input_details()
    for batch in batches:
        yield runner(**{name: batch[name] for name in names})


def tensorflow_lite() -> Any:
    """Returns TensorFlow's module `lite`.

    Raises:
      ConfigError: this TensorFlow has no `lite`.
    """
    lite = getattr(tf.compat.v2, "lite", None)
    if not (hasattr(lite, "TFLiteConverter") and hasattr(lite, "Interpreter")):
        raise ConfigError(
            f"TensorFlow {tf.version.VERSION} has no tf.lite, which --format tflite needs; use "
            "TensorFlow 2.21 for it, or --format saved_model"
        )
    return lite


def examples(batch: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the examples of a batch as batches of one; each gets all scalars."""
    count = max((len(array) for array in batch.values() if np.ndim(array)), default=1)
    for i in range(count):
        yield {k: array[i : i + 1] if np.ndim(array) else array for k, array in batch.items()}


def _write_saved_model(
    path: str, graph_def: Any, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
) -> None:
    """Writes the input of the converter, with names of inputs and outputs.

    `inputs` and `outputs` are name -> tensor of the graph before freezing.
    """
    # Without a GPU: sessions of one process cannot choose different GPUs.
    proto = tf.ConfigProto(device_count={"GPU": 0})
    with tf.Graph().as_default() as graph, tf.Session(config=proto) as session:
        tf.import_graph_def(graph_def, name="")

        def find(tensors: Mapping[str, Any]) -> dict[str, Any]:
            return {name: graph.get_tensor_by_name(t.name) for name, t in tensors.items()}

        signature = tf.saved_model.predict_signature_def(find(inputs), find(outputs))
        builder = tf.saved_model.Builder(path)
        builder.add_meta_graph_and_variables(
            session, [tf.saved_model.SERVING], {DEFAULT_KEY: signature}
        )
        builder.save()


def _convert(lite: Any, path: str, configure: Callable[[Any], None]) -> bytes:
    """Converts a SavedModel to the bytes of a TensorFlow Lite model."""
    if not _call_in_thread(tf.executing_eagerly):
        raise ConfigError(
            "eager execution is disabled in this process (by tf.disable_v2_behavior() or "
            "tf.disable_eager_execution()), and TensorFlow Lite's converter needs it; export in a "
            "process that does not call them, or another format"
        )

    def convert() -> bytes:
        converter = lite.TFLiteConverter.from_saved_model(path, signature_keys=[DEFAULT_KEY])
        configure(converter)
        return bytes(converter.convert())

    try:
        with _without_deprecation():
            model: bytes = _call_in_thread(convert)
        return model
    except Exception as error:  # The class of the converter's errors is not public.
        raise TfFrameError(
            f"TensorFlow Lite cannot convert this model: {_reason(error)}\nexport it as a "
            "saved_model or frozen_graph"
        ) from error


@contextlib.contextmanager
def _without_deprecation() -> Iterator[None]:
    """Hides the warning that the interpreter moves to ai_edge_litert, which is no dependency."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\s*Warning: tf\.lite\.Interpreter is deprecated")
        yield


def _call_in_thread(function: Callable[[], Any]) -> Any:
    """Calls a function in a new thread, without a default graph.

    With a default graph, the converter would lose the names of inputs and outputs.
    """
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        return executor.submit(function).result()


def _reason(error: Exception) -> str:
    """Returns the missing operations in a converter's message; else the first line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    missing = [line for line in lines if line.startswith(("TF Select ops:", "Custom ops:"))]
    return "it has no operation of its own for " + "; ".join(missing) if missing else lines[0]
