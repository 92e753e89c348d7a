"""Convolutions in one, two and three dimensions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.initializers import xavier_initializer
from tf_frame.layers.sizes import channel_dimension, n_positive_integers
from tf_frame.layers.steps import LayerSteps

_FORMATS = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")


@add_arg_scope
def convolution(
    inputs: Any,
    num_outputs: int,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: int | Sequence[int] = 1,
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
    conv_dims: int | None = None,
) -> Any:
    """Convolves; then normalises or adds biases; then activates.

    Variables: `weights` of shape `[*kernel_size, channels, num_outputs]`; `biases`
    of shape `[num_outputs]` unless there is a normalizer. With more than one
    dimension `stride`, `rate` and `kernel_size` take one number for all, or one
    for each.

    Args:
      inputs: `[batch, *sizes, channels]`, or `[batch, channels, *sizes]`;
        channels known.
      num_outputs: number of output channels.
      kernel_size: sizes of the kernel, in pixels.
      stride: pixels from one output to the next.
      padding: "SAME" or "VALID"; in one dimension also "CAUSAL", where an output
        sees no later inputs.
      data_format: channels come first where it begins with "NC", otherwise last.
      rate: pixels between the taps of the kernel (atrous convolution).
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
      scope: variable scope; "Conv" made unique when None.
      conv_dims: number of dimensions that the inputs must have; any when None.

    Returns:
      `[batch, *new_sizes, num_outputs]`, or `[batch, num_outputs, *new_sizes]`.

    Raises:
      ValueError: `data_format` or `padding` is unknown, the rank of the inputs does
        not fit, or both a stride and a rate are greater than 1.
    """
    if data_format not in _FORMATS:
        raise ValueError(f"Invalid data_format: {data_format!r}; use one of {_FORMATS}")
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
    with tf.variable_scope(scope, "Conv", [inputs], reuse=reuse) as variable_scope:
        inputs = tf.convert_to_tensor(inputs)
        dims = _dimensions(inputs, conv_dims)
        first = bool(data_format and data_format.startswith("NC"))
        channels = channel_dimension(inputs.shape, "channels_first" if first else "channels_last")
        shape = [*n_positive_integers(dims, kernel_size), channels, int(num_outputs)]
        weights = steps.weights("weights", shape, like=inputs)
        outputs = _product(inputs, weights, stride, rate, padding, first)
        return steps.finish(outputs, variable_scope, channels_first=first)


def _for(dims: int) -> Callable[..., Any]:
    """Returns `convolution` without `conv_dims`, for inputs of one rank only."""
    general = inspect.unwrap(convolution)

    @functools.wraps(general)
    def convolve(*args: Any, **kwargs: Any) -> Any:
        return general(*args, **kwargs, conv_dims=dims)

    whole = inspect.signature(general)
    rest = [each for each in whole.parameters.values() if each.name != "conv_dims"]
    convolve.__signature__ = whole.replace(parameters=rest)  # type: ignore[attr-defined]
    convolve.__name__ = convolve.__qualname__ = f"convolution{dims}d"
    convolve.__doc__ = (
        f"Convolves in {dims} dimension{'s'[: dims - 1]}.\n\n"
        "Arguments, variables and errors are those of `convolution`."
    )
    return add_arg_scope(convolve)


convolution1d = conv1d = _for(1)
convolution2d = conv2d = _for(2)
convolution3d = conv3d = _for(3)


def _dimensions(inputs: Any, conv_dims: int | None) -> int:
    rank = inputs.shape.rank
    if conv_dims is not None and conv_dims + 2 != rank:
        raise ValueError(f"Convolution expects input with rank {conv_dims + 2}, got {rank}")
    if rank not in (3, 4, 5):
        raise ValueError(f"Convolution not supported for input with rank {rank}; use 3, 4 or 5")
    return int(rank) - 2


def _product(
    inputs: Any, weights: Any, stride: Any, rate: Any, padding: str, channels_first: bool
) -> Any:
    dims = inputs.shape.rank - 2
    strides, rates = n_positive_integers(dims, stride), n_positive_integers(dims, rate)
    if max(strides) > 1 and max(rates) > 1:
        raise ValueError(f"stride {stride} with rate {rate}: only one of them may exceed 1")
    padding = _checked_padding(padding, dims)
    if padding == "CAUSAL":
        reach = rates[0] * (weights.shape.as_list()[0] - 1)
        inputs, padding = _padded_before(inputs, reach, channels_first), "VALID"
    # Goes through space-to-batch for rates above 1: the gradient of the kernel's
    # own dilations is not there on every CPU.
    return tf.nn.convolution(
        inputs,
        weights,
        padding,
        strides=strides,
        dilation_rate=rates,
        data_format=_format(dims, channels_first),
        name=f"Conv{dims}D",
    )


def _checked_padding(padding: str, dims: int) -> str:
    allowed = ("SAME", "VALID", "CAUSAL") if dims == 1 else ("SAME", "VALID")
    if str(padding).upper() not in allowed:
        raise ValueError(f"padding is {padding!r}; in {dims}-D it must be one of {allowed}")
    return str(padding).upper()


def _padded_before(inputs: Any, count: int, channels_first: bool) -> Any:
    time = [count, 0]
    return tf.pad(inputs, [[0, 0], [0, 0], time] if channels_first else [[0, 0], time, [0, 0]])


def _format(dims: int, channels_first: bool) -> str:
    sizes = "DHW"[3 - dims :]
    return f"NC{sizes}" if channels_first else f"N{sizes}C"
