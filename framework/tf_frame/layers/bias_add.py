"""Biases as a layer of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.outputs import collect_named_outputs
from tf_frame.layers.steps import layer_variable


@add_arg_scope
def bias_add(
    inputs: Any,
    activation_fn: Callable[..., Any] | None = None,
    initializer: Any = tf.zeros_initializer(),  # noqa: B008
    regularizer: Callable[..., Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Adds a bias to every channel; also serves as a `normalizer_fn`.

    Variable: `biases` of shape `[channels]`.

    Args:
      inputs: `[batch, ..., channels]`, or `[batch, channels, height, width]`.
      activation_fn: applied last, or None.
      initializer: of the biases.
      regularizer: maps biases to a scalar penalty, or None.
      reuse: whether to share the variables of an earlier layer of this scope.
      variables_collections: collections for the variable: a list, or a
        dictionary with such a list under "biases".
      outputs_collections: collections for the outputs, under the scope's name.
      trainable: whether the optimizer may change the biases.
      data_format: "NHWC" or "NCHW".
      scope: variable scope; "BiasAdd" made unique when None.

    Returns:
      A tensor of the shape of `inputs`.

    Raises:
      ValueError: `data_format` is neither, the rank or the channels are unknown,
        or the rank is not 4 with "NCHW".
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"data_format has to be either NCHW or NHWC. It is {data_format!r}.")
    with tf.variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as variable_scope:
        inputs = tf.convert_to_tensor(inputs)
        biases = layer_variable(
            "biases",
            [_channels(inputs.shape, data_format)],
            kind="biases",
            variables_collections=variables_collections,
            dtype=inputs.dtype.base_dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        outputs = tf.nn.bias_add(inputs, biases, data_format=data_format)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return collect_named_outputs(outputs_collections, variable_scope.name, outputs)


def _channels(shape: Any, data_format: str) -> int:
    if shape.rank is None:
        raise ValueError("Dims of shape must be known but is None")
    if data_format == "NCHW" and shape.rank != 4:
        raise ValueError(f"Data format NCHW only supports 4D Tensor, not rank {shape.rank}")
    channels = shape.as_list()[1 if data_format == "NCHW" else -1]
    if channels is None:
        raise ValueError(f"`C` dimension must be known but is None: {shape}")
    return int(channels)
