"""Functions that build `serving_input_receiver_fn`s from the features of a model.

export_saved_model(folder, build_parsing_serving_input_receiver_fn(feature_spec))

The names of placeholders and the texts are those of tensorflow_estimator,
export/export.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator.export.receivers import (
    LABEL_NAME,
    RECEIVER_NAME,
    ServingInputReceiver,
    SupervisedInputReceiver,
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
      features: feature name -> a tensor of the same type and shape `[batch, ...]`,
        also of another graph.
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
      features: a tensor of the same type and shape `[batch, ...]`, or a dict of
        tensors; a single tensor is the input `input`.
      labels: likewise; a single tensor is the input `label`.
      default_batch_size: examples in a batch; None for any number.

    Raises:
      ValueError: features and labels share a name.
    """
    overlap = set(_by_name(features, RECEIVER_NAME)) & set(_by_name(labels, LABEL_NAME))
    if overlap:
        raise ValueError(
            f"Features and labels must have distinct keys. Found overlapping keys: {overlap}"
        )

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        fed_features = _placeholders(_by_name(features, RECEIVER_NAME), default_batch_size)
        fed_labels = _placeholders(_by_name(labels, LABEL_NAME), default_batch_size)
        return SupervisedInputReceiver(
            fed_features if isinstance(features, Mapping) else fed_features[RECEIVER_NAME],
            fed_labels if isinstance(labels, Mapping) else fed_labels[LABEL_NAME],
            {**fed_features, **fed_labels},
        )

    return supervised_input_receiver_fn


def build_supervised_input_receiver_fn_from_input_fn(
    input_fn: Callable[..., Any], **input_fn_args: Any
) -> Callable[[], SupervisedInputReceiver]:
    """Returns a function that receives features and labels like those of an input function.

    Args:
      input_fn: returns a `tf.data.Dataset` of `(features, labels)`, or such
        tensors; it is called at once, in a graph of its own.
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
