"""Instance normalisation, https://arxiv.org/abs/1607.08022, with slim's arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.channels import channel_axis, spread
from tf_frame.layers.norm_parameters import beta_and_gamma
from tf_frame.layers.outputs import collect_named_outputs


@add_arg_scope
def instance_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Callable[[Any], Any] | None = None,
    param_initializers: Mapping[str, Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Normalises each channel of each example over space.

    Args:
      inputs: `[batch, ..., channels]`, or `[batch, channels, ...]` with "NCHW";
        rank and number of channels known.
      center: whether to add a trained offset `beta`, `[channels]`.
      scale: whether to multiply by a trained factor `gamma`, `[channels]`.
      epsilon: added to the variance.
      activation_fn: applied at the end, or None.
      param_initializers: of "beta" and "gamma".
      reuse: whether the variables of `scope` are there already.
      variables_collections: list of collections, or a dictionary of such lists.
      outputs_collections: collections that the outputs are added to.
      trainable: whether beta and gamma are trained.
      data_format: "NHWC" or "NCHW".
      scope: variable scope; "InstanceNorm" made unique when None.

    Returns:
      A tensor of the shape and type of `inputs`.

    Raises:
      ValueError: another data format; rank or number of channels not known.
    """
    inputs = tf.convert_to_tensor(inputs)
    axis = channel_axis(inputs, data_format)
    with tf.variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as opened:
        beta, gamma = beta_and_gamma(
            [inputs.shape.as_list()[axis]],
            inputs.dtype,
            center=center,
            scale=scale,
            trainable=trainable,
            initializers=param_initializers,
            collections=variables_collections,
        )
        axes = [each for each in range(1, inputs.shape.rank) if each != axis]
        mean, variance = tf.nn.moments(inputs, axes, keepdims=True)
        outputs = tf.nn.batch_normalization(
            inputs,
            mean,
            variance,
            spread(beta, axis, inputs.shape.rank),
            spread(gamma, axis, inputs.shape.rank),
            epsilon,
            name="instancenorm",
        )
        outputs = outputs if activation_fn is None else activation_fn(outputs)
        return collect_named_outputs(outputs_collections, opened.name, outputs)
