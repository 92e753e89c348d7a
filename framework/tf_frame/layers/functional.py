"""Layers without variables: dropout, flatten, maxout, one-hot encoding, softmax.

They take slim's arguments and `arg_scope`, so networks for slim build unchanged.
"""

from __future__ import annotations

import math
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.conditions import constant_value, smart_where
from tf_frame.layers.outputs import collect_named_outputs
from tf_frame.layers.sizes import last_dimension


@add_arg_scope
def dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: Any = None,
    scope: str | None = None,
    seed: int | None = None,
) -> Any:
    """Sets random elements to 0 and divides the rest by `keep_prob`, in training.

    Source: https://jmlr.org/papers/v15/srivastava14a.html

    Args:
      inputs: floating-point tensor of any shape.
      keep_prob: probability that an element is kept; number or scalar tensor.
      noise_shape: shape of the random decisions: an axis of size 1 shares them, None is the
        size of the inputs.
      is_training: bool or scalar bool tensor; without training the outputs are the inputs.
      outputs_collections: collections that the outputs are added to.
      scope: variable scope; None: "Dropout", made unique.
      seed: seed of the operation; see `tf.set_random_seed`.
    """
    with tf.variable_scope(scope, "Dropout", [inputs]) as variable_scope:
        outputs = drop(
            tf.convert_to_tensor(inputs), 1.0 - keep_prob, noise_shape, is_training, seed
        )
        return collect_named_outputs(outputs_collections, variable_scope.name, outputs)


def drop(inputs: Any, rate: Any, noise_shape: Any, is_training: Any, seed: int | None) -> Any:
    """Sets elements to 0 with the probability `rate`; other arguments as of `dropout`."""
    if constant_value(is_training) is False:
        return tf.identity(inputs)
    # Rate 0 instead of tf.cond: random operations in a branch cannot be derived from the global
    # step, which makes resumed runs repeatable.
    rate = smart_where(is_training, rate, 0.0)
    if isinstance(noise_shape, list | tuple):
        sizes = tf.shape(inputs)
        noise_shape = [sizes[i] if n is None else n for i, n in enumerate(noise_shape)]
    return tf.nn.dropout(inputs, rate=rate, noise_shape=noise_shape, seed=seed)


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: str | None = None) -> Any:
    """Reshapes each example to a vector; returns `[batch, size]`.

    Args:
      inputs: `[batch, ...]` of rank 2 or more; a vector becomes `[batch, 1]`.
      outputs_collections: collections that the outputs are added to.
      scope: name scope; None: "Flatten", made unique.

    Raises:
      ValueError: the rank is unknown.
    """
    with tf.name_scope(scope, "Flatten", [inputs]) as name:
        inputs = tf.convert_to_tensor(inputs)
        if inputs.shape.rank is None:
            raise ValueError(f"flatten needs inputs of known rank; {inputs.name} has none")
        batch, *sizes = inputs.shape.as_list()
        size = None if None in sizes else math.prod(sizes)
        if size is None:
            shape = [tf.shape(inputs)[0], tf.reduce_prod(tf.shape(inputs)[1:])]
        else:
            # Not -1 for an unknown batch: reshape cannot infer the size of an empty one.
            shape = [tf.shape(inputs)[0] if batch is None else batch, size]
        outputs = tf.reshape(inputs, shape)
        outputs.set_shape([batch, size])
        return collect_named_outputs(outputs_collections, name, outputs)


@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Any:
    """Takes the maximum of each group of features, https://arxiv.org/abs/1302.4389.

    Args:
      inputs: tensor such as `[batch, channels]`; the size of `axis` known.
      num_units: number of groups of neighbouring features.
      axis: the axis of the features.
      scope: variable scope; None: "MaxOut", made unique.

    Raises:
      ValueError: the number of features is not a multiple of `num_units`.
    """
    with tf.variable_scope(scope, "MaxOut", [inputs]):
        inputs = tf.convert_to_tensor(inputs)
        static, dynamic = inputs.shape.as_list(), tf.shape(inputs)
        features = static[axis]
        if features is None or features % num_units:
            raise ValueError(
                f"number of features({features}) is not a multiple of num_units({num_units})"
            )
        axis %= len(static)
        shape = [dynamic[i] if size is None else size for i, size in enumerate(static)]
        shape[axis : axis + 1] = [num_units, features // num_units]
        return tf.reduce_max(tf.reshape(inputs, shape), axis + 1)


@add_arg_scope
def one_hot_encoding(
    labels: Any,
    num_classes: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """Encodes each class index as a vector with `on_value` at that index.

    Args:
      labels: `[batch]` or another shape, of integers.
      num_classes: size of a vector; labels outside of it become `off_value` everywhere.
      on_value: value at the index.
      off_value: value elsewhere.
      outputs_collections: collections that the outputs are added to.
      scope: name scope; None: "OneHotEncoding", made unique.

    Returns:
      `[batch, num_classes]`, of the type of `on_value`.
    """
    with tf.name_scope(scope, "OneHotEncoding", [labels, num_classes]) as name:
        labels = tf.convert_to_tensor(labels)
        outputs = tf.one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collect_named_outputs(outputs_collections, name, outputs)


@add_arg_scope
def softmax(logits: Any, scope: str | None = None) -> Any:
    """Computes probabilities from logits, over the last dimension.

    Args:
      logits: `[..., classes]` of rank 2 or more; number of classes known.
      scope: variable scope; None: "softmax", made unique.

    Raises:
      ValueError: the rank is less than 2, or the number of classes is unknown.
    """
    with tf.variable_scope(scope, "softmax", [logits]):
        logits = tf.convert_to_tensor(logits)
        classes = last_dimension(logits.shape, min_rank=2)
        predictions = tf.nn.softmax(tf.reshape(logits, [-1, classes]))
        predictions = tf.reshape(predictions, tf.shape(logits))
        predictions.set_shape(logits.shape)
        return predictions
