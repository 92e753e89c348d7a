"""Inception v4 (https://arxiv.org/abs/1602.07261)."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets import inception_utils
from tf_frame_vision.nets.image_size import default_image_size
from tf_frame_vision.nets.inception_modules import (
    VALID,
    Conv,
    Fork,
    Layer,
    Mixed,
    Pool,
    Style,
    build_branches,
    build_until,
)

_Branches = tuple[tuple[Layer, ...], ...]
_STYLE = Style()

# Figure 3 of the paper.
_STEM: tuple[Layer, ...] = (
    Conv("Conv2d_1a_3x3", 32, 2, VALID),
    Conv("Conv2d_2a_3x3", 32, 1, VALID),
    Conv("Conv2d_2b_3x3", 64),
    Mixed(
        "Mixed_3a",
        ((Pool("MaxPool_0a_3x3", 2, VALID),), (Conv("Conv2d_0a_3x3", 96, 2, VALID),)),
    ),
    Mixed(
        "Mixed_4a",
        (
            (Conv("Conv2d_0a_1x1", 64), Conv("Conv2d_1a_3x3", 96, 1, VALID)),
            (
                Conv("Conv2d_0a_1x1", 64),
                Conv("Conv2d_0b_1x7", 64),
                Conv("Conv2d_0c_7x1", 64),
                Conv("Conv2d_1a_3x3", 96, 1, VALID),
            ),
        ),
    ),
    Mixed(
        "Mixed_5a",
        ((Conv("Conv2d_1a_3x3", 192, 2, VALID),), (Pool("MaxPool_1a_3x3", 2, VALID),)),
    ),
)

# Figure 4.
_INCEPTION_A: _Branches = (
    (Conv("Conv2d_0a_1x1", 96),),
    (Conv("Conv2d_0a_1x1", 64), Conv("Conv2d_0b_3x3", 96)),
    (Conv("Conv2d_0a_1x1", 64), Conv("Conv2d_0b_3x3", 96), Conv("Conv2d_0c_3x3", 96)),
    (Pool("AvgPool_0a_3x3"), Conv("Conv2d_0b_1x1", 96)),
)

# Figure 7, with the numbers of table 1.
_REDUCTION_A: _Branches = (
    (Conv("Conv2d_1a_3x3", 384, 2, VALID),),
    (
        Conv("Conv2d_0a_1x1", 192),
        Conv("Conv2d_0b_3x3", 224),
        Conv("Conv2d_1a_3x3", 256, 2, VALID),
    ),
    (Pool("MaxPool_1a_3x3", 2, VALID),),
)

# Figure 5.
_INCEPTION_B: _Branches = (
    (Conv("Conv2d_0a_1x1", 384),),
    (Conv("Conv2d_0a_1x1", 192), Conv("Conv2d_0b_1x7", 224), Conv("Conv2d_0c_7x1", 256)),
    (
        Conv("Conv2d_0a_1x1", 192),
        Conv("Conv2d_0b_7x1", 192),
        Conv("Conv2d_0c_1x7", 224),
        Conv("Conv2d_0d_7x1", 224),
        Conv("Conv2d_0e_1x7", 256),
    ),
    (Pool("AvgPool_0a_3x3"), Conv("Conv2d_0b_1x1", 128)),
)

# Figure 8.
_REDUCTION_B: _Branches = (
    (Conv("Conv2d_0a_1x1", 192), Conv("Conv2d_1a_3x3", 192, 2, VALID)),
    (
        Conv("Conv2d_0a_1x1", 256),
        Conv("Conv2d_0b_1x7", 256),
        Conv("Conv2d_0c_7x1", 320),
        Conv("Conv2d_1a_3x3", 320, 2, VALID),
    ),
    (Pool("MaxPool_1a_3x3", 2, VALID),),
)

# Figure 6.
_INCEPTION_C: _Branches = (
    (Conv("Conv2d_0a_1x1", 256),),
    (
        Conv("Conv2d_0a_1x1", 384),
        Fork((Conv("Conv2d_0b_1x3", 256), Conv("Conv2d_0c_3x1", 256))),
    ),
    (
        Conv("Conv2d_0a_1x1", 384),
        Conv("Conv2d_0b_3x1", 448),
        Conv("Conv2d_0c_1x3", 512),
        Fork((Conv("Conv2d_0d_1x3", 256), Conv("Conv2d_0e_3x1", 256))),
    ),
    (Pool("AvgPool_0a_3x3"), Conv("Conv2d_0b_1x1", 256)),
)

_TABLE: tuple[Layer, ...] = (
    *_STEM,
    *(Mixed(f"Mixed_5{letter}", _INCEPTION_A) for letter in "bcde"),
    Mixed("Mixed_6a", _REDUCTION_A),
    *(Mixed(f"Mixed_6{letter}", _INCEPTION_B) for letter in "bcdefgh"),
    Mixed("Mixed_7a", _REDUCTION_B),
    *(Mixed(f"Mixed_7{letter}", _INCEPTION_C) for letter in "bcd"),
)


def _block(branches: _Branches, default_scope: str, what: str) -> Any:
    def block(inputs: Any, scope: Any = None, reuse: Any = None) -> Any:
        with tf.variable_scope(scope, default_scope, [inputs], reuse=reuse):
            return build_branches(inputs, branches, _STYLE)

    block.__doc__ = f"Builds {what} on `[batch, height, width, channels]`."
    return block


block_inception_a = _block(_INCEPTION_A, "BlockInceptionA", "an Inception-A module")
block_reduction_a = _block(_REDUCTION_A, "BlockReductionA", "the Reduction-A module")
block_inception_b = _block(_INCEPTION_B, "BlockInceptionB", "an Inception-B module")
block_reduction_b = _block(_REDUCTION_B, "BlockReductionB", "the Reduction-B module")
block_inception_c = _block(_INCEPTION_C, "BlockInceptionC", "an Inception-C module")


def inception_v4_base(
    inputs: Any, final_endpoint: str = "Mixed_7d", scope: Any = None
) -> tuple[Any, dict[str, Any]]:
    """Builds the network up to an end point.

    Args:
      inputs: images, `[batch, height, width, channels]`, of at least 75 x 75 for the
        whole network.
    """
    with tf.variable_scope(scope, "InceptionV4", [inputs]):
        return build_until(inputs, _TABLE, final_endpoint, _STYLE)


@default_image_size(299)
def inception_v4(
    inputs: Any,
    num_classes: int | None = 1001,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    reuse: Any = None,
    scope: Any = "InceptionV4",
    create_aux_logits: bool = True,
) -> tuple[Any, dict[str, Any]]:
    """Builds the classifier.

    Args:
      inputs: images, `[batch, height, width, channels]`, of at least 75 x 75; of known
        size for auxiliary logits.
      create_aux_logits: whether to build the auxiliary classifier on `Mixed_6h`.
    """
    with (
        tf.variable_scope(scope, "InceptionV4", [inputs], reuse=reuse) as network,
        layers.arg_scope([layers.batch_norm, layers.dropout], is_training=is_training),
    ):
        net, end_points = inception_v4_base(inputs, scope=network)
        if create_aux_logits and num_classes:
            end_points["AuxLogits"] = _aux_logits(end_points["Mixed_6h"], num_classes)
        with tf.variable_scope("Logits"):
            net = inception_utils.pool_whole_map(net, "AvgPool_1a")
            end_points["global_pool"] = net
            if not num_classes:
                return net, end_points
            net = layers.dropout(net, dropout_keep_prob, scope="Dropout_1b")
            net = layers.flatten(net, scope="PreLogitsFlatten")
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
            pool_scope="AvgPool_1a_5x5",
            conv_scope="Conv2d_2a",
            logits_scope="Aux_logits",
        )


inception_v4_arg_scope = inception_utils.inception_arg_scope
