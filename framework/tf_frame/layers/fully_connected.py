"""The fully connected layer."""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.initializers import xavier_initializer
from tf_frame.layers.sizes import last_dimension
from tf_frame.layers.steps import LayerSteps


@add_arg_scope
def fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: Callable[..., Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Any = xavier_initializer(),  # noqa: B008
    weights_regularizer: Callable[..., Any] | None = None,
    biases_initializer: Any = tf.zeros_initializer(),  # noqa: B008
    biases_regularizer: Callable[..., Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """Multiplies by weights; then normalises or adds biases; then activates.

    Variables: `weights` of shape `[depth, num_outputs]`; `biases` of shape
    `[num_outputs]` unless there is a normalizer.

    Args:
      inputs: `[batch, ..., depth]`, of rank 2 or more, depth known. Every vector
        of the last dimension is multiplied by itself.
      num_outputs: number of outputs.
      activation_fn: applied last, or None.
      normalizer_fn: applied instead of biases, inside the layer's scope.
      normalizer_params: keyword arguments of `normalizer_fn`.
      weights_initializer: of the weights.
      weights_regularizer: maps weights to a scalar penalty, or None.
      biases_initializer: of the biases; no biases when None.
      biases_regularizer: maps biases to a scalar penalty, or None.
      reuse: whether to share the variables of an earlier layer of this scope.
      variables_collections: collections for the variables: a list, or a
        dictionary of lists by "weights" and "biases".
      outputs_collections: collections for the outputs, under the scope's name.
      trainable: whether the optimizer may change the variables.
      scope: variable scope; "fully_connected" made unique when None.

    Returns:
      `[batch, ..., num_outputs]`.

    Raises:
      ValueError: `num_outputs` is no integer, the rank is below 2, or the depth
        is unknown.
    """
    if not isinstance(num_outputs, numbers.Integral):
        raise ValueError(f"num_outputs type should be one of [int], got {type(num_outputs)}.")
    steps = LayerSteps(
        activation_fn=activation_fn,
        normalizer_fn=normalizer_fn,
        normalizer_params=normalizer_params,
        weights_initializer=weights_initializer,
        weights_regularizer=weights_regularizer,
        biases_initializer=biases_initializer,
        biases_regularizer=biases_regularizer,
        variables_collections=variables_collections,
        outputs_collections=outputs_collections,
        trainable=trainable,
    )
    with tf.variable_scope(scope, "fully_connected", [inputs], reuse=reuse) as variable_scope:
        inputs = tf.convert_to_tensor(inputs)
        shape = [last_dimension(inputs.shape, min_rank=2), int(num_outputs)]
        weights = steps.weights("weights", shape, like=inputs)
        return steps.finish(_product(inputs, weights), variable_scope)


linear = functools.partial(fully_connected, activation_fn=None)
elu = functools.partial(fully_connected, activation_fn=tf.nn.elu)
relu = functools.partial(fully_connected, activation_fn=tf.nn.relu)
relu6 = functools.partial(fully_connected, activation_fn=tf.nn.relu6)


def _product(inputs: Any, weights: Any) -> Any:
    if inputs.shape.rank == 2:
        return tf.matmul(inputs, weights, name="MatMul")
    return tf.tensordot(inputs, weights, axes=1, name="Tensordot")
