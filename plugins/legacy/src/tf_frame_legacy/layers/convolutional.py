"""Convolutions of tf.layers, on `tf_frame.layers`."""

from __future__ import annotations

import inspect
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.conv import convolve
from tf_frame.layers.conv_transpose import convolve_transposed
from tf_frame.layers.separable_conv import convolve_depthwise
from tf_frame.layers.sizes import known_dimension, n_positive_integers
from tf_frame_legacy.layers.base import Function, Layer, as_activation
from tf_frame_legacy.layers.functional import make_function


class _Conv(Layer):
    """Base of the convolutions; see `Conv2D`."""

    _dimensions = 0
    _transposed = False

    @property
    def rank(self) -> int:
        """Number of dimensions of the convolution."""
        return self._dimensions

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = tf.zeros_initializer(),  # noqa: B008
        kernel_regularizer: Function | None = None,
        bias_regularizer: Function | None = None,
        activity_regularizer: Function | None = None,
        kernel_constraint: Function | None = None,
        bias_constraint: Function | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        self.filters = int(filters)
        self.kernel_size = n_positive_integers(self._dimensions, kernel_size)
        self.strides = n_positive_integers(self._dimensions, strides)
        self.dilation_rate = n_positive_integers(self._dimensions, dilation_rate)
        self.padding, self.data_format = padding, data_format
        self.channels_first = is_channels_first(data_format)
        self.activation, self.use_bias = as_activation(activation), use_bias
        self._kernel = {
            "initializer": kernel_initializer,
            "regularizer": kernel_regularizer,
            "constraint": kernel_constraint,
        }
        self._bias = {
            "initializer": bias_initializer,
            "regularizer": bias_regularizer,
            "constraint": bias_constraint,
        }

    def build(self, input_shape: Any) -> None:
        """Makes `kernel`, `[*kernel_size, channels, filters]`, and `bias`, `[filters]`."""
        channels = self._channels(input_shape)
        last = [self.filters, channels] if self._transposed else [channels, self.filters]
        self.kernel = self.add_weight("kernel", [*self.kernel_size, *last], **self._kernel)
        self._build_bias()

    def call(self, inputs: Any) -> Any:
        """Returns `[batch, *new_sizes, filters]`, or `[batch, filters, *new_sizes]`."""
        return self._finish(self._convolution_op(inputs, self.kernel))

    def _convolution_op(self, inputs: Any, kernel: Any) -> Any:
        # Subclasses of then call it with a kernel that they have changed.
        return convolve(
            inputs,
            kernel,
            self.strides,
            self.dilation_rate,
            self.padding,
            channels_first=self.channels_first,
        )

    def _channels(self, shape: Any) -> int:
        if shape.rank != self._dimensions + 2:
            raise ValueError(
                f"Input 0 of layer {self.name} is incompatible with the layer: expected "
                f"ndim={self._dimensions + 2}, found ndim={shape.rank}. Full shape: {shape}"
            )
        return known_dimension(shape, 1 if self.channels_first else -1)

    def _build_bias(self) -> None:
        self.bias = self.add_weight("bias", [self.filters], **self._bias) if self.use_bias else None

    def _finish(self, outputs: Any) -> Any:
        outputs = self._biased(outputs)
        return outputs if self.activation is None else self.activation(outputs)

    def _biased(self, outputs: Any) -> Any:
        if self.bias is None:
            return outputs
        data_format = "NC..." if self.channels_first else "N...C"
        return tf.nn.bias_add(outputs, self.bias, data_format=data_format, name="BiasAdd")


class Conv1D(_Conv):
    """A convolution over time; arguments as of `Conv2D`."""

    _dimensions = 1


class Conv2D(_Conv):
    """A convolution over height and width; adds biases and applies the activation.

    Args:
      filters: number of output channels.
      kernel_size: size of the kernel, one integer or one for each dimension.
      strides: distance between outputs, likewise.
      padding: "valid" or "same"; in one dimension also "causal".
      data_format: "channels_last", `[batch, *sizes, channels]`, or "channels_first".
      dilation_rate: distance between the taps of the kernel, like `strides`; only one of both
        may exceed 1.
      activation: applied last, a function or its name in `tf.nn`; None: none.
      use_bias: whether there are biases.
      kernel_initializer: see `Layer.add_weight`.
      bias_initializer: initializer of the biases.
      kernel_regularizer, bias_regularizer: map a variable to a scalar penalty; None: none.
      activity_regularizer: see `Layer`.
      kernel_constraint, bias_constraint: map the new value of a variable to an allowed value,
        after each step of an optimizer; None: no constraint.
      trainable, name: see `Layer`.

    Raises:
      ValueError: unknown `padding` or `data_format`, another rank of the inputs, or an unknown
        number of channels.
    """

    _dimensions = 2


class Conv3D(_Conv):
    """A convolution over depth, height and width; arguments as of `Conv2D`."""

    _dimensions = 3


