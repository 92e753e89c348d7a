"""The fully connected layer of tf.contrib.layers before slim, with the variable `bias`.

slim's `fully_connected` has `biases`, so old checkpoints do not fit. Same behaviour as tf_slim,
layers/layers.py.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.initializers import xavier_initializer


@add_arg_scope
def legacy_fully_connected(
    x: Any,
    num_output_units: int,
    activation_fn: Callable[[Any], Any] | None = None,
    weight_init: Any = xavier_initializer(),  # noqa: B008
    bias_init: Any = tf.zeros_initializer(),  # noqa: B008
    name: str | None = None,
    weight_collections: Sequence[str] = (tf.GraphKeys.WEIGHTS,),
    bias_collections: Sequence[str] = (tf.GraphKeys.BIASES,),
    output_collections: Sequence[str] = (tf.GraphKeys.ACTIVATIONS,),
    trainable: bool = True,
    weight_regularizer: Callable[[Any], Any] | None = None,
    bias_regularizer: Callable[[Any], Any] | None = None,
) -> Any:
    """Computes `activation_fn(x * weights + bias)` over the last dimension.

    Args:
      x: `[..., inputs]`, of rank 2 or more.
      num_output_units: number of outputs.
      activation_fn: the activation; None: none.
      weight_init, bias_init: initializers; None for `bias_init`: no bias.
      name: variable scope; None: `fully_connected`, made unique.
      weight_collections, bias_collections, output_collections: collections of `weights`
        `[inputs, outputs]`, `bias` `[outputs]` and the output.
      trainable: whether the variables are trained.
      weight_regularizer, bias_regularizer: map a variable to a scalar penalty.

    Returns:
      `[..., outputs]`.

    Raises:
      ValueError: the rank or the last size of `x` is unknown, or the rank is less than 2.
    """
    with tf.variable_scope(name, "fully_connected", [x]):
        x = tf.convert_to_tensor(x)
        inputs = _checked_inputs(x)
        make = functools.partial(tf.get_variable, dtype=x.dtype.base_dtype, trainable=trainable)
        weights = make(
            "weights",
            [inputs, num_output_units],
            initializer=weight_init,
            collections=[*weight_collections, tf.GraphKeys.GLOBAL_VARIABLES],
            regularizer=weight_regularizer,
        )
        outputs = tf.tensordot(x, weights, 1)
        if bias_init is not None:
            outputs += make(
                "bias",
                [num_output_units],
                initializer=bias_init,
                collections=[*bias_collections, tf.GraphKeys.GLOBAL_VARIABLES],
                regularizer=bias_regularizer,
            )
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        tf.add_to_collections(list(output_collections or ()), outputs)
        return outputs


legacy_relu = functools.partial(legacy_fully_connected, activation_fn=tf.nn.relu)
legacy_linear = functools.partial(legacy_fully_connected, activation_fn=None)


def _checked_inputs(x: Any) -> int:
    if x.shape.ndims is None:
        raise ValueError("dims of x must be known but is None")
    if x.shape.ndims < 2:
        raise ValueError(f"rank of x must be at least 2 not: {x.shape.ndims}")
    inputs: int | None = x.shape.as_list()[-1]
    if inputs is None:
        raise ValueError("last dimension of x must be known but is None")
    return inputs
