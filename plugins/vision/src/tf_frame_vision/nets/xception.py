"""The aligned Xception with 41, 65 or 71 layers, as DeepLab modified it.

Chollet, Xception, https://arxiv.org/abs/1610.02357; modified as in section 3.2 of
https://arxiv.org/abs/1802.02611: separable convolutions with a stride instead of pooling, batch
norm and activation also after depthwise convolutions. Names and defaults are those of
tensorflow/models, research/deeplab/core/xception.py, so that DeepLab's published checkpoints load.
Images have values from -1 to 1.

    with layers.arg_scope(xception.xception_arg_scope()):
        features, end_points = xception.xception_65(images, global_pool=False, output_stride=16)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets import resnet_utils
from tf_frame_vision.nets.image_size import default_image_size
from tf_frame_vision.nets.resnet_utils import Block
from tf_frame_vision.nets.xception_blocks import (
    xception_block as xception_block,
    xception_blocks,
)
from tf_frame_vision.nets.xception_module import (
    separable_conv2d_same as separable_conv2d_same,
    xception_module,
)

_ROOT_STRIDE = 2


@default_image_size(299)
def xception(
    inputs: Any,
    blocks: Sequence[Block],
    num_classes: int | None = None,
    is_training: bool = True,
    global_pool: bool = True,
    keep_prob: float = 0.5,
    output_stride: int | None = None,
    reuse: Any = None,
    scope: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """Builds an Xception of the given blocks.

    Args:
      blocks: the blocks, as `xception_block` makes them.
      is_training: whether dropout drops and batch norm uses the statistics of the batch.
      keep_prob: share of the features before the logits that dropout keeps.
      output_stride: size of the image over size of the last feature map, an even number;
        the product of all strides when None.

    Raises:
      ValueError: `output_stride` cannot be had.
    """
    with tf.variable_scope(scope, "xception", [inputs], reuse=reuse) as variable_scope:
        collection = f"{variable_scope.original_name_scope}_end_points"
        collected: list[Any] = [
            *(layers.conv2d, layers.separable_conv2d, xception_module),
            resnet_utils.stack_blocks_dense,
        ]
        with (
            layers.arg_scope(collected, outputs_collections=collection),
            layers.arg_scope([layers.batch_norm, layers.dropout], is_training=is_training),
        ):
            output_stride = resnet_utils.stride_after_root(output_stride, _ROOT_STRIDE)
            net = resnet_utils.conv2d_same(inputs, 32, 3, stride=2, scope="entry_flow/conv1_1")
            net = resnet_utils.conv2d_same(net, 64, 3, stride=1, scope="entry_flow/conv1_2")
            net = resnet_utils.stack_blocks_dense(net, blocks, output_stride)
            end_points = layers.convert_collection_to_dict(collection, clear_collection=True)
            net = resnet_utils.classify(
                net,
                end_points,
                variable_scope,
                num_classes=num_classes,
                global_pool=global_pool,
                spatial_squeeze=False,
                keep_prob=keep_prob,
            )
            return net, end_points


def _network(num_layers: int) -> Any:
    """Makes the function for a published number of layers."""
    name = f"xception_{num_layers}"

    @default_image_size(299)
    def network(
        inputs: Any,
        num_classes: int | None = None,
        is_training: bool = True,
        global_pool: bool = True,
        keep_prob: float = 0.5,
        output_stride: int | None = None,
        regularize_depthwise: bool = False,
        multi_grid: Sequence[int] | None = None,
        reuse: Any = None,
        scope: Any = name,
        depth_multiplier: float = 1,
    ) -> tuple[Any, dict[str, Any]]:
        """Builds one of DeepLab's networks; see `xception`.

        Args:
          inputs: `[batch, height, width, 3]`, values from -1 to 1.
          regularize_depthwise: see `separable_conv2d_same`.
          multi_grid: factors on the rates of the last three convolutions.
          depth_multiplier: factor on the channels of all blocks; at least 8 remain.
        """
        blocks = xception_blocks(
            num_layers,
            multi_grid=multi_grid,
            regularize_depthwise=regularize_depthwise,
            depth_multiplier=depth_multiplier,
        )
        outputs: tuple[Any, dict[str, Any]] = xception(
            inputs,
            blocks,
            num_classes,
            is_training,
            global_pool=global_pool,
            keep_prob=keep_prob,
            output_stride=output_stride,
            reuse=reuse,
            scope=scope,
        )
        return outputs

    network.__name__ = network.__qualname__ = name
    return network


xception_41 = _network(41)
xception_65 = _network(65)
xception_71 = _network(71)


def xception_arg_scope(
    weight_decay: float = 0.00004,
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    batch_norm_scale: bool = True,
    weights_initializer_stddev: float = 0.09,
    regularize_depthwise: bool = False,
    use_batch_norm: bool = True,
    use_bounded_activation: bool = False,
) -> Any:
    """Returns the default arguments of the layers, for `layers.arg_scope`.

    Args:
      weights_initializer_stddev: standard deviation of the initial weights.
      regularize_depthwise: whether separable convolutions pay the penalty as well.
      use_bounded_activation: see `xception_module`; strides then pad "SAME", too.
    """
    penalty = layers.l2_regularizer(weight_decay)
    normalization = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "scale": batch_norm_scale,
    }
    with (
        layers.arg_scope(
            [layers.conv2d, layers.separable_conv2d],
            weights_initializer=tf.truncated_normal_initializer(stddev=weights_initializer_stddev),
            activation_fn=tf.nn.relu6 if use_bounded_activation else tf.nn.relu,
            normalizer_fn=layers.batch_norm if use_batch_norm else None,
        ),
        layers.arg_scope([layers.batch_norm], **normalization),
        layers.arg_scope([layers.conv2d], weights_regularizer=penalty),
        layers.arg_scope(
            [layers.separable_conv2d], weights_regularizer=penalty if regularize_depthwise else None
        ),
        layers.arg_scope(
            [xception_module],
            use_bounded_activation=use_bounded_activation,
            use_explicit_padding=not use_bounded_activation,
        ) as scope,
    ):
        return scope
