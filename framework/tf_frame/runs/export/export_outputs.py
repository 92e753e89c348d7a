"""`ExportOutput` classes: the outputs of an exported graph, and their `SignatureDef`s.

    output = ClassificationOutput(scores=probabilities, classes=names)
    output.as_signature_def({"examples": examples})

A model function returns them as `EstimatorSpec(export_outputs=...)`. Checks and texts are taken
from tensorflow, saved_model/model_utils/export_output.py.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any, ClassVar

import tensorflow.compat.v1 as tf

_SEPARATOR = "/"
DEFAULT_KEY = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY

_ONE_STRING_INPUT = (
    "{} signatures can only accept a single tensor input of type tf.string. Please check to "
    "make sure that you have structured the serving_input_receiver_fn so that it creates a "
    "single string placeholder. If your model function expects multiple inputs, then use "
    "`tf.io.parse_example()` to parse the string into multiple tensors.\n Received: {}"
)


class ExportOutput(abc.ABC):
    """One output of a model, such as the result of one head."""

    @abc.abstractmethod
    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """Returns the `SignatureDef` with these inputs and this output.

        Args:
          receiver_tensors: input name -> tensor to feed.

        Raises:
          ValueError: this kind of output cannot be served from such inputs.
        """


class ClassificationOutput(ExportOutput):
    """Scores, classes or both, for the Classify call of TensorFlow Serving.

    Args:
      scores: floating-point, `[batch, classes]`. Without `classes`: one score for each class, in
        the order of the ids.
      classes: strings, `[batch, classes]`. Without `scores`: the best classes, the best one
        first. With both: the classes of the scores.

    Raises:
      ValueError: both are None, or one has the wrong type.
    """

    def __init__(self, scores: Any = None, classes: Any = None) -> None:
        if scores is not None and not _is_floating(scores):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and not _is_string(classes):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        if scores is None and classes is None:
            raise ValueError(
                "Cannot create a ClassificationOutput with empty arguments. At least one of "
                "`scores` and `classes` must be defined."
            )
        self.scores = scores
        self.classes = classes

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        examples = _examples(receiver_tensors, "Classification")
        return tf.saved_model.classification_signature_def(examples, self.classes, self.scores)


class RegressionOutput(ExportOutput):
    """Numbers, for the Regress call of TensorFlow Serving.

    Args:
      value: floating-point, `[batch]` or `[batch, 1]`.

    Raises:
      ValueError: `value` is not a floating-point tensor.
    """

    def __init__(self, value: Any) -> None:
        if not _is_floating(value):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self.value = value

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        examples = _examples(receiver_tensors, "Regression")
        return tf.saved_model.regression_signature_def(examples, self.value)


class PredictOutput(ExportOutput):
    """Any tensors, for the Predict call of TensorFlow Serving.

    Args:
      outputs: output name -> tensor; a name may be a tuple of strings. Or one tensor, which gets
        the name `output`.

    Raises:
      ValueError: a name is not a string, or a value not a tensor.
    """

    def __init__(self, outputs: Any) -> None:
        self.outputs = _checked_outputs(outputs, "output", "Prediction")

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        return tf.saved_model.predict_signature_def(dict(receiver_tensors), self.outputs)


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
            key = _with_prefix(_checked_key(name, self.METRICS_NAME), self.METRICS_NAME)
            if not isinstance(value, tf.Tensor):
                raise ValueError(f"{key} output value must be a Tensor; got {value}.")
            if not (tf.is_tensor(update) or isinstance(update, tf.Operation)):
                raise ValueError(f"{key} update_op must be a Tensor or Operation; got {update}.")
            outputs[key + _SEPARATOR + self.METRIC_VALUE_SUFFIX] = value
            outputs[key + _SEPARATOR + self.METRIC_UPDATE_SUFFIX] = _as_tensor(update)
        return outputs


class EvalOutput(SupervisedOutput):
    """Outputs of an exported evaluation graph.

    Args:
      loss: a tensor or a mapping of tensors; None: none.
      predictions: a tensor or a mapping of tensors; None: none.
      metrics: name -> `(value, update_op)`, or one such pair; None: none.

    Raises:
      ValueError: a name is not a string, or a value not a tensor.
    """

    METHOD_NAME = "tensorflow/supervised/eval"


class TrainOutput(SupervisedOutput):
    """Outputs of an exported training graph.

    Args:
      loss: a tensor or a mapping of tensors; None: none.
      predictions: a tensor or a mapping of tensors; None: none.
      metrics: name -> `(value, update_op)`, or one such pair; None: none.

    Raises:
      ValueError: a name is not a string, or a value not a tensor.
    """

    METHOD_NAME = "tensorflow/supervised/training"


def _checked_outputs(outputs: Any, default_name: str, label: str) -> dict[str, Any]:
    """Returns a mapping of tensors as a new dict; a single tensor gets the default name."""
    named = outputs if isinstance(outputs, Mapping) else {default_name: outputs}
    for value in named.values():
        if not isinstance(value, tf.Tensor):
            raise ValueError(f"{label} output value must be a Tensor; got {value}.")
    return {_checked_key(key, label): value for key, value in named.items()}


def _checked_key(key: Any, label: str) -> str:
    """Returns the name of an output; the parts of a tuple are joined by a slash."""
    if isinstance(key, tuple):
        key = _SEPARATOR.join(key)
    if not isinstance(key, str):
        raise ValueError(f"{label} output key must be a string; got {key}.")
    return key


def _examples(receiver_tensors: Mapping[str, Any], label: str) -> Any:
    """Returns the single string tensor to feed."""
    tensors = list(receiver_tensors.values())
    if len(tensors) != 1 or not tensors[0].dtype == tf.string:
        raise ValueError(_ONE_STRING_INPUT.format(label, receiver_tensors))
    return tensors[0]


def _is_floating(value: Any) -> bool:
    return isinstance(value, tf.Tensor) and value.dtype.is_floating


def _is_string(value: Any) -> bool:
    return isinstance(value, tf.Tensor) and value.dtype == tf.string


def _prefixed(outputs: Any, name: str) -> dict[str, Any] | None:
    if outputs is None:
        return None
    named = _checked_outputs(outputs, name, name)
    return {_with_prefix(key, name): value for key, value in named.items()}


def _with_prefix(key: str, name: str) -> str:
    return key if key.startswith(name) else name + _SEPARATOR + key


def _as_tensor(update: Any) -> Any:
    """Returns a tensor for an update: signatures hold tensors, so an op gets an empty tensor."""
    if isinstance(update, tf.Tensor):
        return update
    with tf.control_dependencies([update]):
        return tf.constant([], name="metric_op_wrapper")
