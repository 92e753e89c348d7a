"""Merges the `EstimatorSpec`s of towers into one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator.export import ClassificationOutput, PredictOutput, RegressionOutput
from tf_frame.estimator.model_function.spec import EstimatorSpec


def merge_training(specs: Sequence[EstimatorSpec]) -> EstimatorSpec:
    """Returns the spec of the last tower, which applies the gradients, with the whole loss."""
    return specs[-1]._replace(loss=_sum_losses(specs))


def merge_evaluation(specs: Sequence[EstimatorSpec]) -> EstimatorSpec:
    """Returns the spec of the first tower, with the loss and the metrics of all towers."""
    updates = [update for spec in specs for _, update in spec.eval_metric_ops.values()]
    with tf.control_dependencies(updates):
        update = _gather_metrics(len(specs))
    metrics = {name: (value, update) for name, (value, _) in specs[0].eval_metric_ops.items()}
    return specs[0]._replace(loss=_sum_losses(specs), eval_metric_ops=metrics)


def merge_predictions(specs: Sequence[EstimatorSpec]) -> EstimatorSpec:
    """Returns the spec of the first tower, with the predictions of all towers."""
    names = specs[0].export_outputs or {}
    exports = {name: _concat_exports([s.export_outputs[name] for s in specs]) for name in names}
    predictions = _concat([spec.predictions for spec in specs])
    return specs[0]._replace(predictions=predictions, export_outputs=exports)


def _sum_losses(specs: Sequence[EstimatorSpec]) -> Any:
    return tf.add_n([spec.loss for spec in specs], name="loss")


def _gather_metrics(number: int) -> Any:
    """Returns an op that moves the metric variables of all towers into those of the first one.

    Raises:
      ValueError: the towers have different metrics.
    """
    variables = tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)
    per_tower = len(variables) // number
    if len(variables) % number:
        raise ValueError(
            "Different `EstimatorSpec.eval_metric_ops` across `model_fn()` calls. Expected "
            f"{per_tower * number} local variables, but got {len(variables)} instead."
        )
    clears = []
    for index in range(per_tower):
        others = variables[index + per_tower :: per_tower]
        # A control dependency orders the read, which a reference variable makes at any time.
        added = tf.assign_add(variables[index], tf.add_n([tf.identity(v) for v in others]))
        with tf.control_dependencies([added]):
            clears += [tf.assign(v, tf.zeros_like(v)) for v in others]
    return tf.group(*clears)


def _concat(values: Sequence[Any]) -> Any:
    """Returns tensors, or dicts of tensors, concatenated in their first dimension."""
    if not isinstance(values[0], dict):
        return tf.concat(list(values), axis=0)
    return {
        name: tf.concat([value[name] for value in values], axis=0, name=name) for name in values[0]
    }


def _concat_exports(exports: Sequence[Any]) -> Any:
    first = exports[0]
    if isinstance(first, ClassificationOutput):
        parts = {
            name: _concat([getattr(export, name) for export in exports])
            for name in ("scores", "classes")
            if getattr(first, name) is not None
        }
        return ClassificationOutput(**parts)
    if isinstance(first, RegressionOutput):
        return RegressionOutput(value=_concat([export.value for export in exports]))
    return PredictOutput(outputs=_concat([export.outputs for export in exports]))
