"""Inception networks, with the arguments of `tf.contrib.slim.nets.inception`'s arg scopes."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets.inception import (
    inception_v1 as inception_v1,
    inception_v1_base as inception_v1_base,
    inception_v2 as inception_v2,
    inception_v2_base as inception_v2_base,
    inception_v3 as inception_v3,
    inception_v3_base as inception_v3_base,
)


def inception_v3_arg_scope(
    weight_decay: float = 0.00004,
    batch_norm_var_collection: str = "moving_vars",
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    updates_collections: Any = tf.GraphKeys.UPDATE_OPS,
    use_fused_batchnorm: bool | None = True,
) -> Any:
    """Returns the default arguments of the layers, for `arg_scope`.

    Args:
      weight_decay: factor of the L2 penalty on weights.
      batch_norm_var_collection: collection of moving means and variances.
      batch_norm_decay, batch_norm_epsilon, updates_collections, use_fused_batchnorm: of the batch
        normalization.
    """
    params = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "updates_collections": updates_collections,
        "fused": use_fused_batchnorm,
        "variables_collections": {
            "beta": None,
            "gamma": None,
            "moving_mean": [batch_norm_var_collection],
            "moving_variance": [batch_norm_var_collection],
        },
    }
    return _arg_scope(weight_decay, params)


def inception_v2_arg_scope(
    weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars"
) -> Any:
    """Returns the default arguments of the layers; see `inception_v3_arg_scope`."""
    return inception_v3_arg_scope(weight_decay, batch_norm_var_collection)


def inception_v1_arg_scope(
    weight_decay: float = 0.00004,
    use_batch_norm: bool = True,
    batch_norm_var_collection: str = "moving_vars",
) -> Any:
    """Returns the default arguments of the layers; see `inception_v3_arg_scope`."""
    if not use_batch_norm:
        return _arg_scope(weight_decay, None)
    return inception_v3_arg_scope(weight_decay, batch_norm_var_collection)


def _arg_scope(weight_decay: float, batch_norm_params: dict[str, Any] | None) -> Any:
    normalized = {"normalizer_fn": layers.batch_norm, "normalizer_params": batch_norm_params}
    with (
        layers.arg_scope(
            [layers.conv2d, layers.fully_connected],
            weights_regularizer=layers.l2_regularizer(weight_decay),
        ),
        layers.arg_scope(
            [layers.conv2d],
            weights_initializer=layers.variance_scaling_initializer(),
            activation_fn=tf.nn.relu,
            **(normalized if batch_norm_params else {}),
        ) as scope,
    ):
        return scope
