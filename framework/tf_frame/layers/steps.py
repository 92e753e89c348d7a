"""`LayerSteps`: the common part of slim's layers: weights, normalisation or biases, activation.

Convolutions and dense layers differ only in their product; names, penalties and collections of
variables, on which checkpoints and losses depend, are here once for all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.outputs import finish_layer, get_variable_collections
from tf_frame.layers.variables import add_to_collection_once, model_variable

Function = Callable[..., Any]

# Name scopes of the penalties within the layer's name scope. Slim's layers had these names from
# TensorFlow's core layers.
_PENALTY_SCOPES = {
    "weights": "kernel",
    "depthwise_weights": "depthwise_kernel",
    "pointwise_weights": "pointwise_kernel",
    "biases": "bias",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class LayerSteps:
    """Steps of convolutions and dense layers: weights; normalisation or biases; activation.

    The attributes are arguments of `convolution`.
    """

    activation_fn: Function | None
    normalizer_fn: Function | None = None
    normalizer_params: Mapping[str, Any] | None = None
    weights_initializer: Any = None
    weights_regularizer: Function | None = None
    biases_initializer: Any
    biases_regularizer: Function | None
    variables_collections: Any
    outputs_collections: Any
    trainable: bool

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> LayerSteps:
        """Takes the attributes from all arguments of a layer, as `locals()` gives them."""
        return cls(**{field.name: arguments[field.name] for field in dataclasses.fields(cls)})

    def weights(
        self, name: str, shape: Sequence[int], *, like: Any, initializer: Any = None
    ) -> Any:
        """Gets or creates weights.

        Args:
          name: name of the variable.
          shape: shape of the variable.
          like: the inputs, which determine the type.
          initializer: replaces `weights_initializer`.
        """
        initializer = initializer or self.weights_initializer
        return self._variable(name, "weights", shape, like, initializer, self.weights_regularizer)

    def finish(self, outputs: Any, scope: Any, *, channels_first: bool = False) -> Any:
        """Normalises or adds biases, applies the activation, and collects the outputs.

        Args:
          outputs: `[batch, ..., channels]`, or `[batch, channels, ...]`.
          scope: variable scope of the layer.
          channels_first: whether the channels come directly after the batch.
        """
        if self.normalizer_fn is not None:
            outputs = self.normalizer_fn(outputs, **(self.normalizer_params or {}))
        elif self.biases_initializer is not None:
            outputs = self.add_biases(outputs, channels_first)
        return finish_layer(outputs, self.activation_fn, self.outputs_collections, scope)

    def add_biases(self, outputs: Any, channels_first: bool) -> Any:
        """Gets or creates one bias for each channel, and adds the biases to the outputs."""
        shape = [outputs.shape.as_list()[1 if channels_first else -1]]
        biases = self._variable(
            "biases", "biases", shape, outputs, self.biases_initializer, self.biases_regularizer
        )
        data_format = "NC..." if channels_first else "N...C"
        return tf.nn.bias_add(outputs, biases, data_format=data_format, name="BiasAdd")

    def _variable(
        self,
        name: str,
        kind: str,
        shape: Sequence[int],
        like: Any,
        initializer: Any,
        regularizer: Function | None,
    ) -> Any:
        """Gets or creates a model variable, and adds it to the layer's collections.

        Unlike `get_variable`, this also adds a reused variable, but only once; and the
        penalty is in the name scope of the layer and its clone, as one op.
        """
        variable = penalised(
            model_variable,
            regularizer,
            scope=_PENALTY_SCOPES[name],
            name=name,
            shape=list(shape),
            dtype=like.dtype.base_dtype,
            initializer=initializer,
            trainable=self.trainable,
        )
        collections = get_variable_collections(self.variables_collections, kind) or []
        for each in [collections] if isinstance(collections, str) else collections:
            add_to_collection_once(each, variable)
        return variable


def penalised(make: Function, regularizer: Any, *, scope: str, **arguments: Any) -> Any:
    """Gets or creates a variable; a new one adds its penalty to `REGULARIZATION_LOSSES`.

    Args:
      make: `get_variable`, or a function with its arguments.
      regularizer: maps the variable, or a part of one, to a scalar penalty; None: no penalty.
      scope: the penalty's name scope is this and "Regularizer".
      **arguments: arguments of `make`.
    """
    created: list[Any] = []
    # `get_variable` calls the regularizer with each variable, or part of one, that it creates.
    variable = make(regularizer=created.append if regularizer else None, **arguments)
    for part in created:
        with tf.name_scope(f"{scope}/Regularizer"):
            penalty = regularizer(part)
        if penalty is not None:
            tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, penalty)
    return variable
