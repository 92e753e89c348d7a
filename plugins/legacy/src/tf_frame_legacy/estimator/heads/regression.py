"""Heads of regression: squared errors, Poisson and logistic regression."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.estimator import export
from tf_frame_legacy.estimator.heads import checks
from tf_frame_legacy.estimator.heads.head import LossSpec, SingleHead, mean_metric
from tf_frame_legacy.estimator.heads.keys import MetricKeys, PredictionKeys

_MEAN = "sum_over_batch_size"


class RegressionHead(SingleHead):
    """Regression by squared errors.

    Args:
      label_dimension: number of values for each example.
      weight_column: name of a feature, or a numeric column, with weights of the examples, which may
        differ between the values of an example.
      loss_reduction: one of `tf.losses.Reduction` but NONE.
      loss_fn: function of `labels` and `logits` that returns losses `[..., label_dimension]`.
      inverse_link_fn: function of the logits that returns the predictions; None: the logits.
      name: the name; None: none.

    Raises:
      ValueError: a wrong dimension, reduction or loss function.
    """

    _weights_each_logit = True

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = _MEAN,
        loss_fn: Callable[..., Any] | None = None,
        inverse_link_fn: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> None:
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        self._inverse_link_fn = inverse_link_fn
        super().__init__(label_dimension, weight_column, loss_reduction, loss_fn, name)

    def _processed_labels(self, labels: Any, logits: Any) -> Any:
        return tf.cast(checks.checked_labels(labels, logits, self._dimension), tf.float32)

    def _losses(self, labels: Any, logits: Any) -> Any:
        return tf.squared_difference(logits, labels)

    def _make_predictions(self, logits: Any) -> dict[str, Any]:
        if self._inverse_link_fn is None:
            return {PredictionKeys.PREDICTIONS: logits}
        predicted = self._inverse_link_fn(logits)
        return {PredictionKeys.PREDICTIONS: predicted, PredictionKeys.LOGITS: logits}

    def _metric_ops(self, spec: LossSpec, predictions: Mapping[str, Any]) -> dict[str, Any]:
        predicted = predictions[PredictionKeys.PREDICTIONS]
        return {
            MetricKeys.PREDICTION_MEAN: mean_metric(predicted, spec.weights),
            MetricKeys.LABEL_MEAN: mean_metric(spec.processed_labels, spec.weights),
        }

    def _signatures(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        return {"regression": export.RegressionOutput(predictions[PredictionKeys.PREDICTIONS])}


class PoissonRegressionHead(RegressionHead):
    """Regression of counts; the logits are logarithms of the predictions.

    Args:
      label_dimension, weight_column, loss_reduction, name: see `RegressionHead`.
      compute_full_loss: whether the loss has the constant `log(labels!)`, approximated.
    """

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = _MEAN,
        compute_full_loss: bool = True,
        name: str | None = None,
    ) -> None:
        def loss_fn(labels: Any, logits: Any) -> Any:
            return tf.nn.log_poisson_loss(labels, logits, compute_full_loss=compute_full_loss)

        super().__init__(label_dimension, weight_column, loss_reduction, loss_fn, tf.exp, name)


class LogisticRegressionHead(RegressionHead):
    """Regression of labels from 0 to 1, by sigmoid cross entropy.

    Args:
      weight_column, loss_reduction, name: see `RegressionHead`.
    """

    def __init__(
        self, weight_column: Any = None, loss_reduction: str = _MEAN, name: str | None = None
    ) -> None:
        super().__init__(1, weight_column, loss_reduction, _logistic_loss, tf.sigmoid, name)


def _logistic_loss(labels: Any, logits: Any) -> Any:
    labels = checks.checked_range(labels, 2, "Labels must be in range [0, 1]")
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
