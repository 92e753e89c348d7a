"""The format `saved_model`, for TensorFlow Serving and `tf.saved_model.load`.

`tf_frame.runs.export.saved_model` writes the files. This module loads and compares the result.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import PluginError
from tf_frame.plugin import Mode
from tf_frame.runs.export.description_files import write_class_names
from tf_frame.runs.export.saved_model import export_saved_models
from tf_frame.runs.export.serving import Request, restore_serving
from tf_frame.runs.export.staging import Written
from tf_frame.runs.export.verify import compare, translated_run_errors

Arrays = Mapping[str, Any]


def export(request: Request, folder: str) -> Written:
    """Writes a SavedModel into a folder, named by the time, and verifies all its signatures.

    Raises:
      PluginError: none of the model's outputs fits the inputs.
      DifferenceError: the SavedModel computes other outputs than the restored session.
    """
    expected: dict[str, Arrays] = {}
    scores: dict[str, Any] = {}
    with restore_serving(request) as serving:
        for form in serving.forms:
            fetched = serving.signatures, serving.scores
            outputs, of_form = serving.run(fetched, request.inputs.batch, form)
            expected |= {f"{form}{name}": arrays for name, arrays in outputs.items()}
            scores |= {f"{form}{name}": array for name, array in of_form.items()}
    class_names = write_class_names(request, folder)
    path = export_saved_models(
        model=request.model,
        receivers={Mode.PREDICT: lambda: _receive(request, class_names)},
        config=request.config,
        checkpoint=request.checkpoint,
        export_dir_base=folder,
        freeze=request.freeze,
    )
    if class_names:
        tf.io.gfile.remove(class_names)
    path = _rename(path, os.path.dirname(folder))
    found, signatures = run(path, request.inputs.batch, request.session_config())
    if not found:
        raise PluginError(
            "the SavedModel would have no signature: no export of the model fits these inputs; "
            "classes and values of tf.estimator need one input of serialised tf.Example"
        )
    # Signatures that do not fit the inputs are not exported.
    expected = {name: expected[name] for name in found}
    comparison = compare(
        expected, found, tolerance=request.tolerance, scores=scores, ranked_by=request.ranked_by
    )
    inputs = {n: spec for s in signatures.values() for n, spec in _specs(s.inputs).items()}
    outputs = {name: _specs(signature.outputs) for name, signature in signatures.items()}
    fed = {name: sorted(signature.inputs) for name, signature in signatures.items()}
    return Written(os.path.basename(path), inputs, outputs, fed, comparison)


def _receive(request: Request, class_names: str | None) -> Any:
    """Adds the inputs to the default graph, and the file of the class names to its assets."""
    if class_names:
        asset = tf.constant(class_names, tf.string, name="class_names")
        tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, asset)
    return request.inputs.receive()


def run(
    path: str, batch: Arrays, session_config: Any = None
) -> tuple[dict[str, Arrays], Mapping[str, Any]]:
    """Loads a SavedModel into a new graph, and computes the outputs of every signature.

    Returns:
      Signature name -> output name -> array; and signature name -> `SignatureDef`.
    """
    with (
        tf.Graph().as_default(),
        tf.Session(config=session_config) as session,
        translated_run_errors("SavedModel"),
    ):
        loaded = tf.saved_model.load(session, [tf.saved_model.SERVING], path)
        # Alternative forms of the inputs come after the signatures themselves.
        names = sorted(loaded.signature_def, key=lambda name: (":" in name, name))
        signatures = {name: loaded.signature_def[name] for name in names}
        return {
            name: session.run(
                {key: info.name for key, info in signature.outputs.items()},
                {info.name: batch[key] for key, info in signature.inputs.items()},
            )
            for name, signature in signatures.items()
        }, signatures


def _rename(path: str, base: str) -> str:
    """Renames the export to the next free number of the final folder."""
    folder, name = os.path.split(path)
    number = int(name)
    while tf.io.gfile.exists(os.path.join(base, str(number))):
        number += 1
    new = os.path.join(folder, str(number))
    if new != path:
        tf.io.gfile.rename(path, new)
    return new


def _specs(infos: Mapping[str, Any]) -> dict[str, Any]:
    """Returns name -> `tf.TensorSpec` of the tensors of a signature."""
    return {
        name: tf.TensorSpec(tf.TensorShape(info.tensor_shape), tf.as_dtype(info.dtype))
        for name, info in sorted(infos.items())
    }
