"""Pooling of tf.layers, on `tf_frame.layers`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_legacy.layers.base import Layer
from tf_frame_legacy.layers.convolutional import is_channels_first
from tf_frame_legacy.layers.functional import make_function

_FORMATS = {2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


class _Pooling(Layer):
    """Base of the pooling layers; see `MaxPooling2D`."""

    _dimensions = 0
    _pool: Callable[..., Any]

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.pool_size, self.padding, self.data_format = pool_size, padding, data_format
        self.strides = pool_size if strides is None else strides
        self.channels_first = is_channels_first(data_format)

    def call(self, inputs: Any) -> Any:
        """Returns `[batch, *new_sizes, channels]`, or `[batch, channels, *new_sizes]`."""
        return self._pooled(inputs, self.pool_size, self.strides, dimensions=self._dimensions)

    def _pooled(self, inputs: Any, pool_size: Any, strides: Any, *, dimensions: int) -> Any:
        # The arg_scope of slim never applied to tf.layers.
        with layers.arg_scope({}):
            return type(self)._pool(
                inputs,
                pool_size,
                strides,
                self.padding,
                _FORMATS[dimensions][self.channels_first],
                scope=tf.get_default_graph().get_name_scope() + "/",
            )


class _Pooling1D(_Pooling):
    """Pools over time; arguments as of `MaxPooling2D`."""

    def call(self, inputs: Any) -> Any:
        """Returns `[batch, new_length, channels]`, or `[batch, channels, new_length]`."""
        axis = 3 if self.channels_first else 2
        size, strides = (
            int(value[0]) if isinstance(value, list | tuple) else int(value)
            for value in (self.pool_size, self.strides)
        )
        outputs = self._pooled(tf.expand_dims(inputs, axis), [size, 1], [strides, 1], dimensions=2)
        return tf.squeeze(outputs, [axis])


class MaxPooling1D(_Pooling1D):
    """Takes the maximum over time; arguments as of `MaxPooling2D`."""

    _pool = staticmethod(layers.max_pool2d)


class MaxPooling2D(_Pooling):
    """Takes the maximum of each window over height and width; padding does not count.

    Args:
      pool_size: size of the window, one integer or one for each dimension.
      strides: distance between windows, likewise; None: `pool_size`.
      padding: "valid" or "same".
      data_format: "channels_last", `[batch, *sizes, channels]`, or "channels_first".
      name: see `Layer`.

    Raises:
      ValueError: unknown `padding` or `data_format`.
    """

    _dimensions = 2
    _pool = staticmethod(layers.max_pool2d)


class MaxPooling3D(_Pooling):
    """Takes the maximum over depth, height and width; arguments as of `MaxPooling2D`."""

    _dimensions = 3
    _pool = staticmethod(layers.max_pool3d)


class AveragePooling1D(_Pooling1D):
    """Averages over time; arguments as of `MaxPooling2D`."""

    _pool = staticmethod(layers.avg_pool2d)


class AveragePooling2D(_Pooling):
    """Averages over height and width; arguments as of `MaxPooling2D`."""

    _dimensions = 2
    _pool = staticmethod(layers.avg_pool2d)


class AveragePooling3D(_Pooling):
    """Averages over depth, height and width; arguments as of `MaxPooling2D`."""

    _dimensions = 3
    _pool = staticmethod(layers.avg_pool3d)


max_pooling1d = make_function(MaxPooling1D, "max_pooling1d", shares=False)
max_pooling2d = make_function(MaxPooling2D, "max_pooling2d", shares=False)
max_pooling3d = make_function(MaxPooling3D, "max_pooling3d", shares=False)
average_pooling1d = make_function(AveragePooling1D, "average_pooling1d", shares=False)
average_pooling2d = make_function(AveragePooling2D, "average_pooling2d", shares=False)
average_pooling3d = make_function(AveragePooling3D, "average_pooling3d", shares=False)
