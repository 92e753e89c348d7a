"""The feature extractor `small`: four convolutions, for short runs on a CPU.

`Conv1` to `Conv4` of 16, 32, 64 and 128 channels, 3 x 3, each with batch norm, rectifier and
pooling: the height is divided by 16, the width by 4. An image of 32 x 160 becomes 2 x 40.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tf_frame import layers

# Channels, and the pooling of height and width.
_LAYERS: Sequence[tuple[int, tuple[int, int]]] = (
    (16, (2, 2)),
    (32, (2, 2)),
    (64, (2, 1)),
    (128, (2, 1)),
)


def small(images: Any) -> Any:
    """Builds the convolutions; settings of layers come from the arg scope of the encoder.

    Args:
      images: `[batch, height, width, channels]`.

    Returns:
      `[batch, height / 16, width / 4, 128]`.
    """
    net = images
    for number, (channels, pooling) in enumerate(_LAYERS, start=1):
        net = layers.conv2d(net, channels, 3, scope=f"Conv{number}")
        net = layers.max_pool2d(net, pooling, pooling, padding="SAME")
    return net
