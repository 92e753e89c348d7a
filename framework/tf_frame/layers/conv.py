"""Convolutions in one, two and three dimensions, with slim's arguments and variable names.

Networks for slim therefore build unchanged, and their checkpoints load.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.sizes import known_dimension, n_positive_integers
from tf_frame.layers.steps import LayerSteps, fix_rank, slim_layer

_FORMATS = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")


@slim_layer("Conv")
def convolution(
    inputs: Any,
    num_outputs: int,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: int | Sequence[int] = 1,
    *,
    conv_dims: int | None = None,
    steps: LayerSteps,
) -> tuple[Any, bool]:
    """Convolves; normalises or adds biases; applies the activation.

    Variables: `weights` of shape `[*kernel_size, channels, num_outputs]`; `biases` of shape
    `[num_outputs]` unless there is a normalizer. `stride`, `rate` and `kernel_size` are one integer
    for all dimensions, or one for each.

    Args:
      inputs: `[batch, *sizes, channels]`, or `[batch, channels, *sizes]`; number of
        channels known.
      num_outputs: number of output channels.
      kernel_size: size of the kernel, in pixels.
      stride: distance between outputs, in pixels.
      padding: "SAME" or "VALID"; in one dimension also "CAUSAL": an output depends on no
        later input.
      data_format: channels come first if it begins with "NC", otherwise last.
      rate: distance between the taps of the kernel, in pixels (atrous convolution).
      scope: variable scope; None: "Conv", made unique.
      conv_dims: number of spatial dimensions of the inputs; None: any.

    Returns:
      `[batch, *new_sizes, num_outputs]`, or `[batch, num_outputs, *new_sizes]`.

    Raises:
      ValueError: unknown `data_format` or `padding`, another rank of the inputs, or
        both a stride and a rate greater than 1.
    """
    if data_format not in _FORMATS:
        raise ValueError(f"Invalid data_format: {data_format!r}; use one of {_FORMATS}")
    rank = inputs.shape.rank
    if conv_dims is not None and conv_dims + 2 != rank:
        raise ValueError(f"Convolution expects input with rank {conv_dims + 2}, got {rank}")
    if rank not in (3, 4, 5):
        raise ValueError(f"Convolution not supported for input with rank {rank}; use 3, 4 or 5")
    first = bool(data_format and data_format.startswith("NC"))
    channels = known_dimension(inputs.shape, 1 if first else -1)
    shape = [*n_positive_integers(rank - 2, kernel_size), channels, int(num_outputs)]
    weights = steps.weights("weights", shape, like=inputs)
    return convolve(inputs, weights, stride, rate, padding, channels_first=first), first


convolution1d = conv1d = fix_rank(convolution, 1, "convolution1d", None)
convolution2d = conv2d = fix_rank(convolution, 2, "convolution2d", None)
convolution3d = conv3d = fix_rank(convolution, 3, "convolution3d", None)


def convolve(
    inputs: Any, weights: Any, stride: Any, rate: Any, padding: str, *, channels_first: bool
) -> Any:
    """Convolves; without variables, biases and activation.

    For the arguments, and the shapes of inputs and weights, see `convolution`.

    Raises:
      ValueError: unknown `padding`, or both a stride and a rate greater than 1.
    """
    dims = inputs.shape.rank - 2
    strides, rates = n_positive_integers(dims, stride), n_positive_integers(dims, rate)
    if max(strides) > 1 and max(rates) > 1:
        raise ValueError(f"stride {stride} with rate {rate}: only one of them may exceed 1")
    allowed = ("SAME", "VALID", "CAUSAL") if dims == 1 else ("SAME", "VALID")
    if str(padding).upper() not in allowed:
        raise ValueError(f"padding is {padding!r}; in {dims}-D it must be one of {allowed}")
    padding = padding.upper()
    if padding == "CAUSAL":
        time = [rates[0] * (weights.shape.as_list()[0] - 1), 0]
        paddings = [[0, 0], [0, 0], time] if channels_first else [[0, 0], time, [0, 0]]
        inputs, padding = tf.pad(inputs, paddings), "VALID"
    sizes = "DHW"[3 - dims :]
    # tf.nn.convolution uses space-to-batch for rates above 1; the gradient of the kernel's own
    # dilations does not exist on every CPU.
    return tf.nn.convolution(
        inputs,
        weights,
        padding,
        strides=strides,
        dilation_rate=rates,
        data_format=f"NC{sizes}" if channels_first else f"N{sizes}C",
        name=f"Conv{dims}D",
    )
