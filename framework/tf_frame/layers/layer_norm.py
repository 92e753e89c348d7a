"""Layer normalisation, https://arxiv.org/abs/1607.06450, with slim's arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.norm_parameters import beta_and_gamma
from tf_frame.layers.outputs import collect_named_outputs

# Added to the variance; half floats know nothing as small. Source: tf_slim, layers.py.
_EPSILON, _EPSILON_OF_HALF = 1e-12, 1e-3


@add_arg_scope
def layer_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    activation_fn: Callable[[Any], Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Any = None,
) -> Any:
    """Normalises each example over its features.

    Args:
      inputs: of known rank, such as `[batch, height, width, channels]`.
      center: whether to add a trained offset `beta`.
      scale: whether to multiply by a trained factor `gamma`.
      activation_fn: applied at the end, or None.
      reuse: whether the variables of `scope` are there already.
      variables_collections: list of collections, or a dictionary of such lists.
      outputs_collections: collections that the outputs are added to.
      trainable: whether beta and gamma are trained.
      begin_norm_axis: from this axis on, one mean and variance for all.
      begin_params_axis: from this axis on, beta and gamma have an element each;
        these sizes must be known.
      scope: variable scope; "LayerNorm" made unique when None.

    Returns:
      A tensor of the shape and type of `inputs`.

    Raises:
      ValueError: the rank is not known, an axis is too large, or a size that must
        be known is not.
    """
    with tf.variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as opened:
        inputs = tf.convert_to_tensor(inputs)
        beta, gamma = beta_and_gamma(
            _parameter_shape(inputs, begin_norm_axis, begin_params_axis),
            inputs.dtype,
            center=center,
            scale=scale,
            trainable=trainable,
            collections=variables_collections,
        )
        rank = inputs.shape.rank
        axes = list(range(begin_norm_axis % rank, rank))
        mean, variance = tf.nn.moments(inputs, axes, keepdims=True)
        epsilon = _EPSILON_OF_HALF if inputs.dtype == tf.float16 else _EPSILON
        outputs = tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        outputs.set_shape(inputs.shape)
        outputs = outputs if activation_fn is None else activation_fn(outputs)
        return collect_named_outputs(outputs_collections, opened.name, outputs)


def _parameter_shape(inputs: Any, begin_norm_axis: int, begin_params_axis: int) -> Any:
    rank = inputs.shape.rank
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    if begin_params_axis >= rank or begin_norm_axis >= rank:
        raise ValueError(
            f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({begin_norm_axis}) "
            f"must be < rank(inputs) ({rank})"
        )
    shape = inputs.shape[begin_params_axis:]
    if not shape.is_fully_defined():
        raise ValueError(
            f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not fully defined: "
            f"{inputs.shape}"
        )
    return shape
