"""Makes the signatures of an exported graph from receivers and `ExportOutput`s.

A signature has names of the tensors that clients of TensorFlow Serving feed and fetch.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import PluginError
from tf_frame.graph.losses import collected_losses
from tf_frame.plugin import Mode, ModelOutput
from tf_frame.runs.export.export_outputs import (
    DEFAULT_KEY,
    EvalOutput,
    ExportOutput,
    PredictOutput,
    TrainOutput,
)
from tf_frame.runs.export.input_receivers import RECEIVER_NAME
from tf_frame.text import brief

# Names of signatures in a SavedModel, without public constants in TensorFlow
# (saved_model/signature_constants.py).
_SUPERVISED = {Mode.TRAIN: ("train", TrainOutput), Mode.EVAL: ("eval", EvalOutput)}

_LOG = logging.getLogger("tf_frame")


def find_exports(output: ModelOutput, mode: Mode) -> dict[str, ExportOutput]:
    """Returns the outputs of a model in an exported graph of a mode.

    Returns:
      Signature name -> output. PREDICT: the model's exports, with a `serving_default`; without
      any, the predictions. EVAL and TRAIN: one signature `eval` or `train` with loss,
      predictions and metrics.

    Raises:
      PluginError: there is neither an export nor a prediction.
      ValueError: an output is not a tensor, or none of several exports is the default.
    """
    predictions = output.predictions
    if mode in _SUPERVISED:
        key, kind = _SUPERVISED[mode]
        loss, losses = output.loss, collected_losses()
        if loss is None and losses:
            loss = tf.add_n(losses)
        return {key: kind(loss=loss, predictions=predictions, metrics=output.metrics)}
    exports: Mapping[str, Any] = output.exports
    if not exports:
        if isinstance(predictions, Mapping) and not predictions:
            raise PluginError(
                "the model offers nothing to serve: its build() for prediction returned neither "
                "exports nor predictions; return ModelOutput(predictions={name: tensor})"
            )
        exports = {DEFAULT_KEY: predictions}
    return _add_default(
        {
            name: value if isinstance(value, ExportOutput) else PredictOutput(value)
            for name, value in exports.items()
        }
    )


def checked_exports(export_outputs: Any, predictions: Any) -> dict[str, ExportOutput]:
    """Returns the export outputs of an `EstimatorSpec`, with a `serving_default`.

    Types and texts are taken from tensorflow, saved_model/model_utils/export_utils.py.

    Args:
      export_outputs: signature name -> `ExportOutput`; None for the predictions.
      predictions: a tensor or a dict of tensors.

    Raises:
      TypeError: `export_outputs` is not a dict of `ExportOutput`.
      ValueError: none of several outputs has the name `serving_default`.
    """
    if export_outputs is None:
        export_outputs = {DEFAULT_KEY: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"`export_outputs` must be dict, received: {export_outputs}.")
    if not all(isinstance(output, ExportOutput) for output in export_outputs.values()):
        raise TypeError(
            f"Values in `export_outputs` must be ExportOutput objects, received: {export_outputs}."
        )
    return _add_default(export_outputs)


def _add_default(outputs: dict[str, ExportOutput]) -> dict[str, ExportOutput]:
    """Returns outputs with a `serving_default`; a single output gets this name, too."""
    if len(outputs) == 1:
        return {**outputs, DEFAULT_KEY: next(iter(outputs.values()))}
    if outputs and DEFAULT_KEY not in outputs:
        raise ValueError(
            "Multiple `export_outputs` were provided, but none of them are specified as the "
            "default. Use`tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY` to specify a default."
        )
    return dict(outputs)


def make_signatures(
    receiver: Any, exports: Mapping[str, ExportOutput], *, serving: bool
) -> dict[str, Any]:
    """Returns the signatures of a graph.

    An output that does not fit the inputs, or cannot be computed from them, gets no signature; the
    reason is logged (tensorflow, saved_model/model_utils/export_utils.py).

    Args:
      receiver: an object with `receiver_tensors`, maybe with alternatives.
      exports: signature name -> output.
      serving: return only signatures that TensorFlow Serving can serve.

    Returns:
      Signature name -> `SignatureDef`; with alternative receiver tensors also
      `ALTERNATIVE:NAME`.
    """
    inputs = {"": receiver.receiver_tensors}
    alternatives = getattr(receiver, "receiver_tensors_alternatives", None) or {}
    inputs.update({f"{name or 'None'}:": tensors for name, tensors in alternatives.items()})
    signatures, excluded = {}, {}
    for prefix, tensors in inputs.items():
        fed = tensors if isinstance(tensors, Mapping) else {RECEIVER_NAME: tensors}
        for name, export in exports.items():
            key = f"{prefix}{name or 'None'}"
            try:
                signatures[key] = _signature(export, fed, serving)
            except ValueError as error:
                excluded[key] = str(error)
    _log(signatures, excluded, serving)
    return signatures


def _signature(export: ExportOutput, fed: Mapping[str, Any], serving: bool) -> Any:
    signature = export.as_signature_def(fed)
    if serving and not tf.saved_model.is_valid_signature(signature):
        raise ValueError("it has no inputs, no outputs, or some that its method does not allow")
    _check_computable(fed, signature)
    return signature


def _check_computable(fed: Mapping[str, Any], signature: Any) -> None:
    """Raises a ValueError if an output needs a placeholder that is not an input."""
    inputs = tf.nest.flatten(list(fed.values()), expand_composites=True)
    stop = {tensor.ref() for tensor in inputs}
    for name, info in signature.outputs.items():
        for tensor in map(tf.get_default_graph().get_tensor_by_name, _tensor_names(info)):
            missing = _unfed_placeholder(tensor, stop)
            if missing:
                names = [tensor.name for tensor in inputs]
                raise ValueError(
                    f"its inputs {names} are insufficient to compute its output {brief(name)} "
                    f"({tensor.name}), which depends on the placeholder {missing}"
                )


def _tensor_names(info: Any) -> list[str]:
    """Returns the tensor name in a `TensorInfo`, or the names of a sparse or ragged tensor."""
    encoding = info.WhichOneof("encoding")
    if encoding == "coo_sparse":
        sparse = info.coo_sparse
        return [
            sparse.values_tensor_name,
            sparse.indices_tensor_name,
            sparse.dense_shape_tensor_name,
        ]
    if encoding == "composite_tensor":
        return [name for part in info.composite_tensor.components for name in _tensor_names(part)]
    return [info.name]


def _unfed_placeholder(end: Any, fed: set[Any]) -> str | None:
    """Returns the name of a placeholder that a tensor depends on and that is not fed."""
    waiting, seen = [] if end.ref() in fed else [end.op], set()
    while waiting:
        op = waiting.pop()
        if op.name in seen:
            continue
        seen.add(op.name)
        if op.type == "Placeholder" and op.outputs[0].ref() not in fed:
            return str(op.name)
        waiting += [tensor.op for tensor in op.inputs if tensor.ref() not in fed]
        waiting += op.control_inputs
    return None


def _log(signatures: Mapping[str, Any], excluded: Mapping[str, str], serving: bool) -> None:
    for name, signature in signatures.items():
        _LOG.info("exported signature %r for %s", name, signature.method_name)
    for name, reason in excluded.items():
        _LOG.warning("signature %r is not exported: %s", name, reason)
    if not signatures:
        _LOG.warning("Export includes no signatures!")
    elif serving and DEFAULT_KEY not in signatures:
        _LOG.warning("Export includes no default signature!")