class _ConvTranspose(_Conv):
    """A transposed convolution; arguments as of `Conv2D`, without `dilation_rate`."""

    _transposed = True
    __signature__ = inspect.Signature(
        [p for p in inspect.signature(_Conv).parameters.values() if p.name != "dilation_rate"]
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        arguments = self.__signature__.bind(*args, **kwargs).arguments
        super().__init__(**arguments.pop("kwargs", {}), **arguments)

    def call(self, inputs: Any) -> Any:
        """Returns `[batch, *new_sizes, filters]`, or `[batch, filters, *new_sizes]`."""
        outputs = convolve_transposed(
            inputs, self.kernel, self.strides, self.padding, channels_first=self.channels_first
        )
        return self._finish(outputs)


class Conv2DTranspose(_ConvTranspose):
    """A transposed convolution; arguments as of `Conv2D`, without `dilation_rate`."""

    _dimensions = 2


class Conv3DTranspose(_ConvTranspose):
    """A transposed convolution; arguments as of `Conv3D`, without `dilation_rate`."""

    _dimensions = 3


class _SeparableConv(_Conv):
    """Base of the separable convolutions; see `SeparableConv2D`."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = None,
        pointwise_initializer: Any = None,
        bias_initializer: Any = tf.zeros_initializer(),  # noqa: B008
        depthwise_regularizer: Function | None = None,
        pointwise_regularizer: Function | None = None,
        bias_regularizer: Function | None = None,
        activity_regularizer: Function | None = None,
        depthwise_constraint: Function | None = None,
        pointwise_constraint: Function | None = None,
        bias_constraint: Function | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            *(filters, kernel_size, strides, padding, data_format, dilation_rate, activation),
            *(use_bias, depthwise_initializer, bias_initializer, depthwise_regularizer),
            *(bias_regularizer, activity_regularizer, depthwise_constraint, bias_constraint),
            *(trainable, name),
            **kwargs,
        )
        self.depth_multiplier = int(depth_multiplier)
        self._pointwise = {
            "initializer": pointwise_initializer,
            "regularizer": pointwise_regularizer,
            "constraint": pointwise_constraint,
        }

    def build(self, input_shape: Any) -> None:
        """Makes `depthwise_kernel`, `pointwise_kernel` and `bias`."""
        channels = self._channels(input_shape)
        shape = [*self.kernel_size, channels, self.depth_multiplier]
        self.depthwise_kernel = self.add_weight("depthwise_kernel", shape, **self._kernel)
        shape = [1] * self._dimensions + [channels * self.depth_multiplier, self.filters]
        self.pointwise_kernel = self.add_weight("pointwise_kernel", shape, **self._pointwise)
        self._build_bias()

    def _convolve(
        self, inputs: Any, depthwise: Any, pointwise: Any, strides: Any, rates: Any, padding: str
    ) -> Any:
        data_format = "NCHW" if self.channels_first else "NHWC"
        with tf.name_scope("separable_conv2d") as name:
            outputs = convolve_depthwise(
                inputs, depthwise, strides, rates, padding, channels_first=self.channels_first
            )
            return tf.nn.conv2d(outputs, pointwise, 1, "VALID", data_format=data_format, name=name)


class SeparableConv2D(_SeparableConv):
    """A convolution of each channel, then one of all channels at each pixel.

    It has the arguments of `Conv2D`, with `depthwise_...` and `pointwise_...` instead of
    `kernel_...`, and:

    Args:
      depth_multiplier: number of depthwise outputs of each channel.
    """

    _dimensions = 2

    def call(self, inputs: Any) -> Any:
        """Returns `[batch, *new_sizes, filters]`, or `[batch, filters, *new_sizes]`."""
        outputs = self._convolve(
            inputs,
            self.depthwise_kernel,
            self.pointwise_kernel,
            self.strides,
            self.dilation_rate,
            self.padding,
        )
        return self._finish(outputs)


class SeparableConv1D(_SeparableConv):
    """A separable convolution over time; arguments as of `SeparableConv2D`."""

    _dimensions = 1

    def call(self, inputs: Any) -> Any:
        """Returns `[batch, new_length, filters]`, or `[batch, filters, new_length]`."""
        axis, padding = (2 if self.channels_first else 1), self.padding
        if padding == "causal":
            reach = [self.dilation_rate[0] * (self.kernel_size[0] - 1), 0]
            paddings = [[0, 0], reach, [0, 0]]
            if self.channels_first:
                paddings = [[0, 0], [0, 0], reach]
            inputs, padding = tf.pad(inputs, paddings), "valid"
        outputs = self._convolve(
            tf.expand_dims(inputs, axis),
            tf.expand_dims(self.depthwise_kernel, 0),
            tf.expand_dims(self.pointwise_kernel, 0),
            # The kernel of TensorFlow wants the same stride for both dimensions.
            self.strides * 2,
            (1, *self.dilation_rate),
            padding,
        )
        outputs = tf.squeeze(self._biased(outputs), [axis])
        return outputs if self.activation is None else self.activation(outputs)


def is_channels_first(data_format: str) -> bool:
    """Returns whether a data format is "channels_first".

    Raises:
      ValueError: neither "channels_first" nor "channels_last".
    """
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(
            f"data_format is {data_format!r}; it must be channels_first or channels_last"
        )
    return data_format == "channels_first"


conv1d = make_function(Conv1D, "conv1d")
conv2d = make_function(Conv2D, "conv2d")
conv3d = make_function(Conv3D, "conv3d")
conv2d_transpose = make_function(Conv2DTranspose, "conv2d_transpose")
conv3d_transpose = make_function(Conv3DTranspose, "conv3d_transpose")
separable_conv1d = make_function(SeparableConv1D, "separable_conv1d")
separable_conv2d = make_function(SeparableConv2D, "separable_conv2d")
