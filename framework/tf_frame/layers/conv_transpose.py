"""Transposed convolutions (gradients of strided convolutions), which enlarge feature maps.

Arguments and variable names are slim's, so networks for slim build unchanged, and their
checkpoints load.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.sizes import channels_first, known_dimension, n_positive_integers
from tf_frame.layers.steps import LayerSteps, fix_rank, slim_layer

_FORMATS = {2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


@slim_layer("Conv{conv_dims}d_transpose")
def _convolution_transpose(
    inputs: Any,
    num_outputs: int,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    *,
    conv_dims: int,
    steps: LayerSteps,
) -> tuple[Any, bool]:
    """Multiplies each pixel by a kernel and adds up the results; continues like `convolution`.

    Variables: `weights` of shape `[*kernel_size, num_outputs, channels]`; `biases` of
    shape `[num_outputs]` unless there is a normalizer.

    Args:
      inputs: `[batch, *sizes, channels]`, or `[batch, channels, *sizes]`; number of
        channels known. The sizes are height and width, in three dimensions depth,
        height and width.
      num_outputs: number of output channels.
      kernel_size: size of the kernel in each dimension, in pixels; or one integer for all.
      stride: distance in the outputs between the kernels of neighbouring inputs.
      padding: "SAME": outputs `stride` times as large as the inputs; "VALID": in
        addition larger by the difference of kernel and stride, if the kernel is larger.
      data_format: "NHWC" or "NCHW"; in three dimensions "NDHWC" or "NCDHW".
      scope: variable scope; None: "Conv2d_transpose" or "Conv3d_transpose", made unique.

    Returns:
      `[batch, *new_sizes, num_outputs]`, or `[batch, num_outputs, *new_sizes]`.

    Raises:
      ValueError: unknown `data_format` or `padding`, or another rank of the inputs.
    """
    formats = _FORMATS[conv_dims]
    data_format = data_format or formats[0]
    first = channels_first(data_format, formats)
    if inputs.shape.rank != conv_dims + 2:
        raise ValueError(
            f"the inputs have rank {inputs.shape.rank}; give them rank {conv_dims + 2}"
        )
    channels = known_dimension(inputs.shape, 1 if first else -1)
    kernel = n_positive_integers(conv_dims, kernel_size)
    weights = steps.weights("weights", [*kernel, int(num_outputs), channels], like=inputs)
    return convolve_transposed(inputs, weights, stride, padding, channels_first=first), first


convolution2d_transpose = fix_rank(_convolution_transpose, 2, "convolution2d_transpose", "NHWC")
convolution3d_transpose = fix_rank(_convolution_transpose, 3, "convolution3d_transpose", "NDHWC")
conv2d_transpose, conv3d_transpose = convolution2d_transpose, convolution3d_transpose


def convolve_transposed(
    inputs: Any, weights: Any, stride: Any, padding: str, *, channels_first: bool
) -> Any:
    """Convolves transposed; without variables, biases and activation.

    For the arguments, and the shapes of inputs and weights, see `convolution2d_transpose`.

    Raises:
      ValueError: unknown `padding`.
    """
    if str(padding).upper() not in ("SAME", "VALID"):
        raise ValueError(f"padding is {padding!r}; it must be SAME or VALID")
    dims = inputs.shape.rank - 2
    *kernel, num_outputs, _ = weights.shape.as_list()
    strides = n_positive_integers(dims, stride)
    transpose = tf.nn.conv2d_transpose if dims == 2 else tf.nn.conv3d_transpose
    return transpose(
        inputs,
        weights,
        _output_shape(inputs, num_outputs, kernel, strides, padding.upper(), channels_first),
        [1, 1, *strides] if channels_first else [1, *strides, 1],
        padding=padding.upper(),
        data_format=_FORMATS[dims][channels_first],
    )


def _output_shape(
    inputs: Any, num_outputs: int, kernel: Any, strides: Any, padding: str, first: bool
) -> list[Any]:
    """Returns the sizes of the outputs: integers if the graph has them, otherwise tensors."""
    static, dynamic = inputs.shape.as_list(), tf.unstack(tf.shape(inputs))
    batch, *sizes = [d if size is None else size for size, d in zip(static, dynamic, strict=True)]
    sizes = sizes[1:] if first else sizes[:-1]
    spatial = [
        size * stride + (max(taps - stride, 0) if padding == "VALID" else 0)
        for size, stride, taps in zip(sizes, strides, kernel, strict=True)
    ]
    return [batch, num_outputs, *spatial] if first else [batch, *spatial, num_outputs]
