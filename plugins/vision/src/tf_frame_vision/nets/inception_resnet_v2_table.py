"""Table of the layers of Inception-ResNet v2 (https://arxiv.org/abs/1602.07261).

`inception_resnet_v2` builds the network of it. Channels and scopes are those of slim's published
checkpoint, so that it loads; where they differ from the paper, the checkpoint counts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets.inception_modules import (
    Conv,
    Layer,
    Mixed,
    Pool,
    Style,
    build_branches,
    build_row,
    size_after_all,
)

_Branches = tuple[tuple[Layer, ...], ...]
_STYLE = Style()

# Figure 16 of the paper, with the numbers of the published checkpoint.
_BLOCK_35: _Branches = (
    (Conv("Conv2d_1x1", 32),),
    (Conv("Conv2d_0a_1x1", 32), Conv("Conv2d_0b_3x3", 32)),
    (Conv("Conv2d_0a_1x1", 32), Conv("Conv2d_0b_3x3", 48), Conv("Conv2d_0c_3x3", 64)),
)
# Figure 17.
_BLOCK_17: _Branches = (
    (Conv("Conv2d_1x1", 192),),
    (Conv("Conv2d_0a_1x1", 128), Conv("Conv2d_0b_1x7", 160), Conv("Conv2d_0c_7x1", 192)),
)
# Figure 19.
_BLOCK_8: _Branches = (
    (Conv("Conv2d_1x1", 192),),
    (Conv("Conv2d_0a_1x1", 192), Conv("Conv2d_0b_1x3", 224), Conv("Conv2d_0c_3x1", 256)),
)

_MIXED_5B = Mixed(
    "Mixed_5b",
    (
        (Conv("Conv2d_1x1", 96),),
        (Conv("Conv2d_0a_1x1", 48), Conv("Conv2d_0b_5x5", 64)),
        (Conv("Conv2d_0a_1x1", 64), Conv("Conv2d_0b_3x3", 96), Conv("Conv2d_0c_3x3", 96)),
        (Pool("AvgPool_0a_3x3"), Conv("Conv2d_0b_1x1", 64)),
    ),
)


def _residual_block(name: str, branches: _Branches) -> Any:
    """Makes the function for one kind of block.

    Args:
      name: of the function; its default scope is the same with a capital.
      branches: what is computed of the input, before it is brought back to the
        input's channels, scaled and added.
    """

    def block(
        net: Any,
        scale: float = 1.0,
        activation_fn: Any = tf.nn.relu,
        scope: Any = None,
        reuse: Any = None,
    ) -> Any:
        """Adds a scaled residual.

        Args:
          scale: factor on the residual; section 3.3 of the paper.
          activation_fn: applied to the sum; None: nothing. With `tf.nn.relu6` the
            residual is clipped to -6 .. 6, too.
          reuse: whether the variables exist already.

        Returns:
          `[batch, height, width, channels]`.
        """
        with tf.variable_scope(scope, name.capitalize(), [net], reuse=reuse):
            residual = _branches_like(net, branches) * scale
            if activation_fn == tf.nn.relu6:
                residual = tf.clip_by_value(residual, -6.0, 6.0)
            net += residual
            return activation_fn(net) if activation_fn else net

    block.__name__ = block.__qualname__ = name
    return block


def _branches_like(net: Any, branches: _Branches) -> Any:
    mixed = build_branches(net, branches, _STYLE)
    return layers.conv2d(
        mixed,
        net.shape.as_list()[3],
        1,
        normalizer_fn=None,
        activation_fn=None,
        scope="Conv2d_1x1",
    )


block35 = _residual_block("block35", _BLOCK_35)
block17 = _residual_block("block17", _BLOCK_17)
block8 = _residual_block("block8", _BLOCK_8)


@dataclasses.dataclass(frozen=True)
class _Stage:
    """Layers in a row; the last output is an end point.

    Attributes:
      scope: name of the end point.
      row: the layers.
    """

    scope: str
    row: tuple[Layer, ...]

    def build(self, net: Any, style: Style) -> Any:
        return build_row(net, self.row, style)

    def size_after(self, size: int) -> int:
        return size_after_all(size, self.row)


@dataclasses.dataclass(frozen=True)
class _Blocks:
    """Residual blocks, which keep the size of the map.

    Attributes:
      add: adds them to a network.
    """

    add: Callable[[Any], Any]
    scope: str = ""

    def build(self, net: Any, style: Style) -> Any:
        return self.add(net)

    def size_after(self, size: int) -> int:
        return size


def _repeat(block: Any, times: int, scale: float, activation_fn: Any, rate: int = 1) -> _Blocks:
    def add(net: Any) -> Any:
        with layers.arg_scope([layers.conv2d], rate=rate):
            return layers.repeat(net, times, block, scale=scale, activation_fn=activation_fn)

    return _Blocks(add)


def _root(padding: str) -> tuple[Layer, ...]:
    return (
        Conv("Conv2d_1a_3x3", 32, 2, padding),
        Conv("Conv2d_2a_3x3", 32, 1, padding),
        Conv("Conv2d_2b_3x3", 64),
        Pool("MaxPool_3a_3x3", 2, padding),
        Conv("Conv2d_3b_1x1", 80, 1, padding),
        Conv("Conv2d_4a_3x3", 192, 1, padding),
        Pool("MaxPool_5a_3x3", 2, padding),
    )


def _mixed_6a(padding: str, stride: int) -> Mixed:
    return Mixed(
        "Mixed_6a",
        (
            (Conv("Conv2d_1a_3x3", 384, stride, padding),),
            (
                Conv("Conv2d_0a_1x1", 256),
                Conv("Conv2d_0b_3x3", 256),
                Conv("Conv2d_1a_3x3", 384, stride, padding),
            ),
            (Pool("MaxPool_1a_3x3", stride, padding),),
        ),
    )


def _mixed_7a(padding: str) -> Mixed:
    reduce = Conv("Conv2d_0a_1x1", 256)
    return Mixed(
        "Mixed_7a",
        (
            (reduce, Conv("Conv2d_1a_3x3", 384, 2, padding)),
            (reduce, Conv("Conv2d_1a_3x3", 288, 2, padding)),
            (reduce, Conv("Conv2d_0b_3x3", 288), Conv("Conv2d_1a_3x3", 320, 2, padding)),
            (Pool("MaxPool_1a_3x3", 2, padding),),
        ),
    )


def inception_resnet_v2_table(
    padding: str, output_stride: int, activation_fn: Any
) -> tuple[Layer, ...]:
    """Returns the layers; their scopes are the end points.

    Args:
      padding: of the layers that the paper gives no padding to.
      output_stride: size of the image over that of `PreAuxLogits`: 8 or 16.
      activation_fn: of the residual blocks.
    """
    # Where the stride would exceed what was asked for, later kernels are dilated.
    stride, rate = (1, 2) if output_stride == 8 else (2, 1)
    last = _Blocks(lambda net: block8(net, activation_fn=None))
    return (
        *_root(padding),
        _MIXED_5B,
        _Stage("Mixed_6a", (_repeat(block35, 10, 0.17, activation_fn), _mixed_6a(padding, stride))),
        _Stage("PreAuxLogits", (_repeat(block17, 20, 0.10, activation_fn, rate),)),
        _mixed_7a(padding),
        _Stage(
            "Conv2d_7b_1x1",
            (_repeat(block8, 9, 0.20, activation_fn), last, Conv("Conv2d_7b_1x1", 1536)),
        ),
    )
