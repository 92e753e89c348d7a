"""Pyramids between backbone and decoder, which see surroundings of several sizes.

Names of variables: tensorflow/models, research/deeplab, model.py and core/dense_prediction_cell.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.errors import ConfigError
from tf_frame_deeplab.blocks import Blocks, scaled_size
from tf_frame_deeplab.dense_prediction_cell import POOLING, Branch, read_cell
from tf_frame_deeplab.network_options import LITE, PLAIN

# The rates of the paper; they grow with the size of the feature map.
_ATROUS_RATES = {8: (12, 24, 36), 16: (6, 12, 18), 32: (3, 6, 9)}
# Output stride of the rates of dense prediction cells.
_CELL_STRIDE = 16


def pyramid(features: Any, params: Any, blocks: Blocks) -> Any:
    """Builds the pyramid that the options name.

    Args:
      features: `[batch, height, width, channels]`, of the output stride.
      params: `tf_frame_deeplab.model.Params`.
      blocks: makes the layers.

    Returns:
      `[batch, height, width, aspp_channels]`.

    Raises:
      ConfigError: the features are smaller than a window of image pooling.
    """
    if params.dense_prediction_cell:
        return _cell(features, params, blocks)
    if params.pyramid == LITE:
        return _lite(features, params, blocks)
    return _aspp(features, params, blocks)


def _aspp(features: Any, params: Any, blocks: Blocks) -> Any:
    """Builds atrous spatial pyramid pooling; `plain`: without its atrous branches."""
    filters = params.aspp_channels
    branches = [blocks.conv(features, filters, scope="aspp0")]
    rates = params.atrous_rates or _ATROUS_RATES[params.output_stride]
    rates = () if params.pyramid == PLAIN else rates
    for index, rate in enumerate(rates, start=1):
        branches.append(blocks.separable(features, filters, rate=rate, scope=f"aspp{index}"))
    if params.image_pooling:
        pooled = blocks.conv(_pooled(features, params), filters, scope="image_pooling")
        branches.insert(0, blocks.resize(pooled, like=features))
    return blocks.conv(tf.concat(branches, axis=3), filters, scope="concat_projection")


def _lite(features: Any, params: Any, blocks: Blocks) -> Any:
    """Builds MobileNetV3's pyramid, section 6.4 of https://arxiv.org/abs/1905.02244.

    Means over the image weigh the channels, as with DeepLab's `image_se_uses_qsigmoid`, the
    setting of the published checkpoints.
    """
    from tf_frame_vision.nets.mobilenet_v3 import hard_sigmoid

    filters = params.aspp_channels
    net = blocks.conv(features, filters, scope="aspp0")
    if not params.image_pooling:
        return net
    pooled = _pooled(features, params)
    weights = blocks.biased(pooled, filters, activation_fn=hard_sigmoid, scope="image_pooling")
    return net * blocks.resize(weights, like=features)


def _cell(features: Any, params: Any, blocks: Blocks) -> Any:
    """Builds a dense prediction cell."""
    branches: list[Any] = []
    with tf.variable_scope("meta_architecture"):
        for index, branch in enumerate(read_cell(params.dense_prediction_cell)):
            inputs = features if branch.input < 0 else branches[branch.input]
            branches.append(_cell_branch(inputs, branch, params, blocks, f"branch{index}"))
        net = tf.concat(branches, axis=3)
        return blocks.conv(net, params.aspp_channels, scope="concat_projection")


def _cell_branch(inputs: Any, branch: Branch, params: Any, blocks: Blocks, scope: str) -> Any:
    filters = params.aspp_channels
    if branch.op == POOLING:
        crop_size = params.image_pooling_crop_size
        factors = [1.0 / (params.output_stride * windows) for windows in branch.grid]
        window = [
            scaled_size([side], factor)[0] for side, factor in zip(crop_size, factors, strict=True)
        ]
        pooled = blocks.conv(_averaged(inputs, window, (1, 1)), filters, scope=scope)
        return blocks.resize(pooled, like=inputs)
    if branch.kernel == (1, 1):
        return blocks.conv(inputs, filters, scope=scope)
    rate = [side * (_CELL_STRIDE // params.output_stride) for side in branch.rate]
    return blocks.separable(inputs, filters, kernel_size=branch.kernel, rate=rate, scope=scope)


def _pooled(features: Any, params: Any) -> Any:
    """Averages over the image, or over windows of the size of a training crop."""
    if not params.image_pooling_crop_size:
        return layers.global_average_pool(features)
    window = scaled_size(params.image_pooling_crop_size, 1.0 / params.output_stride)
    return _averaged(features, window, params.image_pooling_stride)


def _averaged(features: Any, window: Sequence[int], stride: Sequence[int]) -> Any:
    size = features.shape[1:3].as_list()
    if any(side is not None and side < least for side, least in zip(size, window, strict=True)):
        raise ConfigError(
            f"features of {size[0]} x {size[1]} are smaller than the {window[0]} x {window[1]} of"
            " --model.image_pooling_crop_size; lower it, or take larger crops"
        )
    return tf.nn.avg_pool2d(features, list(window), list(stride), "VALID")
