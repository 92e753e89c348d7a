"""Inception-ResNet v2 (https://arxiv.org/abs/1602.07261)."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets import inception_utils
from tf_frame_vision.nets.image_size import default_image_size
from tf_frame_vision.nets.inception_modules import Style, build_until
from tf_frame_vision.nets.inception_resnet_v2_table import (
    block8 as block8,
    block17 as block17,
    block35 as block35,
    inception_resnet_v2_table,
)

_ONLY_UP_TO_PRE_AUX_LOGITS = ("Mixed_7a", "Conv2d_7b_1x1")


def inception_resnet_v2_base(
    inputs: Any,
    final_endpoint: str = "Conv2d_7b_1x1",
    output_stride: int = 16,
    align_feature_maps: bool = False,
    scope: Any = None,
    activation_fn: Any = tf.nn.relu,
) -> tuple[Any, dict[str, Any]]:
    """Builds the network up to an end point.

    Args:
      inputs: images, `[batch, height, width, channels]`, of at least 75 x 75 for the
        whole network, unless its maps are aligned.
      output_stride: size of the image over that of `PreAuxLogits`: 16, or 8 with
        dilated kernels; 8 ends there.
      align_feature_maps: whether maps are padded where the paper cuts their borders
        off, so that their positions are those of the image.
      activation_fn: of the residual blocks.
    """
    if output_stride not in (8, 16):
        raise ValueError("output_stride must be 8 or 16.")
    if output_stride == 8 and final_endpoint in _ONLY_UP_TO_PRE_AUX_LOGITS:
        raise ValueError(
            "output_stride==8 is only supported up to the PreAuxlogits end_point for now."
        )
    padding = "SAME" if align_feature_maps else "VALID"
    table = inception_resnet_v2_table(padding, output_stride, activation_fn)
    with tf.variable_scope(scope, "InceptionResnetV2", [inputs]):
        return build_until(
            inputs,
            table,
            final_endpoint,
            Style(),
            unknown="final_endpoint (%s) not recognized",
        )


@default_image_size(299)
def inception_resnet_v2(
    inputs: Any,
    num_classes: int | None = 1001,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    reuse: Any = None,
    scope: Any = "InceptionResnetV2",
    create_aux_logits: bool = True,
    activation_fn: Any = tf.nn.relu,
) -> tuple[Any, dict[str, Any]]:
    """Builds the classifier.

    Args:
      inputs: images, `[batch, height, width, channels]`, of at least 75 x 75; of known
        size for auxiliary logits.
      create_aux_logits: whether to build the auxiliary classifier on `PreAuxLogits`.
      activation_fn: of the residual blocks.
    """
    with (
        tf.variable_scope(scope, "InceptionResnetV2", [inputs], reuse=reuse) as network,
        layers.arg_scope([layers.batch_norm, layers.dropout], is_training=is_training),
    ):
        net, end_points = inception_resnet_v2_base(
            inputs, scope=network, activation_fn=activation_fn
        )
        if create_aux_logits and num_classes:
            end_points["AuxLogits"] = _aux_logits(end_points["PreAuxLogits"], num_classes)
        with tf.variable_scope("Logits"):
            net = inception_utils.pool_whole_map(net, "AvgPool_1a_8x8")
            end_points["global_pool"] = net
            if not num_classes:
                return net, end_points
            net = layers.dropout(layers.flatten(net), dropout_keep_prob, scope="Dropout")
            end_points["PreLogitsFlatten"] = net
            logits = layers.fully_connected(net, num_classes, activation_fn=None, scope="Logits")
            end_points["Logits"] = logits
            end_points["Predictions"] = tf.nn.softmax(logits, name="Predictions")
    return logits, end_points


def _aux_logits(net: Any, num_classes: int) -> Any:
    with tf.variable_scope("AuxLogits"):
        return inception_utils.dense_aux_logits(
            net,
            num_classes,
            pool_scope="Conv2d_1a_3x3",
            conv_scope="Conv2d_2a_5x5",
            logits_scope="Logits",
        )


def inception_resnet_v2_arg_scope(
    weight_decay: float = 0.00004,
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    activation_fn: Any = tf.nn.relu,
    batch_norm_updates_collections: Any = tf.GraphKeys.UPDATE_OPS,
    batch_norm_scale: bool = False,
) -> Any:
    """Returns the arg scope that slim trained this network in.

    Other than in `inception_arg_scope`, biases pay the L2 penalty, too, and the
    weights have the initial values of the layers themselves.

    Args:
      weight_decay: scale of the L2 penalty on weights and biases.
    """
    regularizer = layers.l2_regularizer(weight_decay)
    with (
        layers.arg_scope(
            [layers.conv2d, layers.fully_connected],
            weights_regularizer=regularizer,
            biases_regularizer=regularizer,
        ),
        layers.arg_scope(
            [layers.conv2d],
            activation_fn=activation_fn,
            normalizer_fn=layers.batch_norm,
            normalizer_params=inception_utils.batch_norm_params(
                batch_norm_decay,
                batch_norm_epsilon,
                batch_norm_updates_collections,
                batch_norm_scale,
            ),
        ) as scope,
    ):
        return scope
