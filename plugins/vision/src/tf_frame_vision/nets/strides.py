"""Replaces strides by dilation, so that the feature maps of a backbone keep their resolution.

For segmentation, which needs finer maps than the 1/32 of the image that a classifier ends with.
The kernels keep their shapes, so that the classifier's checkpoint still loads.
"""

from __future__ import annotations


class Strides:
    """Follows the strides of a network's layers, up to a limit.

    Once the product of strides has reached the limit, layers get stride 1, and the
    strides that they lose become the rate (dilation) of the layers after them.

    Source: slim, nets/mobilenet_v1.py and nets/resnet_utils.py, and
    https://arxiv.org/abs/1606.00915.

    Args:
      output_stride: the limit; None for none.
    """

    def __init__(self, output_stride: int | None) -> None:
        self._limit = output_stride
        self._stride = 1
        self._rate = 1

    def next(self, stride: int) -> tuple[int, int]:
        """Returns stride and rate of the next layer, which asks for a stride."""
        if self._stride != self._limit:
            self._stride *= stride
            return stride, 1
        # The input of the layer that loses its stride still has the old rate.
        rate = self._rate
        self._rate *= stride
        return 1, rate

    def check_reached(self) -> None:
        """Checks that the limit is the product of the first strides.

        Raises:
          ValueError: the product of all strides so far is another.
        """
        if self._limit not in (None, self._stride):
            raise ValueError(
                f"The target output_stride cannot be reached. The blocks were asked for "
                f"{self._limit}; the strides of their units give {self._stride}. "
                "Use a product of the first of them, or None."
            )
