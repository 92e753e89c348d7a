"""`Network`: a layer made of layers, with the variable names that it had.

    class Net(tfe.Network):
        def __init__(self):
            super().__init__()
            self.hidden = self.track_layer(tf.layers.Dense(16))

        def call(self, inputs):
            return self.hidden(inputs)  # net/dense/kernel, net/dense/bias

`tf.keras.Model` replaced it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.layers.base import Layer


class Network(Layer):
    """A layer that owns the layers given to `track_layer`.

    Args:
      name: the name of its variable scope; None: that of the class, made unique.

    Raises:
      ValueError: the name is a variable scope, or has a slash.
    """

    def __init__(self, name: str | None = None) -> None:
        if isinstance(name, tf.VariableScope):
            raise ValueError("a network takes a name, not a variable scope")
        if name is not None and "/" in name:
            raise ValueError("Forward slashes ('/') are not allowed in Network names.")
        super().__init__(name=name)
        self._layers: list[Any] = []

    def track_layer(self, layer: Any) -> Any:
        """Adds a layer, or a network; returns it.

        Raises:
          TypeError: it is neither.
        """
        if not hasattr(layer, "trainable_variables"):
            raise TypeError(
                f"Network.track_layer() passed type {type(layer)}, not a tf.layers.Layer"
            )
        self._layers.append(layer)
        return layer

    @property
    def layers(self) -> Sequence[Any]:
        """The layers, in the order in which they were added."""
        return self._layers

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """Returns the layer with a name or a place.

        Raises:
          ValueError: not one of both is given, or there is no such layer.
        """
        if (name is None) == (index is None):
            raise ValueError("get_layer takes either an index or a name")
        if index is not None:
            if index >= len(self._layers):
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has "
                    f"{len(self._layers)} layers."
                )
            return self._layers[index]
        for layer in self._layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}")

    @property
    def trainable_variables(self) -> list[Any]:
        """The variables of the layers that are trained."""
        return [each for layer in self._layers for each in layer.trainable_variables]

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The variables of the layers that are not trained."""
        return [each for layer in self._layers for each in layer.non_trainable_variables]

    @property
    def variables(self) -> list[Any]:
        """The variables of the layers, layer by layer."""
        return [each for layer in self._layers for each in layer.variables]

    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables
    weights = variables

    @property
    def losses(self) -> list[Any]:
        """The penalties of the layers."""
        return [each for layer in self._layers for each in layer.losses]

    @losses.setter
    def losses(self, value: list[Any]) -> None:
        """Does nothing: a layer begins with an empty list."""

    def _set_scope(self, scope: Any) -> None:
        if self._scope is not None:
            return
        super()._set_scope(scope)
        # The layers take their names now, in the order of `track_layer`.
        with tf.variable_scope(self._scope, auxiliary_name_scope=False):
            for layer in self._layers:
                if isinstance(layer, Layer):
                    layer._set_scope(None)


class Sequential(Network):
    """Calls layers and functions one after the other.

    Args:
      layers_funcs: the layers, networks and functions.
      name: see `Network`.
    """

    def __init__(
        self, layers_funcs: Sequence[Callable[..., Any]] | None = None, name: str | None = None
    ) -> None:
        super().__init__(name)
        self._functions: list[tuple[bool, Callable[..., Any]]] = []
        for function in layers_funcs or ():
            self.add(function)

    def add(self, layer_func: Any) -> None:
        """Adds a layer or a function; with an argument `training` it gets that of `call`.

        Raises:
          TypeError: it is neither.
        """
        if isinstance(layer_func, Layer):
            self.track_layer(layer_func)
        elif not callable(layer_func):
            raise TypeError(
                "Sequential.add() takes only tf.layers.Layer objects or callables; not "
                f"{layer_func!r} of type {type(layer_func)}."
            )
        arguments = inspect.signature(getattr(layer_func, "call", layer_func)).parameters
        self._functions.append(("training" in arguments, layer_func))

    def call(self, inputs: Any, training: Any = None) -> Any:
        """Returns the outputs of the last layer."""
        for takes_training, function in self._functions:
            is_given = takes_training and training is not None
            inputs = function(inputs, training) if is_given else function(inputs)
        return inputs
