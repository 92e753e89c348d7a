"""The feature extractor `aster_resnet`: ASTER's residual network.

    layer    units  channels  stride    of 32 x 100   of 64 x 256
    Conv0           32                  32 x 100      64 x 256
    Block_1  3      32        2, 2      16 x 50       32 x 128
    Block_2  4      64        2, 2      8 x 25        16 x 64
    Block_3  6      128       2, 1      4 x 25        8 x 64
    Block_4  6      256       2, 1      2 x 25        4 x 64
    Block_5  3      512       2, 1      1 x 25        2 x 64

A unit is a 1 x 1 and a 3 x 3 convolution and the sum with its inputs; the first unit of a block is
two 3 x 3 convolutions, with a third one for its inputs. Source: Shi et al., ASTER,
https://doi.org/10.1109/TPAMI.2018.2848939, and bgshih/aster, convnets/resnet.py. Variables are
`ResNet/Conv0/...` and `ResNet/Block_1/Unit_1/Conv1/...`, `Conv2/...`, `ShortCut/...`, in the scope
`FeatureExtractor/Convnet`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers

_Stride = tuple[int, int]
# Units, channels, stride of the first unit along height and width.
_BLOCKS: Sequence[tuple[int, int, _Stride]] = (
    (3, 32, (2, 2)),
    (4, 64, (2, 2)),
    (6, 128, (2, 1)),
    (6, 256, (2, 1)),
    (3, 512, (2, 1)),
)


def aster_resnet(images: Any) -> Any:
    """Builds the network; settings of layers come from the arg scope of the encoder.

    Args:
      images: `[batch, height, width, channels]`.

    Returns:
      `[batch, height / 32, width / 4, 512]`.
    """
    with tf.variable_scope("ResNet"):
        net = layers.conv2d(images, 32, 3, scope="Conv0")
        for number, (units, channels, stride) in enumerate(_BLOCKS, start=1):
            with tf.variable_scope(f"Block_{number}"):
                net = _unit(net, channels, stride, scope="Unit_1")
                for unit in range(2, units + 1):
                    net = _unit(net, channels, None, scope=f"Unit_{unit}")
    return net


def _unit(inputs: Any, channels: int, stride: _Stride | None, *, scope: str) -> Any:
    with tf.variable_scope(scope):
        if stride is None:
            net, shortcut = layers.conv2d(inputs, channels, 1, scope="Conv1"), inputs
        else:
            net = layers.conv2d(inputs, channels, 3, stride, scope="Conv1")
            shortcut = layers.conv2d(inputs, channels, 3, stride, scope="ShortCut")
        net = layers.conv2d(net, channels, 3, activation_fn=None, scope="Conv2")
    return tf.nn.relu(net + shortcut)
