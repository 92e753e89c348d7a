"""A 1 x 1 convolution in groups of channels.

Source of names, arguments and defaults: slim, nets/mobilenet/conv_blocks.py.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_classification.nets.channels import split_divisible


def split_conv(
    input_tensor: Any,
    num_outputs: int,
    num_ways: int,
    scope: str,
    divisible_by: int = 8,
    **kwargs: Any,
) -> Any:
    """Convolves 1 x 1 in groups: the channels of one feed only the outputs of the same one.

    There is one group only where groups would have less than `divisible_by` channels.

    Args:
      input_tensor: `[batch, height, width, channels]`.
      num_outputs: number of output channels.
      num_ways: number of groups.
      scope: variable scope; the groups' are `SCOPE_part_0` and so on.
      divisible_by: channels in a group are a multiple of this.
      **kwargs: for `layers.conv2d`.

    Returns:
      `[batch, height, width, num_outputs]`.
    """
    channels = input_tensor.shape.as_list()[3]
    if num_ways == 1 or min(channels, num_outputs) // num_ways < divisible_by:
        return layers.conv2d(input_tensor, num_outputs, [1, 1], scope=scope, **kwargs)
    sizes = split_divisible(num_outputs, num_ways, divisible_by)
    parts = tf.split(
        input_tensor,
        split_divisible(channels, num_ways, divisible_by),
        axis=3,
        name=f"split_{scope}",
    )
    outputs = []
    for index, (part, size) in enumerate(zip(parts, sizes, strict=True)):
        name = f"{scope}_part_{index}"
        part = layers.conv2d(part, size, [1, 1], scope=name, **kwargs)
        outputs.append(tf.identity(part, f"{name}_output"))
    return tf.concat(outputs, 3, name=f"{scope}_concat")
