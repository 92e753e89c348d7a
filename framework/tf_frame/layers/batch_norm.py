"""Batch normalisation, https://arxiv.org/abs/1502.03167, with slim's arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.batch_norm_layer import BatchNormLayer
from tf_frame.layers.outputs import collect_named_outputs


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
    """Normalises every channel over the batch and over space.

    In training the batch's own mean and variance are used, and the updates of
    `moving_mean` and `moving_variance` are put into `updates_collections`; the
    train op must depend on them. Otherwise the moving values are used.

    For ranks 2 and 4 (and 5 with the default `updates_collections`) that is done
    as by the fused kernel: the moving variance is the unbiased one, `n / (n - 1)`
    times the batch's. Gamma is made before beta, or after it where slim had no
    core layer to build on. Source: tf_slim, layers.py.

    Args:
      inputs: `[batch, ..., channels]`, or `[batch, channels, ...]` with "NCHW";
        rank and number of channels known.
      decay: how much of a moving value is kept per step; training of a few
        hundred steps needs 0.9 to 0.97.
      center: whether to add a trained offset `beta`.
      scale: whether to multiply by a trained factor `gamma`.
      epsilon: added to the variance.
      activation_fn: applied at the end, or None.
      param_initializers: of "beta", "gamma", "moving_mean", "moving_variance".
      param_regularizers: of "beta" and "gamma".
      updates_collections: where the updates go. None: they run whenever the
        outputs are computed.
      is_training: bool, or scalar bool tensor.
      reuse: whether the variables of `scope` are there already.
      variables_collections: list of collections, or a dictionary of such lists.
      outputs_collections: collections that the outputs are added to.
      trainable: whether beta and gamma are trained. If not, there are no updates
        either, but where slim had no core layer to build on.
      batch_weights: `[batch]`, how often each example counts.
      fused: False: never use the fused kernel.
      data_format: "NHWC" or "NCHW", which stand for other ranks, too.
      zero_debias_moving_mean: correct the moving mean for its start at 0; makes
        the variables `biased` and `local_step`.
      scope: variable scope; "BatchNorm" made unique when None.
      renorm: batch renormalisation, https://arxiv.org/abs/1702.03275; not with
        `batch_weights`, `updates_collections`, `zero_debias_moving_mean` or `sync`.
      renorm_clipping: bounds "rmin", "rmax" and "dmax" of its corrections.
      renorm_decay: how much is kept, per step, of the moving values that correct.
      adjustment: gets the shape of the inputs and returns factor and offset,
        which change the normalised values in training.
      sync: use the statistics over all clones of the training graph, as if one
        clone had the whole batch. Slim does not have it. Who builds clones without
        tf-frame's training graph calls `share_statistics` of
        `tf_frame.graph.shared_statistics`.

    Returns:
      A tensor of the shape and type of `inputs`.

    Raises:
      ValueError: another data format; rank or number of channels not known;
        `renorm` with what it does not go with, or with unknown clipping.
    """
    with tf.variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as opened:
        layer = BatchNormLayer(
            inputs=tf.convert_to_tensor(inputs),
            decay=decay,
            center=center,
            scale=scale,
            epsilon=epsilon,
            param_initializers=param_initializers or {},
            param_regularizers=param_regularizers or {},
            updates_collections=updates_collections,
            is_training=is_training,
            variables_collections=variables_collections,
            trainable=trainable,
            batch_weights=batch_weights,
            fused=fused is not False,
            data_format=data_format,
            zero_debias_moving_mean=zero_debias_moving_mean,
            renorm=renorm,
            renorm_clipping=renorm_clipping or {},
            renorm_decay=renorm_decay,
            adjustment=adjustment,
            sync=sync,
        )
        outputs = layer.apply()
        outputs = outputs if activation_fn is None else activation_fn(outputs)
        return collect_named_outputs(outputs_collections, opened.name, outputs)
