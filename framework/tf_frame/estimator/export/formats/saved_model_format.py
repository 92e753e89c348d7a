"""The format `saved_model`, for TensorFlow Serving and `tf.saved_model.load`.

It uses `tf_frame.estimator.export.saved_model` with placeholders for the run's own features.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import PluginError
from tf_frame.estimator.export.folder import Written
from tf_frame.estimator.export.input_signature import placeholders
from tf_frame.estimator.export.saved_model import export_saved_models
from tf_frame.estimator.export.serving import Request, restored
from tf_frame.estimator.export.verify import compare, runnable
from tf_frame.plugin import Mode

Arrays = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class _Receiver:
    """A receiver of features in any structure; the receivers of tf.estimator are flat."""

    features: Any
    receiver_tensors: Mapping[str, Any]


def export(request: Request, folder: str) -> Written:
    """Writes a SavedModel into a folder, named by the time, and verifies all its signatures.

    Raises:
      PluginError: none of the model's outputs fits the inputs.
      DifferenceError: the SavedModel computes other outputs than the restored session.
    """
    with restored(request) as serving:
        expected, scores = serving.run((serving.signatures, serving.scores), request.inputs.batch)
    path = export_saved_models(
        model=request.model,
        receivers={Mode.PREDICT: lambda: _Receiver(*placeholders(request.inputs.specs))},
        config=request.config,
        checkpoint=request.checkpoint,
        export_dir_base=folder,
    )
    path = _renamed(path, os.path.dirname(folder))
    found, signatures = run(path, request.inputs.batch, request.session_config())
    if not found:
        raise PluginError(
            "the SavedModel would have no signature: no export of the model fits these inputs; "
            "classes and values of tf.estimator need one input of serialised tf.Example"
        )
    # Signatures that do not fit the inputs are not exported.
    expected = {name: expected[name] for name in found}
    comparison = compare(expected, found, tolerance=request.tolerance, scores=scores)
    inputs = {n: spec for each in signatures.values() for n, spec in _specs(each.inputs).items()}
    outputs = {name: _specs(each.outputs) for name, each in signatures.items()}
    return Written(os.path.basename(path), inputs, outputs, comparison)


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
        runnable("SavedModel"),
    ):
        loaded = tf.saved_model.load(session, [tf.saved_model.SERVING], path)
        signatures = dict(loaded.signature_def)
        return {
            name: session.run(
                {key: info.name for key, info in each.outputs.items()},
                {info.name: batch[key] for key, info in each.inputs.items()},
            )
            for name, each in signatures.items()
        }, signatures


def _renamed(path: str, base: str) -> str:
    """Renames the export to the next number that is free in its final folder."""
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
