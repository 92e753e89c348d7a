"""Group normalisation, https://arxiv.org/abs/1803.08494, with slim's arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.norm_parameters import beta_and_gamma
from tf_frame.layers.outputs import collect_named_outputs


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
    """Normalises groups of channels of each example, over space.

    Args:
      inputs: such as `[batch, height, width, channels]`; all sizes known but
        those that are not normalised over.
      groups: into how many groups of the same size the channels are divided.
      channels_axis: of the channels.
      reduction_axes: the axes that are normalised over besides; for "NCHW" the
        channels are -3, and these (-2, -1).
      center: whether to add a trained offset `beta`, `[channels]`.
      scale: whether to multiply by a trained factor `gamma`, `[channels]`.
      epsilon: added to the variance.
      activation_fn: applied at the end, or None.
      param_initializers: of "beta" and "gamma".
      reuse: whether the variables of `scope` are there already.
      variables_collections: list of collections, or a dictionary of such lists.
      outputs_collections: collections that the outputs are added to.
      trainable: whether beta and gamma are trained.
      scope: variable scope; "GroupNorm" made unique when None.
      mean_close_to_zero: compute the variance as mean of squares minus square of
        the mean: one pass, good for means near 0, bad for large ones.

    Returns:
      A tensor of the shape and type of `inputs`.

    Raises:
      ValueError: an axis that is not there or is given twice, a size that is not
        known, or groups that do not divide the channels.
    """
    inputs = tf.convert_to_tensor(inputs)
    channels_axis, reduction_axes = _checked_axes(inputs, channels_axis, reduction_axes)
    channels = inputs.shape.as_list()[channels_axis]
    _check_groups(groups, channels)
    with tf.variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as opened:
        factors = beta_and_gamma(
            [channels],
            inputs.dtype,
            center=center,
            scale=scale,
            trainable=trainable,
            initializers=param_initializers,
            collections=variables_collections,
        )
        grouped, parted = _in_groups(inputs, channels_axis, groups)
        beta, gamma = (None if each is None else tf.reshape(each, parted) for each in factors)
        # The axis of the groups is a new one, before that of the channels.
        axes = [axis + (axis > channels_axis) for axis in reduction_axes]
        moments = _moments_in_one_pass if mean_close_to_zero else _moments
        mean, variance = moments(grouped, [channels_axis + 1, *axes])
        outputs = tf.nn.batch_normalization(grouped, mean, variance, beta, gamma, epsilon)
        outputs = tf.reshape(outputs, tf.shape(inputs))
        outputs.set_shape(inputs.shape)
        outputs = outputs if activation_fn is None else activation_fn(outputs)
        return collect_named_outputs(outputs_collections, opened.name, outputs)


def _checked_axes(
    inputs: Any, channels_axis: int, reduction_axes: Sequence[int]
) -> tuple[int, list[int]]:
    """The axes, counted from the front."""
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


def _check_groups(groups: int, channels: int) -> None:
    if groups > channels:
        raise ValueError(f"Invalid groups {groups} for {channels} channels.")
    if channels % groups:
        raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")


def _in_groups(inputs: Any, axis: int, groups: int) -> tuple[Any, list[int]]:
    """The inputs with an axis of the groups, and the shape that beta and gamma need for it."""
    known, sizes = inputs.shape.as_list(), tf.shape(inputs)
    sizes = [sizes[each] if size is None else size for each, size in enumerate(known)]
    divided = [groups, known[axis] // groups]
    grouped = tf.reshape(inputs, [*sizes[:axis], *divided, *sizes[axis + 1 :]])
    return grouped, [1] * axis + divided + [1] * (len(known) - axis - 1)


def _moments(values: Any, axes: list[int]) -> tuple[Any, Any]:
    mean, variance = tf.nn.moments(values, axes, keepdims=True)
    return mean, variance


def _moments_in_one_pass(values: Any, axes: list[int]) -> tuple[Any, Any]:
    count, total, of_squares, _ = tf.nn.sufficient_statistics(values, axes, keepdims=True)
    mean, variance = tf.nn.normalize_moments(count, total, of_squares, shift=None)
    return mean, variance
