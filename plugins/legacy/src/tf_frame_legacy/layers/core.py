"""Dense layers, dropout and flatten of tf.layers, on `tf_frame.layers`."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.layers.dense import multiply
from tf_frame.layers.functional import drop
from tf_frame.layers.sizes import last_dimension
from tf_frame_legacy.layers.base import Function, Layer, as_activation
from tf_frame_legacy.layers.convolutional import is_channels_first
from tf_frame_legacy.layers.functional import make_function


class Dense(Layer):
    """A product with weights over the last dimension; adds biases, applies the activation.

    Args:
      units: number of outputs.
      activation, use_bias, kernel_initializer, bias_initializer, kernel_regularizer,
        bias_regularizer, activity_regularizer, kernel_constraint, bias_constraint, trainable,
        name: see `Conv2D`.

    Raises:
      TypeError: the inputs are not floating-point.
      ValueError: the rank of the inputs is less than 2, or the last dimension is unknown.
    """

    def __init__(
        self,
        units: int,
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
        self.units, self.use_bias = int(units), use_bias
        self.activation = as_activation(activation)
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
        """Makes `kernel`, `[depth, units]`, and `bias`, `[units]`."""
        if not tf.as_dtype(self.dtype).is_floating:
            raise TypeError(
                f"Unable to build `Dense` layer with non-floating point dtype {self.dtype}"
            )
        depth = last_dimension(input_shape, min_rank=2)
        self.kernel = self.add_weight("kernel", [depth, self.units], **self._kernel)
        self.bias = self.add_weight("bias", [self.units], **self._bias) if self.use_bias else None

    def call(self, inputs: Any) -> Any:
        """Returns `[..., units]` for `[..., depth]`."""
        outputs = multiply(inputs, self.kernel)
        if self.bias is not None:
            outputs = tf.nn.bias_add(outputs, self.bias, name="BiasAdd")
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Returns `[..., units]` for `[..., depth]`."""
        shape = tf.TensorShape(input_shape).with_rank_at_least(2)
        return shape[:-1].concatenate(self.units)


class Dropout(Layer):
    """Sets random elements to 0 in training, and divides the rest by `1 - rate`.

    Args:
      rate: probability of 0; number or scalar tensor.
      noise_shape: shape of the random decisions; see `tf_frame.layers.dropout`.
      seed: seed of the operation.
      name: see `Layer`.
    """

    def __init__(
        self,
        rate: Any = 0.5,
        noise_shape: Any = None,
        seed: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs: Any, training: Any = False) -> Any:
        """Returns a tensor of the shape of the inputs; without `training` the inputs."""
        return drop(inputs, self.rate, self.noise_shape, training, self.seed)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Returns the shape of the inputs."""
        return tf.TensorShape(input_shape)


class Flatten(Layer):
    """Reshapes each example to a vector.

    Args:
      data_format: "channels_last"; or "channels_first", then the channels move to the end first.
      name: see `Layer`.
    """

    def __init__(
        self, data_format: str = "channels_last", name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.channels_first = is_channels_first(data_format)

    def call(self, inputs: Any) -> Any:
        """Returns `[batch, size]`."""
        rank = inputs.shape.rank
        if self.channels_first and rank is not None and rank > 2:
            inputs = tf.transpose(inputs, [0, *range(2, rank), 1])
        with layers.arg_scope({}):
            return layers.flatten(inputs, scope=tf.get_default_graph().get_name_scope() + "/")


dense = make_function(Dense, "dense")


def dropout(
    inputs: Any,
    rate: Any = 0.5,
    noise_shape: Any = None,
    seed: int | None = None,
    training: Any = False,
    name: str | None = None,
) -> Any:
    """Sets random elements of the inputs to 0 in training; see `Dropout`."""
    return Dropout(rate, noise_shape, seed, name)(inputs, training=training)


def flatten(inputs: Any, name: str | None = None, data_format: str = "channels_last") -> Any:
    """Reshapes each example to a vector; see `Flatten`."""
    return Flatten(data_format, name)(inputs)
