"""What both forms of residual networks are made of.

He et al., Deep residual learning for image recognition,
https://arxiv.org/abs/1512.03385. Source of names and behaviour:
tensorflow/models, research/slim/nets/resnet_utils.py. As there, the last unit
of a block has its stride, not the first one of the next block as in the paper:
the results are the same, and less has to be kept in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame import layers

_UNREACHABLE = "The target output_stride cannot be reached."


class Block(NamedTuple):
    """Residual units that work at one resolution.

    Attributes:
      scope: its variable scope.
      unit_fn: builds one unit: `unit_fn(net, rate=..., **arguments)`.
      args: the arguments of each unit: `depth`, `depth_bottleneck`, `stride`.
    """

    scope: str
    unit_fn: Callable[..., Any]
    args: list[dict[str, int]]


def subsample(inputs: Any, factor: int, scope: Any = None) -> Any:
    """Takes one pixel of each `factor` x `factor`.

    Args:
      inputs: `[batch, height, width, channels]`.
      factor: pixels from one to the next; with 1 the inputs come back.
      scope: name of the op.
    """
    if factor == 1:
        return inputs
    return layers.max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(
    inputs: Any, num_outputs: int, kernel_size: int, stride: int, rate: int = 1, scope: Any = None
) -> Any:
    """Convolves with a stride as `conv2d` without one, then `subsample`, would.

    Padding "SAME" with a stride depends on whether the size is even; this does not.

    Args:
      inputs: `[batch, height, width, channels]`.
      num_outputs: number of output channels.
      kernel_size: height and width of the kernel, in pixels.
      stride: pixels from one output to the next.
      rate: pixels between the taps of the kernel; 1 with a stride.
      scope: variable scope.
    """
    if stride == 1:
        return layers.conv2d(
            inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope
        )
    total = (kernel_size - 1) * rate
    border = [total // 2, total - total // 2]
    return layers.conv2d(
        tf.pad(inputs, [[0, 0], border, border, [0, 0]]),
        num_outputs,
        kernel_size,
        stride=stride,
        rate=rate,
        padding="VALID",
        scope=scope,
    )


@layers.add_arg_scope
def stack_blocks_dense(
    net: Any,
    blocks: Sequence[Block],
    output_stride: int | None = None,
    store_non_strided_activations: bool = False,
    outputs_collections: Any = None,
) -> Any:
    """Builds blocks one after the other, at a stride that never exceeds `output_stride`.

    Once it is reached, further strides become dilations of all later kernels, so
    that each output is what the strided network would have there.

    Args:
      net: `[batch, height, width, channels]`.
      blocks: the blocks.
      output_stride: size of `net` over size of the result; the product of all
        strides when None.
      store_non_strided_activations: whether to collect each block's outputs
        before its stride, at four times the work in its last unit.
      outputs_collections: collections for the blocks' outputs.

    Returns:
      `[batch, ceil(height / stride), ceil(width / stride), depth]`.

    Raises:
      ValueError: the strides have no product `output_stride` at any unit.
    """
    stride = _Stride(output_stride)
    for block in blocks:
        with tf.variable_scope(block.scope, "block", [net]) as scope:
            moved_stride = 1
            for index, unit in enumerate(block.args, start=1):
                if store_non_strided_activations and index == len(block.args):
                    moved_stride = unit.get("stride", 1)
                    unit = {**unit, "stride": 1}
                with tf.variable_scope(f"unit_{index}", values=[net]):
                    taken, rate = stride.take(unit.get("stride", 1))
                    net = block.unit_fn(net, rate=rate, **{**unit, "stride": taken})
            net = layers.collect_named_outputs(outputs_collections, scope.name, net)
            net = subsample(net, stride.take(moved_stride)[0])
    stride.check_reached()
    return net


def resnet_arg_scope(
    weight_decay: float = 0.0001,
    batch_norm_decay: float = 0.997,
    batch_norm_epsilon: float = 1e-5,
    batch_norm_scale: bool = True,
    activation_fn: Callable[..., Any] | None = tf.nn.relu,
    use_batch_norm: bool = True,
    batch_norm_updates_collections: Any = tf.GraphKeys.UPDATE_OPS,
) -> Any:
    """Returns the default arguments of the layers, for `layers.arg_scope`.

    The defaults are those of https://github.com/KaimingHe/deep-residual-networks;
    training from scratch in few steps needs a smaller `batch_norm_decay`.

    Args:
      weight_decay: scale of the L2 penalty on weights.
      batch_norm_decay: how much of a moving mean or variance is kept per step.
      batch_norm_epsilon: added to the variance.
      batch_norm_scale: whether batch norm has a trained factor `gamma`.
      activation_fn: activation of the convolutions.
      use_batch_norm: whether convolutions are normalised; otherwise they have biases.
      batch_norm_updates_collections: collection for the updates of the moving values.
    """
    normalization = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "scale": batch_norm_scale,
        "updates_collections": batch_norm_updates_collections,
    }
    with (
        layers.arg_scope(
            [layers.conv2d],
            weights_regularizer=layers.l2_regularizer(weight_decay),
            weights_initializer=layers.variance_scaling_initializer(),
            activation_fn=activation_fn,
            normalizer_fn=layers.batch_norm if use_batch_norm else None,
            normalizer_params=normalization,
        ),
        layers.arg_scope([layers.batch_norm], **normalization),
        # The authors' own code pads pool1 "VALID"; "SAME" keeps features aligned.
        layers.arg_scope([layers.max_pool2d], padding="SAME") as scope,
    ):
        return scope


class _Stride:
    """Stride so far, and the rate that stands for the strides that it could not take."""

    def __init__(self, target: int | None) -> None:
        self._target, self._current, self._rate = target, 1, 1

    def take(self, stride: int) -> tuple[int, int]:
        """Returns the stride and the rate for a layer that would have this stride."""
        if self._current == self._target:
            # The layer that loses its stride still sees undilated features.
            rate, self._rate = self._rate, self._rate * stride
            return 1, rate
        self._current *= stride
        if self._target is not None and self._current > self._target:
            raise self._unreachable()
        return stride, 1

    def check_reached(self) -> None:
        """Refuses a target that the strides end below."""
        if self._target is not None and self._current != self._target:
            raise self._unreachable()

    def _unreachable(self) -> ValueError:
        return ValueError(
            f"{_UNREACHABLE} The blocks were asked for {self._target}; the strides of their "
            f"units give {self._current}. Use a product of the first of them, or None."
        )
