"""Serving input receivers: the placeholders and features of an exported model.

    export_saved_model(folder, build_parsing_serving_input_receiver_fn(feature_spec))

A receiver has the tensors to feed, and the features (and labels) for the model. Checks, texts and
names of placeholders are taken from tensorflow_estimator, export/export.py.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

# Names of single tensors.
RECEIVER_NAME = "input"
_LABEL_NAME = "label"
_ALONE = {
    "feature": "feature",
    "label": _LABEL_NAME,
    "receiver_tensor": RECEIVER_NAME,
    "receiver_tensors_alternative": RECEIVER_NAME,
}
_Supervised = collections.namedtuple("_Supervised", ["features", "labels", "receiver_tensors"])


class Received(NamedTuple):
    """Features and inputs of a model.

    Attributes:
      features: features for the model's `build`.
      receiver_tensors: input name -> tensor to feed.
      receiver_tensors_alternatives: form name -> input name -> tensor to feed instead; or None.
    """

    features: Any
    receiver_tensors: Mapping[str, Any]
    receiver_tensors_alternatives: Mapping[str, Mapping[str, Any]] | None = None

    def forms(self) -> dict[str, Mapping[str, Any]]:
        """Returns prefix of signature names -> input name -> tensor."""
        alternatives = self.receiver_tensors_alternatives or {}
        return {"": self.receiver_tensors, **{f"{key}:": alternatives[key] for key in alternatives}}


class ServingInputReceiver(Received):
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


class TensorServingInputReceiver(Received):
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
      receiver_tensors: see `ServingInputReceiver`.

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


def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Returns a function that receives serialised `tf.Example`s, as input `examples`.

    Args:
      feature_spec: feature name -> `FixedLenFeature`, `VarLenFeature` ...
      default_batch_size: examples in a batch; None for any number.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        examples = tf.placeholder(tf.string, [default_batch_size], name="input_example_tensor")
        return ServingInputReceiver(
            tf.io.parse_example(examples, feature_spec), {"examples": examples}
        )

    return serving_input_receiver_fn


def build_raw_serving_input_receiver_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Returns a function that receives the features themselves.

    Args:
      features: feature name -> a tensor of the same type and shape `[batch, ...]`, in any graph.
      default_batch_size: examples in a batch; None for any number.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        placeholders = _placeholders(features, default_batch_size)
        return ServingInputReceiver(placeholders, placeholders)

    return serving_input_receiver_fn


def build_raw_supervised_input_receiver_fn(
    features: Any, labels: Any, default_batch_size: int | None = None
) -> Callable[[], SupervisedInputReceiver]:
    """Returns a function that receives features and labels themselves.

    Args:
      features: a tensor of the same type and shape `[batch, ...]`, or a dict of tensors; a single
        tensor gets the name `input`.
      labels: a tensor or a dict of tensors; a single tensor gets the name `label`.
      default_batch_size: examples in a batch; None for any number.

    Raises:
      ValueError: features and labels share a name.
    """
    overlap = set(_by_name(features, RECEIVER_NAME)) & set(_by_name(labels, _LABEL_NAME))
    if overlap:
        raise ValueError(
            f"Features and labels must have distinct keys. Found overlapping keys: {overlap}"
        )

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        fed_features = _placeholders(_by_name(features, RECEIVER_NAME), default_batch_size)
        fed_labels = _placeholders(_by_name(labels, _LABEL_NAME), default_batch_size)
        return SupervisedInputReceiver(
            fed_features if isinstance(features, Mapping) else fed_features[RECEIVER_NAME],
            fed_labels if isinstance(labels, Mapping) else fed_labels[_LABEL_NAME],
            {**fed_features, **fed_labels},
        )

    return supervised_input_receiver_fn


def build_supervised_input_receiver_fn_from_input_fn(
    input_fn: Callable[..., Any], **input_fn_args: Any
) -> Callable[[], SupervisedInputReceiver]:
    """Returns a function that receives features and labels like the result of an input function.

    Args:
      input_fn: returns a `tf.data.Dataset` of `(features, labels)`, or such tensors; called at
        once, in a new graph.
      **input_fn_args: its arguments.

    Raises:
      ValueError: `input_fn` returns no labels, or not a pair.
    """
    with tf.Graph().as_default():
        result = input_fn(**input_fn_args)
        if isinstance(result, tf.compat.v2.data.Dataset):
            result = tf.data.make_initializable_iterator(result).get_next()
        if not isinstance(result, (list, tuple)):
            raise ValueError(
                "labels must be defined: a supervised receiver needs them, and input_fn "
                f"returned only {result}"
            )
        if len(result) != 2:
            raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
    return build_raw_supervised_input_receiver_fn(*result)


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


def _by_name(tensors: Any, name: str) -> Mapping[str, Any]:
    return tensors if isinstance(tensors, Mapping) else {name: tensors}


def _placeholders(tensors: Mapping[str, Any], batch_size: int | None) -> dict[str, Any]:
    return {name: _placeholder(tensor, batch_size) for name, tensor in tensors.items()}


def _placeholder(tensor: Any, batch_size: int | None) -> Any:
    """Returns a placeholder like a tensor, with its name, if any, and another batch size."""
    shape = tf.TensorShape([batch_size]).concatenate(tensor.shape[1:])
    name = getattr(getattr(tensor, "op", None), "name", None)
    if isinstance(tensor, tf.SparseTensor):
        return tf.sparse_placeholder(tensor.dtype, shape.as_list(), name=name)
    return tf.placeholder(tensor.dtype, shape, name=name)
