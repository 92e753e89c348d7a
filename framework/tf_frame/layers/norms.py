"""Layer, instance, group and unit normalisation, with slim's arguments and variable names.

Unlike batch norm they normalise each example separately, so the batch may be small. Outputs have
the shape and type of the inputs. Networks for slim build unchanged, and their checkpoints load.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.norm_variables import beta_and_gamma
from tf_frame.layers.outputs import finish_layer
from tf_frame.layers.sizes import along_axis, channel_axis

# Added to the variance; float16 cannot represent the smaller number. Source: tf_slim, layers.py.
_LAYER_EPSILON, _LAYER_EPSILON_HALF = 1e-12, 1e-3


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
    """Normalises each example over its features, https://arxiv.org/abs/1607.06450.

    Args:
      inputs: tensor of known rank, such as `[batch, height, width, channels]`.
      center: whether to add a trained offset `beta`.
      scale: whether to multiply by a trained factor `gamma`.
      activation_fn: function that is applied last; None: none.
      reuse: whether to reuse the existing variables of `scope`; None: as the outer scope does.
      variables_collections: list of collections, or variable name -> list.
      outputs_collections: collections that the outputs are added to; None: none.
      trainable: whether beta and gamma are trained.
      begin_norm_axis: first of the axes that mean and variance are taken over.
      begin_params_axis: first of the axes of beta and gamma; their sizes must be known.
      scope: variable scope; None: "LayerNorm", made unique.

    Raises:
      ValueError: the rank is unknown, an axis is too large, or a size of beta and
        gamma is unknown.
    """
    with tf.variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as variable_scope:
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
        epsilon = _LAYER_EPSILON_HALF if inputs.dtype == tf.float16 else _LAYER_EPSILON
        outputs = tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        outputs.set_shape(inputs.shape)
        return finish_layer(outputs, activation_fn, outputs_collections, variable_scope)


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
    """Normalises each channel of each example over space, https://arxiv.org/abs/1607.08022.

    Args:
      inputs: `[batch, ..., channels]`, or `[batch, channels, ...]` with "NCHW";
        rank and number of channels known.
      center: whether to add a trained offset `beta`.
      scale: whether to multiply by a trained factor `gamma`.
      epsilon: added to the variance.
      activation_fn: function that is applied last; None: none.
      param_initializers: "beta" and "gamma" -> initializer; None: zeros and ones.
      reuse: whether to reuse the existing variables of `scope`; None: as the outer scope does.
      variables_collections: list of collections, or variable name -> list.
      outputs_collections: collections that the outputs are added to; None: none.
      trainable: whether beta and gamma are trained.
      data_format: "NHWC" (channels last) or "NCHW" (channels first), for every rank.
      scope: variable scope; None: "InstanceNorm", made unique.

    Raises:
      ValueError: unknown data format; unknown rank or number of channels.
    """
    inputs = tf.convert_to_tensor(inputs)
    axis, rank = channel_axis(inputs, data_format), inputs.shape.rank
    with tf.variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as variable_scope:
        beta, gamma = beta_and_gamma(
            [inputs.shape.as_list()[axis]],
            inputs.dtype,
            center=center,
            scale=scale,
            trainable=trainable,
            initializers=param_initializers,
            collections=variables_collections,
        )
        axes = [index for index in range(1, rank) if index != axis]
        mean, variance = tf.nn.moments(inputs, axes, keepdims=True)
        beta, gamma = along_axis(beta, axis, rank), along_axis(gamma, axis, rank)
        outputs = tf.nn.batch_normalization(
            inputs, mean, variance, beta, gamma, epsilon, name="instancenorm"
        )
        return finish_layer(outputs, activation_fn, outputs_collections, variable_scope)


@add_arg_scope
def group_norm(
    inputs: Any,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: Sequence[int] = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Callable[[Any], Any] | None = None,
    param_initializers: Mapping[str, Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    mean_close_to_zero: bool = False,
) -> Any:
    """Normalises groups of channels of each example over space, https://arxiv.org/abs/1803.08494.

    Args:
      inputs: tensor such as `[batch, height, width, channels]`; the sizes of
        `channels_axis` and `reduction_axes` known.
      groups: number of groups, all of the same number of channels.
      channels_axis: the axis of the channels; negative ones count from the end.
      reduction_axes: the other axes that mean and variance are taken over. For "NCHW"
        the channel axis is -3, and these are (-2, -1).
      center: whether to add a trained offset `beta`.
      scale: whether to multiply by a trained factor `gamma`.
      epsilon: added to the variance.
      activation_fn: function that is applied last; None: none.
      param_initializers: "beta" and "gamma" -> initializer; None: zeros and ones.
      reuse: whether to reuse the existing variables of `scope`; None: as the outer scope does.
      variables_collections: list of collections, or variable name -> list.
      outputs_collections: collections that the outputs are added to; None: none.
      trainable: whether beta and gamma are trained.
      scope: variable scope; None: "GroupNorm", made unique.
      mean_close_to_zero: compute the variance in one pass, as mean of squares minus
        square of the mean, which is inexact for a large mean.

    Raises:
      ValueError: an axis does not exist or comes twice, a size is unknown, or the number of
        groups does not divide the number of channels.
    """
    inputs = tf.convert_to_tensor(inputs)
    channels_axis, reduction_axes = _checked_axes(inputs, channels_axis, reduction_axes)
    channels = inputs.shape.as_list()[channels_axis]
    if groups > channels:
        raise ValueError(f"Invalid groups {groups} for {channels} channels.")
    if channels % groups:
        raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")
    with tf.variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as variable_scope:
        parameters = beta_and_gamma(
            [channels],
            inputs.dtype,
            center=center,
            scale=scale,
            trainable=trainable,
            initializers=param_initializers,
            collections=variables_collections,
        )
        # The axis of the groups is directly before the channel axis.
        grouped, shape = _split_groups(inputs, channels_axis, groups)
        beta, gamma = (None if p is None else tf.reshape(p, shape) for p in parameters)
        axes = [channels_axis + 1, *(axis + (axis > channels_axis) for axis in reduction_axes)]
        if mean_close_to_zero:
            statistics = tf.nn.sufficient_statistics(grouped, axes, keepdims=True)
            mean, variance = tf.nn.normalize_moments(*statistics[:3], shift=None)
        else:
            mean, variance = tf.nn.moments(grouped, axes, keepdims=True)
        outputs = tf.nn.batch_normalization(grouped, mean, variance, beta, gamma, epsilon)
        outputs = tf.reshape(outputs, tf.shape(inputs))
        outputs.set_shape(inputs.shape)
        return finish_layer(outputs, activation_fn, outputs_collections, variable_scope)


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> Any:
    """Scales the vectors along one axis to length 1.

    Args:
      inputs: tensor of known rank.
      dim: the axis, counted from the front.
      epsilon: added to the square of the length.
      scope: variable scope; None: "UnitNorm", made unique.

    Raises:
      ValueError: the rank is unknown, or the axis does not exist.
    """
    with tf.variable_scope(scope, "UnitNorm", [inputs]):
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if not rank:
            raise ValueError(f"The input rank must be known, and not 0; it is {rank}.")
        if not 0 <= dim < rank:
            raise ValueError(
                f"dim must be positive but smaller than the input rank; they are {dim} and {rank}."
            )
        squares = tf.reduce_sum(tf.square(inputs), dim, keepdims=True)
        return inputs / tf.sqrt(epsilon + squares)


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


def _checked_axes(
    inputs: Any, channels_axis: int, reduction_axes: Sequence[int]
) -> tuple[int, list[int]]:
    """Returns the axes, counted from the front."""
    rank = inputs.shape.rank
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    for axis in (channels_axis, *reduction_axes):
        if not -rank <= axis < rank:
            raise ValueError(f"Axis is out of bounds. {axis} is no axis of {inputs.shape}")
    channels_axis, reduction_axes = channels_axis % rank, [axis % rank for axis in reduction_axes]
    sizes = inputs.shape.as_list()
    if sizes[channels_axis] is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channel dimension: {channels_axis}.")
    for axis in reduction_axes:
        if sizes[axis] is None:
            raise ValueError(f"Inputs {inputs.name} has undefined dimensions {axis}.")
    if channels_axis in reduction_axes:
        raise ValueError(
            f"reduction_axis must be mutually exclusive with channels_axis; {channels_axis} is both"
        )
    return channels_axis, reduction_axes


def _split_groups(inputs: Any, axis: int, groups: int) -> tuple[Any, list[int]]:
    """Returns the inputs with an axis for the groups, and the matching shape of beta and gamma."""
    static, dynamic = inputs.shape.as_list(), tf.shape(inputs)
    sizes = [dynamic[i] if size is None else size for i, size in enumerate(static)]
    split = [groups, static[axis] // groups]
    grouped = tf.reshape(inputs, [*sizes[:axis], *split, *sizes[axis + 1 :]])
    return grouped, [1] * axis + split + [1] * (len(static) - axis - 1)
