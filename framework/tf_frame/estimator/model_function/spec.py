"""`EstimatorSpec`, the result of a model function, with the checks and messages of tf.estimator.

def model_fn(features, labels, mode, params):
    logits = tf.layers.dense(features["x"], params["classes"])
    if mode == ModeKeys.PREDICT:
        return EstimatorSpec(mode, predictions={"logits": logits})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    return EstimatorSpec(mode, loss=loss)
"""

from __future__ import annotations

import collections
from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator.argument_checks import checked_hooks
from tf_frame.runs.export.signatures import checked_exports

# The base of all variables; `compat.v1.Variable` is no base of the result of `assign_add`.
_Variable = tf.compat.v2.Variable

_OTHER_GRAPH = (
    '{0} with "{1}" must be from the default graph. '
    "Possible causes of this error include: \n\n"
    "1) {0} was created outside the context of the default graph."
    "\n\n"
    "2) The object passed through to EstimatorSpec was not created "
    'in the most recent call to "model_fn".'
)
_HOOKS = "All hooks must be SessionRunHook instances"


class ModeKeys:
    """The modes of a model function; plain strings, equal to `tf_frame.Mode`."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


_Fields = collections.namedtuple(
    "_Fields",
    "mode predictions loss train_op eval_metric_ops export_outputs training_chief_hooks "
    "training_hooks scaffold evaluation_hooks prediction_hooks",
)


class EstimatorSpec(_Fields):
    """Tensors and objects for training, evaluation, prediction or export.

    Arguments that the mode does not need are ignored. Arguments, checks and texts are taken from
    tensorflow_estimator, model_fn.py, with one exception: in TRAIN a spec may leave out `train_op`.
    tf-frame then builds the training graph from the loss, with the optimizer of the options.

    Args:
      mode: one of `ModeKeys`.
      predictions: a tensor, or a dict of tensors, with the batch as first dimension. PREDICT
        needs it.
      loss: scalar, or of shape `[1]`, which becomes a scalar. TRAIN and EVAL need it.
      train_op: an operation or tensor that makes one step and increments the global step.
      eval_metric_ops: name -> `(value, update_op)`, as `tf.compat.v1.metrics` returns
        them, or an object like a metric of Keras 2 (tf-keras) that was updated in this graph.
      export_outputs: signature name -> `tf_frame.estimator.export.ExportOutput`; of several,
        one is named `serving_default`. Default: the predictions as `serving_default`.
      training_chief_hooks: session hooks of the chief in training.
      training_hooks: session hooks of every worker in training.
      scaffold: a `tf.compat.v1.train.Scaffold`; default: a new one.
      evaluation_hooks: session hooks of evaluation.
      prediction_hooks: session hooks of prediction.

    Raises:
      ValueError: an argument that the mode needs is missing, or an argument has a wrong shape
        or belongs to another graph.
      TypeError: an argument has the wrong type.
    """

    def __new__(
        cls,
        mode: Any,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Any = None,
        export_outputs: Any = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
        evaluation_hooks: Any = None,
        prediction_hooks: Any = None,
    ) -> EstimatorSpec:
        train_op = _checked_train_op(train_op)
        loss = _checked_loss(loss, mode)
        predictions = _checked_predictions(predictions, mode)
        if mode == ModeKeys.PREDICT:
            export_outputs = checked_exports(export_outputs, predictions)
        return super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            training_hooks=checked_hooks(training_hooks, _HOOKS),
            evaluation_hooks=checked_hooks(evaluation_hooks, _HOOKS),
            prediction_hooks=checked_hooks(prediction_hooks, _HOOKS),
            training_chief_hooks=checked_hooks(training_chief_hooks, _HOOKS),
            eval_metric_ops=_checked_metrics(eval_metric_ops),
            scaffold=_checked_scaffold(scaffold),
            export_outputs=export_outputs,
        )

    def _replace(self, **changes: Any) -> EstimatorSpec:
        """Returns a spec with some fields changed, checked anew.

        Raises:
          ValueError: the mode would change, or there is no such field.
        """
        if changes.get("mode", self.mode) != self.mode:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        unknown = [name for name in changes if name not in self._fields]
        if unknown:
            raise ValueError(f"Got unexpected field names: {unknown!r}")
        return EstimatorSpec(**{**self._asdict(), **changes})


def _checked_train_op(train_op: Any) -> Any:
    if train_op is None:
        return None
    _check_type(train_op, "train_op", operation=True)
    if isinstance(train_op, _Variable):
        train_op = train_op.op
    _check_graph(train_op, "train_op")
    return train_op


def _checked_loss(loss: Any, mode: Any) -> Any:
    """Returns the loss as a scalar, or None."""
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    _check_type(loss, "loss")
    if loss.shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    _check_graph(loss, "loss")
    return loss if loss.shape.is_compatible_with([]) else tf.reshape(loss, [])


def _checked_predictions(predictions: Any, mode: Any) -> Any:
    """Returns a tensor, or a new dict of tensors, empty for None."""
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        return {}
    if not isinstance(predictions, dict):
        _check_type(predictions, "predictions")
        _check_graph(predictions, "prediction values")
        return predictions
    for key, value in predictions.items():
        _check_type(value, f"predictions[{key}]")
    for key, value in predictions.items():
        _check_graph(value, "prediction values", key)
    return dict(predictions)


def _checked_metrics(metrics: Any) -> dict[str, tuple[Any, Any]]:
    """Returns name -> (value, update op).

    Adds the variables of an object like a Keras metric to the collections of local and of metric
    variables, so that they are initialised.
    """
    if metrics is None:
        return {}
    if not isinstance(metrics, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {metrics}")
    pairs = {key: _value_and_update(key, metric) for key, metric in metrics.items()}
    for key, pair in pairs.items():
        for part in tf.nest.flatten(pair):
            _check_type(part, f"eval_metric_ops[{key}]", operation=True)
            _check_graph(part, "eval_metric_ops", key)
    for metric in metrics.values():
        if _is_metric_object(metric):
            _collect_variables(metric.variables)
    return pairs


def _value_and_update(key: str, metric: Any) -> tuple[Any, Any]:
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
    """Returns whether a metric has the interface of Keras 2, which need not be installed."""
    return all(hasattr(metric, name) for name in ("updates", "result", "variables"))


def _collect_variables(variables: Iterable[Any]) -> None:
    for collection in (tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES):
        collected = {variable.ref() for variable in tf.get_collection(collection)}
        for variable in variables:
            if variable.ref() not in collected:
                tf.add_to_collection(collection, variable)


def _checked_scaffold(scaffold: Any) -> Any:
    scaffold = scaffold or tf.train.Scaffold()
    if not isinstance(scaffold, tf.train.Scaffold):
        raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
    return scaffold


def _check_type(value: Any, name: str, *, operation: bool = False) -> None:
    kinds = (tf.Tensor, _Variable, *([tf.Operation] if operation else []))
    if not isinstance(value, kinds):
        allowed = "Operation or Tensor" if operation else "Tensor"
        raise TypeError(f"{name} must be {allowed}, given: {value}")


def _check_graph(value: Any, argument: str, key: str | None = None) -> None:
    # A tensor of eager execution has neither a graph nor a name.
    if not tf.executing_eagerly() and value.graph is not tf.get_default_graph():
        name = value.name if key is None else f"{key}: {value.name}"
        raise ValueError(_OTHER_GRAPH.format(argument, name))
