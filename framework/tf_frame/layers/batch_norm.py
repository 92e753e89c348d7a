"""Batch normalisation, https://arxiv.org/abs/1502.03167, with slim's arguments and variable names.

Networks for slim therefore build unchanged, and their checkpoints load.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.batch_norm_kinds import Correction, Renorm, fused_normalize, normalize
from tf_frame.layers.conditions import constant_value, smart_where
from tf_frame.layers.moments import batch_moments, shared_moments
from tf_frame.layers.norm_variables import (
    batch_norm_variables,
    moving_update,
    unbiased_update,
)
from tf_frame.layers.outputs import finish_layer
from tf_frame.layers.sizes import channel_axis

_HALF_TYPES = (tf.float16, tf.bfloat16)
# Arguments of `batch_norm` that `normalize_batch` does not have.
_SCOPE_ARGUMENTS = ("scope", "reuse", "activation_fn", "outputs_collections", "data_format")


@add_arg_scope
def batch_norm(
    inputs: Any,
    decay: Any = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Callable[[Any], Any] | None = None,
    param_initializers: Mapping[str, Any] | None = None,
    param_regularizers: Mapping[str, Any] | None = None,
    updates_collections: Any = tf.GraphKeys.UPDATE_OPS,
    is_training: Any = True,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    batch_weights: Any = None,
    fused: bool | None = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Any = None,
    renorm: bool = False,
    renorm_clipping: Mapping[str, Any] | None = None,
    renorm_decay: Any = 0.99,
    adjustment: Callable[[Any], tuple[Any, Any]] | None = None,
    sync: bool = False,
) -> Any:
    """Normalises each channel over the batch and over space.

    In training the layer uses the mean and the variance of the batch, and adds the updates of
    `moving_mean` and `moving_variance` to `updates_collections`; the train op must depend on
    them. Otherwise it uses the moving statistics.

    For ranks 2 and 4 (and 5 with the default `updates_collections`) the results are the same as
    with the fused kernel: the moving variance is unbiased, `n / (n - 1)` times the variance of
    the batch. Gamma is created before beta, or after it where slim did not use a Keras layer.
    Source: tf_slim, layers.py.

    Args:
      inputs: `[batch, ..., channels]`, or `[batch, channels, ...]` with "NCHW";
        rank and number of channels known.
      decay: weight of the old value in each update of a moving statistic; 0.9 to 0.97 for
        trainings of a few hundred steps.
      center: whether to add a trained offset `beta`.
      scale: whether to multiply by a trained factor `gamma`.
      epsilon: added to the variance.
      activation_fn: function that is applied last; None: none.
      param_initializers: "beta", "gamma", "moving_mean" and "moving_variance" ->
        initializer.
      param_regularizers: "beta" and "gamma" -> regularizer.
      updates_collections: collections of the updates. None: they run with the outputs.
      is_training: bool, or scalar bool tensor.
      reuse: whether to reuse the existing variables of `scope`; None: as the outer scope does.
      variables_collections: list of collections, or variable name -> list.
      outputs_collections: collections that the outputs are added to; None: none.
      trainable: whether beta and gamma are trained. If not, the moving statistics are not
        updated either, except where slim did not use a Keras layer.
      batch_weights: `[batch]`, weight of each example.
      fused: False: do not use the fused kernel.
      data_format: "NHWC" (channels last) or "NCHW" (channels first), for every rank.
      zero_debias_moving_mean: correct the moving mean for its initial value of 0;
        creates the variables `biased` and `local_step`.
      scope: variable scope; None: "BatchNorm", made unique.
      renorm: batch renormalisation, https://arxiv.org/abs/1702.03275; not with
        `batch_weights`, `updates_collections`, `zero_debias_moving_mean` or `sync`.
      renorm_clipping: bounds "rmin", "rmax" and "dmax" of the corrections.
      renorm_decay: weight of the old value in each update of `renorm_mean` and
        `renorm_stddev`.
      adjustment: maps the shape of the inputs to a factor and an offset of the
        normalised values in training.
      sync: use the statistics over all clones of the training graph, like one clone with the
        whole batch. slim does not have this argument. Programs that build clones without
        tf-frame's training graph call `share_statistics` of `tf_frame.graph.sync_batch_norm`.

    Returns:
      A tensor of the shape and type of `inputs`.

    Raises:
      ValueError: unknown data format; unknown rank or number of channels; `renorm`
        with an argument that excludes it, or with unknown clipping.
    """
    arguments = {name: value for name, value in locals().items() if name not in _SCOPE_ARGUMENTS}
    with tf.variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as variable_scope:
        inputs = arguments["inputs"] = tf.convert_to_tensor(inputs)
        outputs = normalize_batch(**arguments, axis=channel_axis(inputs, data_format))
        return finish_layer(outputs, activation_fn, outputs_collections, variable_scope)


def normalize_batch(
    inputs: Any,
    *,
    decay: Any,
    center: bool,
    scale: bool,
    epsilon: float,
    param_initializers: Mapping[str, Any] | None,
    param_regularizers: Mapping[str, Any] | None,
    is_training: Any,
    trainable: bool,
    fused: bool | None,
    axis: int,
    renorm: bool = False,
    renorm_clipping: Mapping[str, Any] | None = None,
    renorm_decay: Any = 0.99,
    adjustment: Callable[[Any], tuple[Any, Any]] | None = None,
    updates_collections: Any = tf.GraphKeys.UPDATE_OPS,
    variables_collections: Any = None,
    batch_weights: Any = None,
    zero_debias_moving_mean: bool = False,
    sync: bool = False,
) -> Any:
    """Normalises a tensor with variables of the current scope; see `batch_norm`.

    Args:
      axis: the channel axis, not negative.
    """
    may_train = constant_value(is_training) is not False
    fused = fused is not False and batch_weights is None and not renorm and adjustment is None
    # True where tf_slim calls the Keras layer; otherwise it has its own implementation.
    as_keras = (
        batch_weights is None
        and updates_collections == tf.GraphKeys.UPDATE_OPS
        and not zero_debias_moving_mean
        and not (inputs.shape.rank == 2 and fused)
    )
    fused = fused and _kernel_accepts(inputs, axis, as_keras)
    variables = batch_norm_variables(
        inputs.shape.as_list()[axis],
        _variable_type(inputs),
        initializers=param_initializers,
        collections=variables_collections,
        center=center,
        scale=scale,
        trainable=trainable,
        regularizers=param_regularizers,
        gamma_first=as_keras,
    )
    renormalization = None
    if renorm:
        _check_renorm(as_keras, sync)
        renormalization = Renorm(
            variables,
            initializers=param_initializers,
            clipping=renorm_clipping,
            decay=renorm_decay,
            epsilon=epsilon,
            is_training=is_training,
        )
    if fused and not (sync and may_train):
        outputs, mean, variance = fused_normalize(inputs, axis, variables, epsilon, is_training)
    else:
        moments = None
        if may_train:
            moments = batch_moments(inputs, axis, _variable_type(inputs), batch_weights)
            moments = shared_moments(moments) if sync else moments
        outputs, mean, variance = normalize(
            inputs,
            axis,
            variables,
            epsilon,
            is_training,
            moments=moments,
            unbiased=fused,
            corrections=[
                *([renormalization.correct] if renormalization else []),
                *_adjustments(adjustment, inputs, is_training),
            ],
        )
    if may_train and (trainable or not as_keras):
        if renormalization:
            updates = renormalization.updates(mean, variance, decay)
        else:
            update_mean: Callable[..., Any] = moving_update
            if zero_debias_moving_mean:
                # In tf_slim, model variables where it does not use the fused kernel.
                update_mean = functools.partial(unbiased_update, in_model=not fused)
            updates = [
                update_mean(variables.moving_mean, mean, decay, is_training),
                moving_update(variables.moving_variance, variance, decay, is_training),
            ]
        outputs = _with_updates(outputs, updates, updates_collections)
    outputs.set_shape(inputs.shape)
    return outputs


def _variable_type(inputs: Any) -> Any:
    # Half precision cannot represent a mean that changes by thousandths.
    return tf.float32 if inputs.dtype in _HALF_TYPES else inputs.dtype


def _kernel_accepts(inputs: Any, axis: int, as_keras: bool) -> bool:
    # tf_slim's own implementation uses the fused kernel for ranks 2 and 4 only.
    ranks = (2, 4, 5) if as_keras else (2, 4)
    rank = inputs.shape.rank
    return rank in ranks and axis in (1, rank - 1) and inputs.dtype in (*_HALF_TYPES, tf.float32)


def _check_renorm(as_keras: bool, sync: bool) -> None:
    if not as_keras:
        raise ValueError(
            "renorm is not supported with batch_weights, updates_collections or "
            "zero_debias_moving_mean"
        )
    if sync:
        # The update of one clone would change the corrections of the other clones.
        raise ValueError("renorm is not supported with sync: leave out one of them")


def _adjustments(adjustment: Any, inputs: Any, is_training: Any) -> list[Correction]:
    if adjustment is None:
        return []
    factor, offset = adjustment(tf.shape(inputs))
    factor = smart_where(is_training, factor, tf.ones_like(factor))
    offset = smart_where(is_training, offset, tf.zeros_like(offset))
    return [lambda *_: (factor, offset)]


def _with_updates(outputs: Any, updates: list[Any], collections: Any) -> Any:
    """Adds the updates to the collections, or makes the outputs depend on them."""
    if collections is None:
        with tf.control_dependencies(updates):
            return tf.identity(outputs)
    for update in updates:
        tf.get_default_graph().add_to_collections(collections, update)
    return outputs
