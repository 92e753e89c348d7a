"""Metrics that accumulate in the variables of an object: `tf.contrib.eager.metrics`.

accuracy = tfe.metrics.Accuracy()
accuracy(labels, predictions)  # in graphs: an operation to run, after `init_variables()`
accuracy.result()
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.ops import summary_ops_v2

_NOT_IN_NAMES = re.compile("[^A-Za-z0-9.]")


class Metric:
    """A metric: subclasses make variables in `build`, update them in `call`, and have `result`.

    Args:
      name: the name of the variable scope, made unique; None: that of the class.
      use_global_variables: whether the variables of a graph are global instead of local.
    """

    def __init__(self, name: str | None = None, use_global_variables: bool = False) -> None:
        name = name or type(self).__name__
        scope_name = _NOT_IN_NAMES.sub("_", name)
        with tf.variable_scope(None, default_name=scope_name) as scope:
            self._scope = scope
        self._name: str = name + scope.name.rpartition("/")[2].removeprefix(scope_name)
        self._built = False
        self._variables: list[Any] = []
        self._initial_values: list[Any] = []
        own = "GLOBAL_VARIABLES" if use_global_variables else "LOCAL_VARIABLES"
        self._collections = [getattr(tf.GraphKeys, own), tf.GraphKeys.METRIC_VARIABLES]
        self._call = self.call
        if not tf.executing_eagerly():
            # As a function of the graph: what it returns runs all of its updates.
            self._call = tf.function(self.call, autograph=False)

    @property
    def name(self) -> str:
        """The name, with a number if it was taken."""
        return self._name

    @property
    def variables(self) -> list[Any]:
        """The variables."""
        return self._variables

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Updates the metric; in a graph, returns what runs the update."""
        if not self._built:
            with tf.variable_scope(self._scope, auxiliary_name_scope=False):
                self.build(*args, **kwargs)
            self._built = True
        return self._call(*args, **kwargs)

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Makes the variables, by `add_variable`."""
        raise NotImplementedError("the class of a metric has to define build()")

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Updates the variables."""
        raise NotImplementedError("the class of a metric has to define call()")

    def result(self) -> Any:
        """Returns the value."""
        raise NotImplementedError("the class of a metric has to define result()")

    def value(self) -> Any:
        """Returns the value in a graph, and the function of it otherwise."""
        return self.result if tf.executing_eagerly() else self.result()

    def init_variables(self) -> Any:
        """Sets the variables back; in a graph, returns the operation that does so."""
        if not tf.executing_eagerly():
            return tf.group([variable.initializer for variable in self._variables])
        for variable, value in zip(self._variables, self._initial_values, strict=True):
            variable.assign(value)
        return None

    def aggregate(self, metrics: Sequence[Any]) -> None:
        """Adds the variables of other metrics of the same class.

        Raises:
          TypeError: one is of another class.
        """
        for metric in metrics:
            if type(metric) is not type(self):
                raise TypeError(
                    f"All metrics must be the same type, '{type(self)}' != '{type(metric)}'."
                )
        for variable, *others in zip(
            self._variables, *(metric.variables for metric in metrics), strict=True
        ):
            variable.assign_add(tf.add_n(others))

    def add_variable(
        self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None
    ) -> Any:
        """Makes a variable.

        Raises:
          RuntimeError: not within `build`.
        """
        if self._built:
            raise RuntimeError("add_variable() is for build() only")
        is_eager = tf.executing_eagerly()
        variable = tf.get_variable(
            name,
            shape,
            dtype,
            initializer,
            trainable=False,
            collections=None if is_eager else self._collections,
            use_resource=True,
        )
        self._variables.append(variable)
        self._initial_values.append(variable.numpy() if is_eager else None)
        return variable


class Mean(Metric):
    """The mean of the values, weighted if there are weights.

    Args:
      dtype: the type of the sums.
      name, use_global_variables: see `Metric`.
    """

    def __init__(
        self, name: str | None = None, dtype: Any = tf.float64, use_global_variables: bool = False
    ) -> None:
        super().__init__(name, use_global_variables)
        self.dtype = dtype

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Makes `numer` and `denom`."""
        self.numer = self.add_variable("numer", (), self.dtype, tf.zeros_initializer())
        self.denom = self.add_variable("denom", (), self.dtype, tf.zeros_initializer())

    def call(self, values: Any, weights: Any = None) -> Any:
        """Adds values; returns the arguments."""
        added = tf.cast(values, self.dtype)
        if weights is None:
            self.denom.assign_add(tf.cast(tf.size(added), self.dtype))
            self.numer.assign_add(tf.reduce_sum(added))
            return values
        weights = tf.cast(weights, self.dtype)
        self.denom.assign_add(tf.reduce_sum(weights))
        self.numer.assign_add(tf.reduce_sum(added * weights))
        return values, weights

    def result(self, write_summary: bool = True) -> Any:
        """Returns the mean, and writes it as a summary of `tf.contrib.summary`."""
        mean = self.numer / self.denom
        if write_summary:
            summary_ops_v2.scalar(self.name, mean)
        return mean


class Accuracy(Mean):
    """The share of predictions that are the labels.

    Args:
      name, dtype: see `Mean`.
    """

    def __init__(self, name: str | None = None, dtype: Any = tf.float64) -> None:
        super().__init__(name, dtype)

    def call(  # type: ignore[override]
        self, labels: Any, predictions: Any, weights: Any = None
    ) -> Any:
        """Adds predictions; returns the arguments."""
        super().call(tf.equal(*self._classes(labels, predictions)), weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)

    def _classes(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        """Returns what has to be equal."""
        labels, predictions = tf.convert_to_tensor(labels), tf.convert_to_tensor(predictions)
        labels.shape.assert_is_compatible_with(predictions.shape)
        return labels, predictions


class CategoricalAccuracy(Accuracy):
    """The share of predicted distributions that are largest where the label is; see `Accuracy`."""

    def _classes(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        labels, predictions = super()._classes(labels, predictions)
        return tf.argmax(labels, axis=-1), tf.argmax(predictions, axis=-1)


class SparseAccuracy(Accuracy):
    """The share of predicted distributions that are largest at the label; see `Accuracy`."""

    def _classes(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        return tf.cast(labels, tf.int64), tf.argmax(predictions, axis=-1)


class BinaryAccuracy(Accuracy):
    """The share of predictions that are above a threshold where the label is true.

    Args:
      threshold: 0.5 for probabilities, 0 for logits.
      name, dtype: see `Mean`.
    """

    def __init__(self, threshold: float, name: str | None = None, dtype: Any = tf.float64) -> None:
        super().__init__(name, dtype)
        self.threshold = threshold

    def _classes(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        labels, predictions = super()._classes(labels, predictions)
        return tf.cast(labels, tf.bool), predictions > self.threshold
