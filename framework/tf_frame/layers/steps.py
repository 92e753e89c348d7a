"""`slim_layer` turns a convolution or matrix product into a layer with slim's arguments.

Convolutions and dense layers differ only in their products. All share the steps of this module:
weights, normalisation or biases, activation. A new layer defines only its product:

    @slim_layer("fully_connected")
    def fully_connected(inputs, num_outputs, *, steps):
        weights = steps.weights("weights", [depth, num_outputs], like=inputs)
        return tf.matmul(inputs, weights), False
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.arg_scope import add_arg_scope
from tf_frame.layers.docstrings import describe_arguments
from tf_frame.layers.initializers import xavier_initializer
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

    The fields are the common arguments of the layers, in slim's order and with slim's defaults.

    Attributes:
      activation_fn: function that is applied last; None: none.
      normalizer_fn: function that is applied instead of adding biases, inside the layer's scope,
        such as `batch_norm`; None: biases are added.
      normalizer_params: keyword arguments of `normalizer_fn`; None: none.
      weights_initializer: initializer of the weights.
      weights_regularizer: maps weights to a scalar penalty; None: no penalty.
      biases_initializer: initializer of the biases; None: no biases.
      biases_regularizer: maps biases to a scalar penalty; None: no penalty.
      reuse: whether to reuse the existing variables of `scope`; None: as the outer scope does.
      variables_collections: list of collections for all variables, or "weights" and
        "biases" -> list of collections; None: no further collections.
      outputs_collections: collections that the outputs are added to; None: none.
      trainable: whether the variables are trained.
      scope: variable scope; None: a name for each layer, made unique.
    """

    activation_fn: Function | None = tf.nn.relu
    normalizer_fn: Function | None = None
    normalizer_params: Mapping[str, Any] | None = None
    weights_initializer: Any = xavier_initializer()  # noqa: RUF009
    weights_regularizer: Function | None = None
    biases_initializer: Any = tf.zeros_initializer()  # noqa: RUF009
    biases_regularizer: Function | None = None
    reuse: Any = None
    variables_collections: Any = None
    outputs_collections: Any = None
    trainable: bool = True
    scope: Any = None

    def weights(
        self, name: str, shape: Sequence[int], *, like: Any, initializer: Any = None
    ) -> Any:
        """Gets or creates weights of the type of `like`; `initializer` replaces the layer's own."""
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
        for collection in [collections] if isinstance(collections, str) else collections:
            add_to_collection_once(collection, variable)
        return variable


def slim_layer(default_scope: str) -> Callable[[Function], Function]:
    """Turns the product of a layer into the layer, with the arguments and steps of `LayerSteps`.

    The product gets `inputs` as a tensor and, as `steps`, the common arguments. It returns the
    outputs before normalisation, biases and activation, and whether their channels come first. The
    layer takes the positional arguments of the product, the common ones, and then the keyword-only
    ones; but a keyword-only initializer follows `weights_initializer`, as in slim. The docstring of
    the layer describes all of them: the product's own docstring and `LayerSteps` have the entries.

    Args:
      default_scope: variable scope if `scope` is None, made unique; a format of the arguments.
    """

    def decorate(product: Function) -> Function:
        positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
        common = {
            name: parameter.replace(kind=positional)
            for name, parameter in inspect.signature(LayerSteps).parameters.items()
        }
        before, initializers, after = [], [], []
        for name, parameter in inspect.signature(product).parameters.items():
            if parameter.kind is positional:
                before.append(parameter)
            elif name.endswith("_initializer"):
                initializers.append(parameter.replace(kind=positional))
            elif name != "steps":
                after.append(parameter)
        shared = list(common.values())
        first = list(common).index("weights_initializer") + 1
        parameters = [*before, *shared[:first], *initializers, *shared[first:], *after]
        signature = inspect.Signature(parameters)

        @functools.wraps(product)
        def layer(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            arguments = bound.arguments
            steps = LayerSteps(**{name: arguments.pop(name) for name in common})
            default, inputs = default_scope.format_map(arguments), arguments["inputs"]
            with tf.variable_scope(steps.scope, default, [inputs], reuse=steps.reuse) as scope:
                arguments["inputs"] = tf.convert_to_tensor(inputs)
                outputs, channels_first = product(**arguments, steps=steps)
                return steps.finish(outputs, scope, channels_first=channels_first)

        layer.__signature__ = signature  # type: ignore[attr-defined]
        layer.__doc__ = describe_arguments(
            product.__doc__, signature.parameters, shared=LayerSteps.__doc__
        )
        return add_arg_scope(layer)

    return decorate


def fix_rank(general: Function, dims: int, name: str, data_format: Any, **fixed: Any) -> Function:
    """Returns a layer for inputs of one rank, from a layer with the argument `conv_dims`.

    Args:
      dims: number of spatial dimensions.
      data_format: default data format.
      **fixed: other arguments of the general layer that the returned layer does not have.
    """
    # Without its own scope of arguments.
    general = getattr(general, "__wrapped__", general)
    fixed = {"conv_dims": dims, **fixed}
    signature = inspect.signature(general)
    parameters = {k: v for k, v in signature.parameters.items() if k not in fixed}
    parameters["data_format"] = parameters["data_format"].replace(default=data_format)
    signature = signature.replace(parameters=list(parameters.values()))

    @functools.wraps(general)
    def layer(*args: Any, **kwargs: Any) -> Any:
        return general(**signature.bind(*args, **kwargs).arguments, **fixed)

    layer.__signature__ = signature  # type: ignore[attr-defined]
    layer.__doc__ = describe_arguments(general.__doc__, signature.parameters)
    layer.__name__ = layer.__qualname__ = name
    return add_arg_scope(layer)


def penalised(make: Function, regularizer: Any, *, scope: str, **arguments: Any) -> Any:
    """Gets or creates a variable; a new one adds its penalty to `REGULARIZATION_LOSSES`.

    Args:
      make: `get_variable`, or a function with its arguments.
      regularizer: maps the variable, or a part of it, to a scalar penalty; None: no penalty.
      scope: the name scope of the penalty is `scope` and "Regularizer".
    """
    created: list[Any] = []
    # `get_variable` calls the regularizer with each variable, or part of it, that it creates.
    variable = make(regularizer=created.append if regularizer else None, **arguments)
    for part in created:
        with tf.name_scope(f"{scope}/Regularizer"):
            penalty = regularizer(part)
        if penalty is not None:
            tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, penalty)
    return variable
