"""The checks of an `EstimatorSpec`: types and texts of tensorflow_estimator, model_fn.py."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf

# The base of all variables; that of compat.v1 leaves out what `assign_add` returns.
_Variable = tf.compat.v2.Variable

_OTHER_GRAPH = (
    '{0} with "{1}" must be from the default graph. '
    "Possible causes of this error include: \n\n"
    "1) {0} was created outside the context of the default graph."
    "\n\n"
    "2) The object passed through to EstimatorSpec was not created "
    'in the most recent call to "model_fn".'
)


def checked_train_op(train_op: Any) -> Any:
    """Returns the operation or tensor of a training step, or None.

    Raises:
      TypeError: it is neither.
      ValueError: it belongs to another graph.
    """
    if train_op is None:
        return None
    _check_is_tensor_or_operation(train_op, "train_op")
    if isinstance(train_op, _Variable):
        train_op = train_op.op
    _check_graph(train_op, "train_op")
    return train_op


def checked_loss(loss: Any, *, needed: bool) -> Any:
    """Returns a loss as a scalar tensor, or None.

    Args:
      loss: a tensor, a scalar or with one element.
      needed: whether the mode needs it.

    Raises:
      ValueError: it is missing, no scalar, or belongs to another graph.
      TypeError: it is no tensor.
    """
    if loss is None:
        if needed:
            raise ValueError("Missing loss.")
        return None
    _check_is_tensor(loss, "loss")
    if loss.shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    _check_graph(loss, "loss")
    return loss if loss.shape.is_compatible_with([]) else tf.reshape(loss, [])


def checked_predictions(predictions: Any, *, needed: bool) -> Any:
    """Returns predictions: a tensor, or a new dict of them, empty for None.

    Args:
      predictions: a tensor or a dict of them.
      needed: whether the mode needs them.

    Raises:
      ValueError: they are missing, or one belongs to another graph.
      TypeError: one is no tensor.
    """
    if predictions is None:
        if needed:
            raise ValueError("Missing predictions.")
        return {}
    if not isinstance(predictions, dict):
        _check_is_tensor(predictions, "predictions")
        _check_graph(predictions, "prediction values")
        return predictions
    for key, value in predictions.items():
        _check_is_tensor(value, f"predictions[{key}]")
    for key, value in predictions.items():
        _check_graph(value, "prediction values", key)
    return dict(predictions)


def checked_hooks(hooks: Iterable[Any] | None) -> tuple[Any, ...]:
    """Returns session hooks as a tuple.

    Raises:
      TypeError: one is no `tf.compat.v1.train.SessionRunHook`.
    """
    found = tuple(hooks or [])
    for hook in found:
        if not isinstance(hook, tf.train.SessionRunHook):
            raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
    return found


def checked_metrics(metrics: Any) -> dict[str, tuple[Any, Any]]:
    """Returns metrics as a new dict of pairs of value and update op.

    The variables of an object like a Keras metric join the local variables and
    the metric variables, so that they are initialised and known as such.

    Raises:
      TypeError: they are no dict, or one is no pair of a tensor and an update.
      ValueError: one belongs to another graph, or was never updated.
    """
    if metrics is None:
        return {}
    if not isinstance(metrics, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {metrics}")
    pairs = {key: _pair(key, metric) for key, metric in metrics.items()}
    for key, pair in pairs.items():
        for part in tf.nest.flatten(pair):
            _check_is_tensor_or_operation(part, f"eval_metric_ops[{key}]")
            _check_graph(part, "eval_metric_ops", key)
    for metric in metrics.values():
        if _is_metric_object(metric):
            _collect_variables(metric.variables)
    return pairs


def checked_scaffold(scaffold: Any) -> Any:
    """Returns a scaffold, a new one for None.

    Raises:
      TypeError: it is no `tf.compat.v1.train.Scaffold`.
    """
    scaffold = scaffold or tf.train.Scaffold()
    if not isinstance(scaffold, tf.train.Scaffold):
        raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
    return scaffold


def _pair(key: str, metric: Any) -> tuple[Any, Any]:
    if _is_metric_object(metric):
        if not metric.updates:
            raise ValueError(f'Please call update_state(...) on the "{metric.name}" metric')
        return metric.result(), metric.updates[0]
    if not isinstance(metric, tuple) or len(metric) != 2:
        raise TypeError(
            "Values of eval_metric_ops must be (metric_value, update_op) tuples, given: "
            f"{metric} for key: {key}"
        )
    return metric


def _is_metric_object(metric: Any) -> bool:
    """Whether this is like a metric of Keras 2, which need not be installed to know."""
    return all(hasattr(metric, name) for name in ("updates", "result", "variables"))


def _collect_variables(variables: Iterable[Any]) -> None:
    for collection in (tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES):
        known = {variable.ref() for variable in tf.get_collection(collection)}
        for variable in variables:
            if variable.ref() not in known:
                tf.add_to_collection(collection, variable)


def _check_is_tensor(value: Any, name: str) -> None:
    if not isinstance(value, (tf.Tensor, _Variable)):
        raise TypeError(f"{name} must be Tensor, given: {value}")


def _check_is_tensor_or_operation(value: Any, name: str) -> None:
    if not isinstance(value, (tf.Operation, tf.Tensor, _Variable)):
        raise TypeError(f"{name} must be Operation or Tensor, given: {value}")


def _check_graph(value: Any, what: str, key: str | None = None) -> None:
    # A tensor of eager execution has neither a graph nor a name.
    if not tf.executing_eagerly() and value.graph is not tf.get_default_graph():
        name = value.name if key is None else f"{key}: {value.name}"
        raise ValueError(_OTHER_GRAPH.format(what, name))
