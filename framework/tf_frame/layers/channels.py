"""The axis of the channels, and values that there is one of for each channel."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


def channel_axis(inputs: Any, data_format: str) -> int:
    """Returns the axis of the channels: 1, or the last.

    Args:
      inputs: `[batch, ..., channels]`, or `[batch, channels, ...]` with "NCHW".
      data_format: "NHWC" or "NCHW", which stand for other ranks, too.

    Raises:
      ValueError: another data format; rank or number of channels not known.
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"data_format has to be either NCHW or NHWC. Found {data_format!r}")
    shape = inputs.shape
    if shape.rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    axis = 1 if data_format == "NCHW" else shape.rank - 1
    if shape.rank < 2 or shape.as_list()[axis] is None:
        raise ValueError(
            f"Inputs {inputs.name} has undefined channels dimension: its shape is {shape}."
        )
    return axis


def spread(values: Any, axis: int, rank: int) -> Any:
    """Reshapes values of channels so that they go with a tensor.

    Args:
      values: `[channels]`; None stays None, other ranks stay as they are.
      axis: of the channels in the tensor.
      rank: of the tensor.
    """
    if values is None or values.shape.rank != 1:
        return values
    return tf.reshape(values, [-1 if each == axis else 1 for each in range(rank)])
