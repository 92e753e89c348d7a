"""`ExportOutput`s: the outputs that an exported model serves, and their signatures.

ClassificationOutput(scores=probabilities, classes=names).as_signature_def({"examples": examples})

Checks and texts are those of tensorflow, saved_model/model_utils/export_output.py.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

SEPARATOR = "/"
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
      scores: floating-point, `[batch, classes]`. Without `classes`: one score
        for each class, in the order of their ids.
      classes: strings, `[batch, classes]`. Without `scores`: the best classes, the
        best one first. With both, each score belongs to the class at its index.

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
      outputs: output name -> tensor, where a name may be a tuple of strings; or
        one tensor, which then has the name `output`.

    Raises:
      ValueError: a name is not a string, or a value not a tensor.
    """

    def __init__(self, outputs: Any) -> None:
        self.outputs = checked_outputs(outputs, "output", "Prediction")

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        return tf.saved_model.predict_signature_def(dict(receiver_tensors), self.outputs)


def checked_outputs(outputs: Any, default_name: str, label: str) -> dict[str, Any]:
    """Returns outputs as a new dict.

    Args:
      outputs: a mapping of tensors, or one tensor.
      default_name: name of a single tensor.
      label: kind of outputs, for the errors.

    Raises:
      ValueError: a name is not a string, or a value not a tensor.
    """
    named = outputs if isinstance(outputs, Mapping) else {default_name: outputs}
    for value in named.values():
        if not isinstance(value, tf.Tensor):
            raise ValueError(f"{label} output value must be a Tensor; got {value}.")
    return {checked_key(key, label): value for key, value in named.items()}


def checked_key(key: Any, label: str) -> str:
    """Returns the name of an output; the parts of a tuple are joined by a slash.

    Raises:
      ValueError: the name is not a string.
    """
    if isinstance(key, tuple):
        key = SEPARATOR.join(key)
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


def checked_exports(export_outputs: Any, predictions: Any) -> dict[str, ExportOutput]:
    """Returns the export outputs of an `EstimatorSpec`, one of them the default.

    Types and texts are those of tensorflow, saved_model/model_utils/export_utils.py.

    Args:
      export_outputs: signature name -> `ExportOutput`; None for the predictions.
      predictions: a tensor or a dict of tensors.

    Raises:
      TypeError: `export_outputs` is not a dict of `ExportOutput`.
      ValueError: of several outputs, none is called `serving_default`.
    """
    if export_outputs is None:
        export_outputs = {DEFAULT_KEY: PredictOutput(predictions)}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"`export_outputs` must be dict, received: {export_outputs}.")
    if not all(isinstance(output, ExportOutput) for output in export_outputs.values()):
        raise TypeError(
            f"Values in `export_outputs` must be ExportOutput objects, received: {export_outputs}."
        )
    return with_default(export_outputs)


def with_default(outputs: dict[str, ExportOutput]) -> dict[str, ExportOutput]:
    """Returns outputs with a `serving_default`: a single output also gets this name.

    Raises:
      ValueError: of several outputs, none is called `serving_default`.
    """
    if len(outputs) == 1:
        return {**outputs, DEFAULT_KEY: next(iter(outputs.values()))}
    if outputs and DEFAULT_KEY not in outputs:
        raise ValueError(
            "Multiple `export_outputs` were provided, but none of them are specified as the "
            "default. Use`tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY` to specify a default."
        )
    return dict(outputs)
