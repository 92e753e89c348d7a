"""`Layer`: the base class of tf.layers, with its variable scopes, names and collections.

A layer takes its variable scope in its first call, and makes its variables there. Further calls use
the same variables. Subclasses have `build` and `call`.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.layers.steps import penalised

Function = Callable[..., Any]


class _LayerType(type):
    """Makes classes of layers; a base of Keras gives way to the layer of tf.layers of its name.

    DeepLab's core/conv2d_ws derives from both, `class Conv2D(tf.keras.layers.Conv2D,
    tf.layers.Layer)`, which was one family of layers. Keras 3 knows no variable scopes.
    """

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        return super().__new__(
            mcs, name, tuple(dict.fromkeys(map(_of_tf_layers, bases))), namespace
        )


def _of_tf_layers(base: type) -> type:
    if base.__module__.partition(".")[0] != "keras":
        return base
    own: type = getattr(importlib.import_module("tf_frame_legacy.layers"), base.__name__, base)
    return own


class Layer(metaclass=_LayerType):
    """A layer with variables of its own.

    Args:
      trainable: whether the variables are trained.
      name: name of the variable scope, made unique; None: the name of the class, such as
        "max_pooling2d".
      dtype: type of the variables; None: the type of the first inputs.
      activity_regularizer: maps the outputs to a scalar penalty; the penalty divided by the
        batch size is added to `REGULARIZATION_LOSSES`. None: no penalty.
      _scope: name of the variable scope, not made unique; used by the functions.
      _reuse: whether to reuse the existing variables of the scope; used by the functions.

    Attributes:
      built: whether the variables exist.
      losses: penalties of this layer.
      updates: updates of this layer, such as moving averages.
    """

    def __init__(
        self,
        trainable: bool = True,
        name: str | None = None,
        dtype: Any = None,
        *,
        activity_regularizer: Function | None = None,
        _scope: Any = None,
        _reuse: Any = None,
    ) -> None:
        self.trainable = trainable
        self.dtype = None if dtype is None else tf.as_dtype(dtype).name
        self.activity_regularizer = activity_regularizer
        self.built = False
        self.losses: list[Any] = []
        self.updates: list[Any] = []
        self._variables: list[tuple[Any, bool]] = []
        self._reuse = _reuse
        self._base_name = name or _snake_case(type(self).__name__)
        self._scope = _captured(_scope, None) if _scope else None

    @property
    def name(self) -> str:
        """The last part of the scope's name; before the first call, the argument `name`."""
        return self._scope.name.rpartition("/")[2] if self._scope else self._base_name

    @property
    def scope_name(self) -> str:
        """The name of the variable scope.

        Raises:
          ValueError: the layer was not called yet.
        """
        if self._scope is None:
            raise ValueError(
                f"No name available for layer scope because the layer {self._base_name!r} has not "
                "been used yet: call the layer first."
            )
        return str(self._scope.name)

    @property
    def trainable_variables(self) -> list[Any]:
        """The variables that are trained."""
        return [variable for variable, trained in self._variables if trained and self.trainable]

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The variables that are not trained."""
        trained_ids = set(map(id, self.trainable_variables))
        return [variable for variable, _ in self._variables if id(variable) not in trained_ids]

    @property
    def variables(self) -> list[Any]:
        """All variables, the trained ones first."""
        return self.trainable_variables + self.non_trainable_variables

    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables
    weights = variables

    def build(self, input_shape: Any) -> None:
        """Makes the variables; called before the first `call`.

        Args:
          input_shape: shape of the inputs, or the shapes in the structure of the inputs.
        """

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Returns the outputs for inputs."""
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Returns the `tf.TensorShape` of the outputs for a shape of inputs.

        Raises:
          NotImplementedError: the layer does not know.
        """
        raise NotImplementedError(f"{type(self).__name__} has no compute_output_shape")

    def __call__(self, inputs: Any, *args: Any, scope: Any = None, **kwargs: Any) -> Any:
        """Returns the outputs for inputs; makes the variables at the first call.

        Args:
          inputs: a tensor, a value that becomes one, or a structure of tensors.
          *args, **kwargs: further arguments of `call`.
          scope: variable scope, for a layer that has none yet.
        """
        self._set_scope(scope)
        inputs = _as_tensors(inputs)
        with self._entered() as entered:
            if not self.built:
                self._set_dtype(inputs)
                self.build(tf.nest.map_structure(lambda tensor: tensor.shape, inputs))
                self.built = True
            if "scope" in inspect.signature(self.call).parameters:
                kwargs["scope"] = entered
            outputs = self.call(inputs, *args, **kwargs)
            self._penalise_activity(outputs)
        return outputs

    apply = __call__

    def add_weight(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Function | None = None,
        trainable: bool = True,
        **kwargs: Any,
    ) -> Any:
        """Gets or creates a variable of the layer.

        Args:
          name: name within the layer's scope.
          shape: shape; None: a scalar.
          dtype: type; None: the type of the layer, or float32.
          initializer: an initializer, or a name in `tf.initializers`; None: the initializer of
            the scope, or "glorot_uniform".
          regularizer: maps a new variable to a scalar penalty; None: no penalty.
          trainable: whether the variable is trained, if the layer is.
          **kwargs: other arguments of `tf.get_variable`, such as `constraint`.
        """
        self._set_scope(None)
        before = len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
        with self._entered():
            variable = penalised(
                tf.get_variable,
                regularizer,
                scope=name,
                name=name,
                shape=() if shape is None else shape,
                dtype=tf.as_dtype(dtype or self.dtype or tf.float32),
                initializer=as_initializer(initializer),
                trainable=trainable and self.trainable,
                **kwargs,
            )
        self.losses += tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)[before:]
        self._own(variable, trainable)
        return variable

    add_variable = add_weight

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds penalties to the layer and to `REGULARIZATION_LOSSES`; `inputs` does nothing."""
        self.losses += _add_all(losses, tf.GraphKeys.REGULARIZATION_LOSSES)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Adds update operations to the layer and to `UPDATE_OPS`; `inputs` does nothing."""
        self.updates += _add_all(updates, tf.GraphKeys.UPDATE_OPS)

    def count_params(self) -> int:
        """Returns the number of values in the variables."""
        return sum(variable.shape.num_elements() for variable in self.variables)

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """Returns `updates`, whatever the inputs are."""
        return self.updates

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """Returns `losses`, whatever the inputs are."""
        return self.losses

    def _own(self, variable: Any, trainable: bool) -> None:
        parts = list(variable) if hasattr(variable, "as_tensor") else [variable]
        known_ids = {id(known_part) for known_part, _ in self._variables}
        self._variables += [(part, trainable) for part in parts if id(part) not in known_ids]

    def _set_scope(self, scope: Any) -> None:
        if self._scope is None and self._reuse:
            self._scope = _captured(self._base_name if scope is None else scope, None)
        elif self._scope is None:
            self._scope = _captured(scope, self._base_name)

    @contextlib.contextmanager
    def _entered(self) -> Iterator[Any]:
        """Enters the variable scope of the layer, and the name scope of its first call."""
        reuse = True if self.built else self._reuse
        with (
            tf.variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope,
            tf.name_scope(scope.original_name_scope),
        ):
            yield scope

    def _set_dtype(self, inputs: Any) -> None:
        first = next((leaf for leaf in tf.nest.flatten(inputs) if hasattr(leaf, "dtype")), None)
        if self.dtype is None and first is not None:
            self.dtype = first.dtype.base_dtype.name

    def _penalise_activity(self, outputs: Any) -> None:
        if self.activity_regularizer is None:
            return
        with tf.name_scope("ActivityRegularizer"):
            for output in tf.nest.flatten(outputs):
                penalty = self.activity_regularizer(output)
                self.add_loss(penalty / tf.cast(tf.shape(output)[0], penalty.dtype))


def as_activation(activation: Any) -> Any:
    """Returns an activation function for a name in `tf.nn`; "linear" is None."""
    if not isinstance(activation, str):
        return activation
    if activation != "linear" and not hasattr(tf.nn, activation):
        raise ValueError(f"tf.nn has no activation {activation!r}; give a function")
    return getattr(tf.nn, activation, None)


def as_initializer(initializer: Any) -> Any:
    """Returns an initializer for a name in `tf.initializers`."""
    if not isinstance(initializer, str):
        return initializer
    if not hasattr(tf.initializers, initializer):
        raise ValueError(f"tf.initializers has no {initializer!r}; give an initializer")
    return getattr(tf.initializers, initializer)()


def _captured(scope: Any, default_name: str | None) -> Any:
    with tf.variable_scope(scope, default_name=default_name) as captured:
        return captured


def _as_tensors(inputs: Any) -> Any:
    """Makes a tensor of a value; tensors and structures with tensors stay as they are."""
    leaves = tf.nest.flatten(inputs)
    if any(tf.is_tensor(leaf) or isinstance(leaf, tf.Variable) for leaf in leaves):
        return inputs
    return tf.convert_to_tensor(inputs)


def _add_all(elements: Any, collection: str) -> list[Any]:
    member_ids = set(map(id, tf.get_collection(collection)))
    added = [element for element in tf.nest.flatten(elements) if element is not None]
    for element in added:
        if id(element) not in member_ids:
            tf.add_to_collection(collection, element)
    return added


def _snake_case(name: str) -> str:
    """Returns "max_pooling2d" for "MaxPooling2D"."""
    name = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower().lstrip("_")
