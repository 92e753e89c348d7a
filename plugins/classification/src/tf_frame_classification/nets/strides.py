"""How a network keeps its resolution: dilation in the place of strides."""

from __future__ import annotations


class Strides:
    """Follows the strides of a network's layers, up to a limit.

    Once the product of strides has reached the limit, layers get stride 1, and the
    strides that they lose become the rate (dilation) of the layers after them.

    Source: slim, nets/mobilenet_v1.py, and https://arxiv.org/abs/1606.00915.

    Args:
      output_stride: the limit; None for none.
    """

    def __init__(self, output_stride: int | None) -> None:
        self._limit = output_stride
        self._stride = 1
        self._rate = 1

    def next(self, stride: int) -> tuple[int, int]:
        """Returns stride and rate of the next layer, whose stride would be `stride`."""
        if self._limit is None or self._stride != self._limit:
            self._stride *= stride
            return stride, 1
        rate = self._rate
        self._rate *= stride
        return 1, rate
