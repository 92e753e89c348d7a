"""The variables of InceptionV3 as slim makes them: realistic input for tests of the placement.

Channels and kernels are those of inception_v3_base and inception_v3
(tensorflow/models, research/slim/nets/inception_v3.py; Szegedy et al.,
https://arxiv.org/abs/1512.00567), scopes shortened where slim's are irregular.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

# A convolution: output channels, kernel height, kernel width.
Conv = tuple[int, int, int]
Variable = tuple[str, tuple[int, ...]]

_STEM: list[Conv] = [(32, 3, 3), (32, 3, 3), (64, 3, 3), (80, 1, 1), (192, 3, 3)]
_AUX_INPUT = "Mixed_6e"


def _mixed_5(pooled: int) -> list[list[Conv]]:
    return [
        [(64, 1, 1)],
        [(48, 1, 1), (64, 5, 5)],
        [(64, 1, 1), (96, 3, 3), (96, 3, 3)],
        [(pooled, 1, 1)],
    ]


def _mixed_6(inner: int) -> list[list[Conv]]:
    return [
        [(192, 1, 1)],
        [(inner, 1, 1), (inner, 1, 7), (192, 7, 1)],
        [(inner, 1, 1), (inner, 7, 1), (inner, 1, 7), (inner, 7, 1), (192, 1, 7)],
        [(192, 1, 1)],
    ]


# Branches of each block; those of _REDUCTIONS pass their pooled inputs on as well.
_BLOCKS: dict[str, list[list[Conv]]] = {
    "Mixed_5b": _mixed_5(32),
    "Mixed_5c": _mixed_5(64),
    "Mixed_5d": _mixed_5(64),
    "Mixed_6a": [[(384, 3, 3)], [(64, 1, 1), (96, 3, 3), (96, 3, 3)]],
    "Mixed_6b": _mixed_6(128),
    "Mixed_6c": _mixed_6(160),
    "Mixed_6d": _mixed_6(160),
    "Mixed_6e": _mixed_6(192),
    "Mixed_7a": [
        [(192, 1, 1), (320, 3, 3)],
        [(192, 1, 1), (192, 1, 7), (192, 7, 1), (192, 3, 3)],
    ],
}
_REDUCTIONS = ("Mixed_6a", "Mixed_7a")


def inception_v3_variables(num_classes: int = 1001) -> list[Variable]:
    """Lists names and shapes in the order of their making, auxiliary logits included.

    Args:
      num_classes: classes, the background included.
    """
    base = list(inception_v3_base())
    aux = [
        *_conv("AuxLogits/Conv2d_1b_1x1", 768, (128, 1, 1)),
        *_conv("AuxLogits/Conv2d_2a_5x5", 128, (768, 5, 5)),
        *_logits("AuxLogits/Conv2d_2b_1x1", 768, num_classes),
    ]
    variables = [*base, *aux, *_logits("Logits/Conv2d_1c_1x1", 2048, num_classes)]
    return [(f"InceptionV3/{name}", shape) for name, shape in variables]


def num_parameters(variables: list[Variable]) -> int:
    """Number of parameters of all variables together."""
    return sum(math.prod(shape) for _, shape in variables)


def inception_v3_base() -> Iterator[Variable]:
    """Yields the variables below the logits."""
    channels = 3
    for index, conv in enumerate(_STEM):
        yield from _conv(f"Conv2d_{index}", channels, conv)
        channels = conv[0]
    for block, branches in _BLOCKS.items():
        passed_on = channels if block in _REDUCTIONS else 0
        for index, branch in enumerate(branches):
            yield from _chain(f"{block}/Branch_{index}", channels, branch)
        channels = sum(branch[-1][0] for branch in branches) + passed_on
    for block in ("Mixed_7b", "Mixed_7c"):
        yield from _mixed_7(block, channels)
        channels = 2048


def _mixed_7(block: str, channels: int) -> Iterator[Variable]:
    """The blocks whose branches fork at their end."""
    yield from _chain(f"{block}/Branch_0", channels, [(320, 1, 1)])
    for index, branch in ((1, [(384, 1, 1)]), (2, [(448, 1, 1), (384, 3, 3)])):
        yield from _chain(f"{block}/Branch_{index}", channels, branch)
        for kernel in ((384, 1, 3), (384, 3, 1)):
            yield from _conv(f"{block}/Branch_{index}/Fork_{kernel[1]}x{kernel[2]}", 384, kernel)
    yield from _chain(f"{block}/Branch_3", channels, [(192, 1, 1)])


def _chain(scope: str, channels: int, convs: list[Conv]) -> Iterator[Variable]:
    for index, conv in enumerate(convs):
        yield from _conv(f"{scope}/Conv2d_{index}", channels, conv)
        channels = conv[0]


def _conv(scope: str, channels: int, conv: Conv) -> Iterator[Variable]:
    """A convolution and its batch norm, which slim gives no scale here."""
    filters, height, width = conv
    yield f"{scope}/weights", (height, width, channels, filters)
    for name in ("beta", "moving_mean", "moving_variance"):
        yield f"{scope}/BatchNorm/{name}", (filters,)


def _logits(scope: str, channels: int, num_classes: int) -> Iterator[Variable]:
    yield f"{scope}/weights", (1, 1, channels, num_classes)
    yield f"{scope}/biases", (num_classes,)
