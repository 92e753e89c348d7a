"""Transposed convolutions, the gradients of convolutions with a stride."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.initializers import xavier_initializer
from tf_frame.layers.sizes import channel_dimension, n_positive_integers
from tf_frame.layers.steps import LayerSteps


@add_arg_scope
def convolution2d_transpose(
    inputs: Any,
    num_outputs: int,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    activation_fn: Callable[..., Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Any = xavier_initializer(),  # noqa: B008
    weights_regularizer: Callable[..., Any] | None = None,
    biases_initializer: Any = tf.zeros_initializer(),  # noqa: B008
    biases_regularizer: Callable[..., Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """Spreads every pixel over a kernel; then goes on like `conv2d`.

    Variables: `weights` of shape `[kernel_height, kernel_width, num_outputs,
    channels]`; `biases` of shape `[num_outputs]` unless there is a normalizer.

    Args:
      inputs: `[batch, height, width, channels]`, or `[batch, channels, height,
        width]`; channels known.
      num_outputs: number of output channels.
      kernel_size: height and width of the kernel, in pixels.
      stride: output pixels from the kernel of one input to that of the next.
      padding: "SAME", outputs `stride` times as large as the inputs; or "VALID",
        larger by the rest of a kernel that exceeds the stride.
      data_format: "NHWC" or "NCHW".
      activation_fn: applied last, or None.
      normalizer_fn: applied instead of biases, inside the layer's scope.
      normalizer_params: keyword arguments of `normalizer_fn`.
      weights_initializer: of the weights.
      weights_regularizer: maps weights to a scalar penalty, or None.
      biases_initializer: of the biases; no biases when None.
      biases_regularizer: maps biases to a scalar penalty, or None.
      reuse: whether to share the variables of an earlier layer of this scope.
      variables_collections: collections for the variables: a list, or a
        dictionary of lists by "weights" and "biases".
      outputs_collections: collections for the outputs, under the scope's name.
      trainable: whether the optimizer may change the variables.
      scope: variable scope; "Conv2d_transpose" made unique when None.

    Returns:
      `[batch, new_height, new_width, num_outputs]`, or `[batch, num_outputs,
      new_height, new_width]`.

    Raises:
      ValueError: `data_format` or `padding` is unknown, or the rank is not 4.
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"data_format has to be either NCHW or NHWC. It is {data_format!r}.")
    steps = LayerSteps(
        activation_fn=activation_fn,
        normalizer_fn=normalizer_fn,
        normalizer_params=normalizer_params,
        weights_initializer=weights_initializer,
        weights_regularizer=weights_regularizer,
        biases_initializer=biases_initializer,
        biases_regularizer=biases_regularizer,
        variables_collections=variables_collections,
        outputs_collections=outputs_collections,
        trainable=trainable,
    )
    with tf.variable_scope(scope, "Conv2d_transpose", [inputs], reuse=reuse) as variable_scope:
        outputs = _product(steps, inputs, num_outputs, kernel_size, stride, padding, data_format, 2)
        return steps.finish(outputs, variable_scope, channels_first=data_format == "NCHW")


@add_arg_scope
def convolution3d_transpose(
    inputs: Any,
    num_outputs: int,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: str = "SAME",
    data_format: str = "NDHWC",
    activation_fn: Callable[..., Any] | None = tf.nn.relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Any = xavier_initializer(),  # noqa: B008
    weights_regularizer: Callable[..., Any] | None = None,
    biases_initializer: Any = tf.zeros_initializer(),  # noqa: B008
    biases_regularizer: Callable[..., Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """Is `conv2d_transpose` with a depth before height and width.

    Variables: `weights` of shape `[*kernel_size, num_outputs, channels]`; `biases`.
    The other arguments are those of `conv2d_transpose`.

    Args:
      inputs: `[batch, depth, height, width, channels]`, or `[batch, channels,
        depth, height, width]`; channels known.
      data_format: "NDHWC" or "NCDHW".
      scope: variable scope; "Conv3d_transpose" made unique when None.

    Returns:
      `[batch, new_depth, new_height, new_width, num_outputs]`, or with the
      channels first.

    Raises:
      ValueError: `data_format` or `padding` is unknown, or the rank is not 5.
    """
    if data_format not in ("NCDHW", "NDHWC"):
        raise ValueError(f"data_format has to be either NCDHW or NDHWC. It is {data_format!r}.")
    steps = LayerSteps(
        activation_fn=activation_fn,
        normalizer_fn=normalizer_fn,
        normalizer_params=normalizer_params,
        weights_initializer=weights_initializer,
        weights_regularizer=weights_regularizer,
        biases_initializer=biases_initializer,
        biases_regularizer=biases_regularizer,
        variables_collections=variables_collections,
        outputs_collections=outputs_collections,
        trainable=trainable,
    )
    with tf.variable_scope(scope, "Conv3d_transpose", [inputs], reuse=reuse) as variable_scope:
        outputs = _product(steps, inputs, num_outputs, kernel_size, stride, padding, data_format, 3)
        return steps.finish(outputs, variable_scope, channels_first=data_format == "NCDHW")


conv2d_transpose = convolution2d_transpose
conv3d_transpose = convolution3d_transpose


def _product(
    steps: LayerSteps,
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any,
    padding: str,
    data_format: str,
    dims: int,
) -> Any:
    inputs = tf.convert_to_tensor(inputs)
    _check(inputs.shape.rank, padding, dims)
    first = data_format.startswith("NC")
    channels = channel_dimension(inputs.shape, "channels_first" if first else "channels_last")
    kernel, strides = n_positive_integers(dims, kernel_size), n_positive_integers(dims, stride)
    weights = steps.weights("weights", [*kernel, int(num_outputs), channels], like=inputs)
    shape = _output_shape(inputs, num_outputs, kernel, strides, padding.upper(), first)
    transpose = tf.nn.conv2d_transpose if dims == 2 else tf.nn.conv3d_transpose
    return transpose(
        inputs,
        weights,
        shape,
        [1, 1, *strides] if first else [1, *strides, 1],
        padding=padding.upper(),
        data_format=data_format,
    )


def _output_shape(
    inputs: Any, num_outputs: int, kernel: Any, strides: Any, padding: str, channels_first: bool
) -> Any:
    """Returns the whole shape: numbers where they are known, otherwise tensors."""
    known, asked = inputs.shape.as_list(), tf.unstack(tf.shape(inputs))
    sizes = [ask if size is None else size for size, ask in zip(known, asked, strict=True)]
    spatial = sizes[2:] if channels_first else sizes[1:-1]
    rests = [
        max(k - s, 0) if padding == "VALID" else 0 for k, s in zip(kernel, strides, strict=True)
    ]
    spatial = [size * s + rest for size, s, rest in zip(spatial, strides, rests, strict=True)]
    return (
        [sizes[0], num_outputs, *spatial] if channels_first else [sizes[0], *spatial, num_outputs]
    )


def _check(rank: int | None, padding: str, dims: int) -> None:
    if rank != dims + 2:
        raise ValueError(f"the inputs have rank {rank}; give them rank {dims + 2}")
    if str(padding).upper() not in ("SAME", "VALID"):
        raise ValueError(f"padding is {padding!r}; it must be SAME or VALID")
