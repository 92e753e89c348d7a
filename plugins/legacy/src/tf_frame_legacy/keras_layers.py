"""tf.keras.layers on the part of Keras 2 in TensorFlow, which lacks batch normalisation.

Without the package tf_keras, old programs get their layers here.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.keras import backend, constraints, initializers, regularizers
from tensorflow.python.keras.engine.input_spec import InputSpec
from tensorflow.python.keras.layers import *  # noqa: F403
from tensorflow.python.keras.layers import Layer

# TensorFlow has the cells of TensorFlow 1 under names that depend on the order of imports.
from tensorflow.python.keras.layers.recurrent import (
    GRU as GRU,
    LSTM as LSTM,
    GRUCell as GRUCell,
    LSTMCell as LSTMCell,
)
from tensorflow.python.keras.utils import control_flow_util

_FUSED_AXES = {1: "NCHW", 3: "NHWC"}


class BatchNormalization(Layer):  # type: ignore[misc]
    """Batch normalisation, https://arxiv.org/abs/1502.03167, as tf.keras.layers had it.

    `updates` has the updates of the moving statistics; they are in no collection, and models of
    Keras run them. Variables: `gamma`, `beta`, `moving_mean` and `moving_variance`, `[channels]`.

    Args:
      axis: the channel axis.
      momentum: weight of the old value in each update of a moving statistic.
      epsilon: added to the variance.
      center, scale: whether to add `beta`, and to multiply by `gamma`.
      beta_initializer, gamma_initializer, moving_mean_initializer, moving_variance_initializer:
        initializers of the variables.
      beta_regularizer, gamma_regularizer, beta_constraint, gamma_constraint: of Keras.
      renorm, renorm_clipping, renorm_momentum, virtual_batch_size, adjustment: not supported.
      fused: whether to use the fused kernel; None: for images.
      trainable: whether `beta` and `gamma` are trained.
      name, kwargs: see `Layer`.

    Raises:
      ValueError: an argument that is not supported.
    """

    def __init__(
        self,
        axis: Any = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        moving_mean_initializer: Any = "zeros",
        moving_variance_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: Any = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        if renorm or virtual_batch_size is not None or adjustment is not None:
            raise ValueError(
                "renorm, virtual_batch_size and adjustment are not supported; tf.layers has renorm"
            )
        self.axis = axis[0] if isinstance(axis, list | tuple) else axis
        self.momentum, self.epsilon, self.center, self.scale = momentum, epsilon, center, scale
        self.fused = fused
        self.beta_initializer = initializers.get(beta_initializer)
        self.gamma_initializer = initializers.get(gamma_initializer)
        self.moving_mean_initializer = initializers.get(moving_mean_initializer)
        self.moving_variance_initializer = initializers.get(moving_variance_initializer)
        self.beta_regularizer = regularizers.get(beta_regularizer)
        self.gamma_regularizer = regularizers.get(gamma_regularizer)
        self.beta_constraint = constraints.get(beta_constraint)
        self.gamma_constraint = constraints.get(gamma_constraint)
        self.supports_masking = True
        # Freezes the scale only, and the updates go on: Keras was so before TensorFlow 2.
        self.trainable = trainable

    def build(self, input_shape: Any) -> None:
        """Makes the variables.

        Raises:
          ValueError: the number of channels is unknown.
        """
        shape = tf.TensorShape(input_shape)
        self.axis %= shape.rank
        channels = tf.dimension_value(shape[self.axis])
        if channels is None:
            raise ValueError(f"axis {self.axis} of {shape} has to be known")
        self.input_spec = InputSpec(ndim=shape.rank, axes={self.axis: channels})
        self.gamma = self._parameter("gamma", channels) if self.scale else None
        self.beta = self._parameter("beta", channels) if self.center else None
        self.moving_mean = self._statistic("moving_mean", channels)
        self.moving_variance = self._statistic("moving_variance", channels)
        self.built = True

    def call(self, inputs: Any, training: Any = None) -> Any:
        """Returns a tensor of the shape of the inputs.

        Args:
          inputs: the values.
          training: whether to use the statistics of the batch; None: the learning phase.
        """
        training = backend.learning_phase() if training is None else training
        if not isinstance(training, bool | int):
            training = tf.cast(training, tf.bool)
        outputs, mean, variance = control_flow_util.smart_cond(
            training, lambda: self._by_batch(inputs), lambda: self._by_moving(inputs)
        )
        outputs.set_shape(inputs.shape)
        if control_flow_util.constant_value(training) is not False:
            self.add_update(self._update(self.moving_mean, mean, training))
            self.add_update(self._update(self.moving_variance, variance, training))
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Returns the shape of the inputs."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments of the constructor."""
        names = ("axis", "momentum", "epsilon", "center", "scale")
        config = {name: getattr(self, name) for name in names}
        for name in ("beta", "gamma", "moving_mean", "moving_variance"):
            initializer = getattr(self, f"{name}_initializer")
            config[f"{name}_initializer"] = initializers.serialize(initializer)
        for name in ("beta", "gamma"):
            regularizer = getattr(self, f"{name}_regularizer")
            config[f"{name}_regularizer"] = regularizers.serialize(regularizer)
            constraint = getattr(self, f"{name}_constraint")
            config[f"{name}_constraint"] = constraints.serialize(constraint)
        return {**super().get_config(), **config}

    def _parameter(self, name: str, channels: int) -> Any:
        return self.add_weight(
            name,
            (channels,),
            dtype=tf.float32,
            initializer=getattr(self, f"{name}_initializer"),
            regularizer=getattr(self, f"{name}_regularizer"),
            constraint=getattr(self, f"{name}_constraint"),
            trainable=True,
        )

    def _statistic(self, name: str, channels: int) -> Any:
        return self.add_weight(
            name,
            (channels,),
            dtype=tf.float32,
            initializer=getattr(self, f"{name}_initializer"),
            trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.MEAN,
        )

    def _by_batch(self, inputs: Any) -> tuple[Any, Any, Any]:
        if self._is_fused(inputs):
            return self._fused_kernel(inputs, is_training=True)
        axes = [axis for axis in range(inputs.shape.rank) if axis != self.axis]
        mean, variance = tf.nn.moments(tf.cast(inputs, tf.float32), axes)
        return self._normalized(inputs, mean, variance), mean, variance

    def _by_moving(self, inputs: Any) -> tuple[Any, Any, Any]:
        mean = tf.convert_to_tensor(self.moving_mean)
        variance = tf.convert_to_tensor(self.moving_variance)
        if self._is_fused(inputs):
            outputs, _, _ = self._fused_kernel(
                inputs, mean=mean, variance=variance, is_training=False
            )
        else:
            outputs = self._normalized(inputs, mean, variance)
        return outputs, mean, variance

    def _is_fused(self, inputs: Any) -> bool:
        is_image = inputs.shape.rank == 4 and self.axis in _FUSED_AXES
        return is_image and self.fused is not False

    def _fused_kernel(self, inputs: Any, **arguments: Any) -> tuple[Any, Any, Any]:
        ones, zeros = tf.ones_like(self.moving_mean), tf.zeros_like(self.moving_mean)
        outputs, mean, variance = tf.nn.fused_batch_norm(
            inputs,
            ones if self.gamma is None else self.gamma,
            zeros if self.beta is None else self.beta,
            epsilon=self.epsilon,
            data_format=_FUSED_AXES[self.axis],
            **arguments,
        )
        return outputs, mean, variance

    def _normalized(self, inputs: Any, mean: Any, variance: Any) -> Any:
        shape = [1] * inputs.shape.rank
        shape[self.axis] = -1
        values = [mean, variance, self.beta, self.gamma]
        rows = [None if value is None else tf.reshape(value, shape) for value in values]
        outputs = tf.nn.batch_normalization(tf.cast(inputs, tf.float32), *rows, self.epsilon)
        return tf.cast(outputs, inputs.dtype)

    def _update(self, variable: Any, value: Any, training: Any) -> Any:
        # Without training, `value` is the variable itself.
        rate = control_flow_util.smart_cond(training, lambda: 1.0 - self.momentum, lambda: 0.0)
        return tf.assign_sub(variable, (variable - value) * rate)
