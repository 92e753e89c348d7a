"""Receivers: the inputs of an exported model, and the features computed from them.

A receiver names the tensors to feed, and the features (and labels) that the model gets.
Checks and texts are those of tensorflow_estimator, export/export.py.
"""

from __future__ import annotations

import collections
from typing import Any

import tensorflow.compat.v1 as tf

FEATURE_NAME = "feature"
RECEIVER_NAME = "input"
LABEL_NAME = "label"

_ALONE = {
    "feature": FEATURE_NAME,
    "label": LABEL_NAME,
    "receiver_tensor": RECEIVER_NAME,
    "receiver_tensors_alternative": RECEIVER_NAME,
}
_Serving = collections.namedtuple(
    "_Serving", ["features", "receiver_tensors", "receiver_tensors_alternatives"]
)
_Supervised = collections.namedtuple("_Supervised", ["features", "labels", "receiver_tensors"])


class ServingInputReceiver(_Serving):
    """Features for a model that takes a dict of features.

    Args:
      features: name, a string or an integer, -> tensor (dense, sparse or
        ragged); one tensor becomes `{"feature": tensor}`.
      receiver_tensors: name -> tensor to feed; one tensor becomes `{"input": tensor}`.
        Usually a placeholder of serialised `tf.Example`s.
      receiver_tensors_alternatives: name -> other receiver tensors. Each adds a
        signature `NAME:SIGNATURE` for every output.

    Raises:
      ValueError: an argument is missing, a value not a tensor, or a name not a string.
    """

    __slots__ = ()

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None
    ) -> ServingInputReceiver:
        return super().__new__(
            cls,
            features=_named(features, "feature", integer_names=True),
            receiver_tensors=_named(receiver_tensors, "receiver_tensor"),
            receiver_tensors_alternatives=_alternatives(receiver_tensors_alternatives),
        )


class TensorServingInputReceiver(_Serving):
    """Features for a model that takes one tensor, not a dict.

    Args:
      features: the tensor (dense, sparse or ragged).
      receiver_tensors, receiver_tensors_alternatives: see `ServingInputReceiver`.

    Raises:
      ValueError: an argument is missing, a value not a tensor, or a name not a string.
    """

    __slots__ = ()

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None
    ) -> TensorServingInputReceiver:
        if features is None:
            raise ValueError("features must be defined.")
        _check_tensor(features, "feature")
        return super().__new__(
            cls,
            features=features,
            receiver_tensors=_named(receiver_tensors, "receiver_tensor"),
            receiver_tensors_alternatives=_alternatives(receiver_tensors_alternatives),
        )


class UnsupervisedInputReceiver(ServingInputReceiver):
    """Features for training or evaluation of a model that needs no labels."""

    __slots__ = ()

    def __new__(cls, features: Any, receiver_tensors: Any) -> UnsupervisedInputReceiver:
        return super().__new__(cls, features, receiver_tensors)  # type: ignore[return-value]


class SupervisedInputReceiver(_Supervised):
    """Features and labels for training or evaluation; the model gets them unchanged.

    Args:
      features, labels: a tensor each, or a dict of string or integer to tensor.
      receiver_tensors: name -> tensor to feed; one tensor becomes `{"input": tensor}`.

    Raises:
      ValueError: an argument is missing, a value not a tensor, or a name not a string.
    """

    __slots__ = ()

    def __new__(cls, features: Any, labels: Any, receiver_tensors: Any) -> SupervisedInputReceiver:
        _named(features, "feature", integer_names=True)
        _named(labels, "label", integer_names=True)
        return super().__new__(
            cls,
            features=features,
            labels=labels,
            receiver_tensors=_named(receiver_tensors, "receiver_tensor"),
        )


def _named(tensors: Any, field: str, *, integer_names: bool = False) -> dict[Any, Any]:
    """Checks tensors and returns them as a dict."""
    if tensors is None:
        raise ValueError(f"{field}s must be defined.")
    named = tensors if isinstance(tensors, dict) else {_ALONE[field]: tensors}
    for name, tensor in named.items():
        _check_name(name, field, integer_names)
        _check_tensor(tensor, f"{field} {name}")
    return named


def _alternatives(alternatives: Any) -> dict[str, dict[str, Any]] | None:
    if alternatives is None:
        return None
    if not isinstance(alternatives, dict):
        raise ValueError(f"receiver_tensors_alternatives must be a dict: {alternatives}.")
    return {
        name: _named(tensors, "receiver_tensors_alternative")
        for name, tensors in alternatives.items()
    }


def _check_name(name: Any, field: str, integer_names: bool) -> None:
    if isinstance(name, str) or (integer_names and isinstance(name, int)):
        return
    kinds = "strings or ints" if integer_names else "strings"
    raise ValueError(f"{field} keys must be {kinds}: {name}.")


def _check_tensor(tensor: Any, label: str) -> None:
    if not isinstance(tensor, (tf.Tensor, tf.SparseTensor, tf.RaggedTensor)):
        raise ValueError(f"{label} must be a Tensor, SparseTensor, or RaggedTensor.")
