"""What convolutions and fully connected layers have in common."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.outputs import collect_named_outputs, get_variable_collections
from tf_frame.layers.variables import add_to_collection_once, model_variable

Function = Callable[..., Any]

# Under these names a layer's name scope holds the ops of its penalties; slim's
# layers had them from TensorFlow's core layers.
_PENALTY_SCOPES = {
    "weights": "kernel",
    "depthwise_weights": "depthwise_kernel",
    "pointwise_weights": "pointwise_kernel",
    "biases": "bias",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class LayerSteps:
    """Weights first; then normalisation or biases; then activation.

    Attributes:
      activation_fn: applied last, or None.
      normalizer_fn: applied instead of biases, inside the layer's scope.
      normalizer_params: its keyword arguments.
      weights_initializer: of the weights.
      weights_regularizer: maps weights to a scalar penalty, or None.
      biases_initializer: of the biases; without it there are none.
      biases_regularizer: maps biases to a scalar penalty, or None.
      variables_collections: collections for all variables, or a dictionary of
        them by "weights" and "biases".
      outputs_collections: collections for the outputs.
      trainable: whether the optimizer may change the variables.
    """

    activation_fn: Function | None
    normalizer_fn: Function | None
    normalizer_params: Mapping[str, Any] | None
    weights_initializer: Any
    weights_regularizer: Function | None
    biases_initializer: Any
    biases_regularizer: Function | None
    variables_collections: Any
    outputs_collections: Any
    trainable: bool

    def weights(
        self, name: str, shape: Sequence[int], *, like: Any, initializer: Any = None
    ) -> Any:
        """Gets or creates weights.

        Args:
          name: name of the variable.
          shape: its shape.
          like: the inputs, whose type it takes.
          initializer: other than `weights_initializer`.
        """
        return layer_variable(
            name,
            shape,
            kind="weights",
            dtype=like.dtype.base_dtype,
            initializer=initializer or self.weights_initializer,
            regularizer=self.weights_regularizer,
            variables_collections=self.variables_collections,
            trainable=self.trainable,
        )

    def finish(self, outputs: Any, scope: Any, *, channels_first: bool = False) -> Any:
        """Normalises or adds biases, activates, and collects the outputs.

        Args:
          outputs: `[batch, ..., channels]`; or `[batch, channels, ...]`.
          scope: the layer's variable scope.
          channels_first: which of both.
        """
        if self.normalizer_fn is not None:
            outputs = self.normalizer_fn(outputs, **(self.normalizer_params or {}))
        elif self.biases_initializer is not None:
            outputs = self._with_biases(outputs, channels_first)
        if self.activation_fn is not None:
            outputs = self.activation_fn(outputs)
        return collect_named_outputs(self.outputs_collections, scope.name, outputs)

    def _with_biases(self, outputs: Any, channels_first: bool) -> Any:
        biases = layer_variable(
            "biases",
            [outputs.shape.as_list()[1 if channels_first else -1]],
            kind="biases",
            dtype=outputs.dtype.base_dtype,
            initializer=self.biases_initializer,
            regularizer=self.biases_regularizer,
            variables_collections=self.variables_collections,
            trainable=self.trainable,
        )
        data_format = "NC..." if channels_first else "N...C"
        return tf.nn.bias_add(outputs, biases, data_format=data_format, name="BiasAdd")


def layer_variable(
    name: str,
    shape: Sequence[int],
    *,
    kind: str,
    variables_collections: Any,
    regularizer: Function | None,
    **settings: Any,
) -> Any:
    """Gets or creates a model variable, and lists it in a layer's collections.

    Unlike `get_variable` this lists one that is shared, too, but only once; and
    a penalty is one op in the name scope of the layer, that of its clone, where
    `get_variable` makes several without it.

    Args:
      name: name of the variable.
      shape: its shape.
      kind: its key in `variables_collections`.
      variables_collections: a list for all variables, or a dictionary of lists.
      regularizer: maps the variable to a scalar penalty, or None.
      **settings: other arguments of `model_variable`.
    """
    created: list[Any] = []
    # `get_variable` calls this with each variable, or part of one, that it creates.
    remember = created.append if regularizer else None
    variable = model_variable(name, shape=list(shape), regularizer=remember, **settings)
    for part in created:
        _penalise(part, name, regularizer)
    collections = get_variable_collections(variables_collections, kind) or []
    for each in [collections] if isinstance(collections, str) else collections:
        add_to_collection_once(each, variable)
    return variable


def _penalise(variable: Any, name: str, regularizer: Any) -> None:
    with tf.name_scope(f"{_PENALTY_SCOPES[name]}/Regularizer"):
        penalty = regularizer(variable)
    if penalty is not None:
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, penalty)
