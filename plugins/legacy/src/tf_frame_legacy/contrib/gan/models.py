"""Models of generator and discriminator in a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib.gan.tuples import (
    ACGANModel,
    CycleGANModel,
    GANModel,
    InfoGANModel,
)

_Function = Callable[..., Any]
_Fields = tuple[Any, Any, Any, Any, Any, Any, Any, Any, Any, Any, Any]


def gan_model(
    generator_fn: _Function,
    discriminator_fn: _Function,
    real_data: Any,
    generator_inputs: Any,
    generator_scope: Any = "Generator",
    discriminator_scope: Any = "Discriminator",
    check_shapes: bool = True,
) -> GANModel:
    """Returns a model.

    Args:
      generator_fn: returns generated data for the inputs.
      discriminator_fn: returns logits for data and the inputs of the generator.
      real_data: the data to imitate.
      generator_inputs: a tensor, or a list or a dict of tensors.
      generator_scope, discriminator_scope: variable scopes or names of them.
      check_shapes: whether generated data must have the shape of real data.

    Raises:
      ValueError: it has another shape.
    """
    parts = _Parts(generator_fn, generator_inputs, generator_scope)
    logits, real_logits = parts.discriminate(discriminator_fn, real_data, discriminator_scope)
    if check_shapes:
        parts.check_shapes()
    return GANModel(*parts.fields(real_logits, logits, discriminator_fn))


def infogan_model(
    generator_fn: _Function,
    discriminator_fn: _Function,
    real_data: Any,
    unstructured_generator_inputs: Any,
    structured_generator_inputs: Any,
    generator_scope: Any = "Generator",
    discriminator_scope: Any = "Discriminator",
) -> InfoGANModel:
    """Returns a model whose discriminator predicts the structured inputs.

    Args:
      discriminator_fn: returns logits, and a list with the distribution of each structured input.
      unstructured_generator_inputs, structured_generator_inputs: lists of tensors.
      generator_fn, real_data, generator_scope, discriminator_scope: see `gan_model`.

    Raises:
      ValueError: the predictions are no list of distributions, or shapes do not fit.
    """
    structured = [tf.convert_to_tensor(part) for part in structured_generator_inputs]
    unstructured = [tf.convert_to_tensor(part) for part in unstructured_generator_inputs]
    parts = _Parts(generator_fn, unstructured + structured, generator_scope)
    of_generated, of_real = parts.discriminate(discriminator_fn, real_data, discriminator_scope)
    logits, distributions = of_generated
    _check_distributions(distributions, structured)
    parts.check_shapes()
    return InfoGANModel(
        *parts.fields(of_real[0], logits, lambda data, inputs: discriminator_fn(data, inputs)[0]),
        structured,
        distributions,
        discriminator_fn,
    )


def acgan_model(
    generator_fn: _Function,
    discriminator_fn: _Function,
    real_data: Any,
    generator_inputs: Any,
    one_hot_labels: Any,
    generator_scope: Any = "Generator",
    discriminator_scope: Any = "Discriminator",
    check_shapes: bool = True,
) -> ACGANModel:
    """Returns a model whose discriminator classifies.

    Args:
      discriminator_fn: returns logits of real or generated, and logits of the classes.
      one_hot_labels: `[batch, classes]`.
      generator_fn, real_data, generator_inputs, generator_scope, discriminator_scope, check_shapes:
        see `gan_model`.

    Raises:
      TypeError: the discriminator returns no pair.
      ValueError: shapes do not fit.
    """
    parts = _Parts(generator_fn, generator_inputs, generator_scope)
    of_generated, of_real = parts.discriminate(discriminator_fn, real_data, discriminator_scope)
    for outputs in (of_generated, of_real):
        if not isinstance(outputs, (tuple, list)) or len(outputs) != 2:
            raise TypeError(
                "A discriminator function for ACGAN must output a tuple consisting of "
                "(discrimination logits, classification logits)."
            )
    if check_shapes:
        parts.check_shapes()
    fields = parts.fields(of_real[0], of_generated[0], discriminator_fn)
    return ACGANModel(*fields, one_hot_labels, of_real[1], of_generated[1])


def cyclegan_model(
    generator_fn: _Function,
    discriminator_fn: _Function,
    data_x: Any,
    data_y: Any,
    generator_scope: str = "Generator",
    discriminator_scope: str = "Discriminator",
    model_x2y_scope: str = "ModelX2Y",
    model_y2x_scope: str = "ModelY2X",
    check_shapes: bool = True,
) -> CycleGANModel:
    """Returns two models, from `data_x` to `data_y` and back; see `gan_model`."""

    def direction(source: Any, target: Any, scope: str) -> GANModel:
        with tf.variable_scope(scope):
            return gan_model(
                generator_fn,
                discriminator_fn,
                target,
                source,
                generator_scope,
                discriminator_scope,
                check_shapes,
            )

    there = direction(data_x, data_y, model_x2y_scope)
    back = direction(data_y, data_x, model_y2x_scope)
    with tf.variable_scope(back.generator_scope, reuse=True):
        reconstructed_x = generator_fn(there.generated_data)
    with tf.variable_scope(there.generator_scope, reuse=True):
        reconstructed_y = generator_fn(back.generated_data)
    return CycleGANModel(there, back, reconstructed_x, reconstructed_y)


class _Parts:
    """The parts that all models have."""

    def __init__(self, generator_fn: _Function, inputs: Any, scope: Any) -> None:
        self.generator_fn = generator_fn
        with tf.variable_scope(scope) as self.generator_scope:
            self.inputs = as_tensors(inputs)
            self.generated = generator_fn(self.inputs)
        self.real: Any = None
        self.discriminator_scope: Any = None

    def discriminate(self, discriminator_fn: _Function, real_data: Any, scope: Any) -> Any:
        """Returns what the discriminator says of generated and of real data."""
        with tf.variable_scope(scope) as self.discriminator_scope:
            of_generated = discriminator_fn(self.generated, self.inputs)
        with tf.variable_scope(self.discriminator_scope, reuse=True):
            self.real = as_tensors(real_data)
            return of_generated, discriminator_fn(self.real, self.inputs)

    def check_shapes(self) -> None:
        if not self.generated.shape.is_compatible_with(self.real.shape):
            raise ValueError(
                f"Generator output shape ({self.generated.shape}) must be the same shape as real "
                f"data ({self.real.shape})."
            )

    def fields(self, real_logits: Any, logits: Any, discriminator_fn: _Function) -> _Fields:
        """Returns the fields of a `GANModel`."""
        return (
            self.inputs,
            self.generated,
            trainable_variables(self.generator_scope),
            self.generator_scope,
            self.generator_fn,
            self.real,
            real_logits,
            logits,
            trainable_variables(self.discriminator_scope),
            self.discriminator_scope,
            discriminator_fn,
        )


def trainable_variables(scope: Any) -> list[Any]:
    """Returns the trainable variables of a scope."""
    return list(tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, f"{scope.name}/"))


def as_tensors(values: Any) -> Any:
    """Returns a tensor, or a list or a dict of tensors."""
    if isinstance(values, dict):
        return {name: tf.convert_to_tensor(value) for name, value in values.items()}
    if isinstance(values, (list, tuple)):
        return [tf.convert_to_tensor(value) for value in values]
    return tf.convert_to_tensor(values)


def _check_distributions(distributions: Any, structured: list[Any]) -> None:
    if not isinstance(distributions, (tuple, list)):
        raise ValueError(
            f"`predicted_distributions` must be a list. Instead, found {type(distributions)}."
        )
    for distribution in distributions:
        if not hasattr(distribution, "log_prob"):
            raise ValueError(
                "`predicted_distributions` must be a list of `Distributions`. Instead, found "
                f"{type(distribution)}."
            )
    if len(distributions) != len(structured):
        raise ValueError(
            f"Number of predicted_distributions {len(distributions)} must be the same as number of "
            f"structured noise inputs {len(structured)}."
        )
