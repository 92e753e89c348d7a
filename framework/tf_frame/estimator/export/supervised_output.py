"""Outputs of an exported evaluation or training graph: loss, predictions and metrics.

Names and texts are those of tensorflow, saved_model/model_utils/export_output.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import tensorflow.compat.v1 as tf

from tf_frame.estimator.export.outputs import (
    SEPARATOR,
    ExportOutput,
    checked_key,
    checked_outputs,
)


class SupervisedOutput(ExportOutput):
    """Loss, predictions and metrics of a graph with labels.

    Args:
      loss: a tensor or a mapping of tensors.
      predictions: likewise.
      metrics: name -> `(value, update_op)`, or one such pair.

    Attributes:
      loss, predictions: None, or `loss` or `loss/NAME` -> tensor, and likewise.
      metrics: None, or `metrics/NAME/value` and `metrics/NAME/update_op` -> tensor.

    Raises:
      ValueError: a name is not a string, or a value not a tensor.
    """

    LOSS_NAME = "loss"
    PREDICTIONS_NAME = "predictions"
    METRICS_NAME = "metrics"
    METRIC_VALUE_SUFFIX = "value"
    METRIC_UPDATE_SUFFIX = "update_op"

    # Method of the signature in a SavedModel; TensorFlow has no public constant for it.
    METHOD_NAME: ClassVar[str]

    def __init__(self, loss: Any = None, predictions: Any = None, metrics: Any = None) -> None:
        self.loss = _prefixed(loss, self.LOSS_NAME)
        self.predictions = _prefixed(predictions, self.PREDICTIONS_NAME)
        self.metrics = None if metrics is None else self._flat_metrics(metrics)

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        if not receiver_tensors:
            raise ValueError(f"{self.METHOD_NAME} `inputs` cannot be None or empty.")
        outputs = {**(self.loss or {}), **(self.predictions or {}), **(self.metrics or {})}
        info = tf.saved_model.build_tensor_info
        return tf.saved_model.build_signature_def(
            {name: info(tensor) for name, tensor in receiver_tensors.items()},
            {name: info(tensor) for name, tensor in outputs.items()},
            self.METHOD_NAME,
        )

    def _flat_metrics(self, metrics: Any) -> dict[str, Any]:
        named = metrics if isinstance(metrics, Mapping) else {self.METRICS_NAME: metrics}
        outputs = {}
        for name, (value, update) in named.items():
            key = _with_prefix(checked_key(name, self.METRICS_NAME), self.METRICS_NAME)
            if not isinstance(value, tf.Tensor):
                raise ValueError(f"{key} output value must be a Tensor; got {value}.")
            if not (tf.is_tensor(update) or isinstance(update, tf.Operation)):
                raise ValueError(f"{key} update_op must be a Tensor or Operation; got {update}.")
            outputs[key + SEPARATOR + self.METRIC_VALUE_SUFFIX] = value
            outputs[key + SEPARATOR + self.METRIC_UPDATE_SUFFIX] = _as_tensor(update)
        return outputs


class EvalOutput(SupervisedOutput):
    """Outputs of an exported evaluation graph."""

    METHOD_NAME = "tensorflow/supervised/eval"


class TrainOutput(SupervisedOutput):
    """Outputs of an exported training graph."""

    METHOD_NAME = "tensorflow/supervised/training"


def _prefixed(outputs: Any, name: str) -> dict[str, Any] | None:
    if outputs is None:
        return None
    found = checked_outputs(outputs, name, name)
    return {_with_prefix(key, name): value for key, value in found.items()}


def _with_prefix(key: str, name: str) -> str:
    return key if key.startswith(name) else name + SEPARATOR + key


def _as_tensor(update: Any) -> Any:
    """Returns a tensor for an update: signatures hold tensors only, so ops get an empty one."""
    if isinstance(update, tf.Tensor):
        return update
    with tf.control_dependencies([update]):
        return tf.constant([], name="metric_op_wrapper")
