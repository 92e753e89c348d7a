"""`MultiLabelHead`: each example has any number of classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.estimator.heads import checks
from tf_frame_legacy.estimator.heads.classification import (
    class_numbers,
    classification_output,
    threshold_metrics,
)
from tf_frame_legacy.estimator.heads.head import LossSpec, SingleHead, mean_metric
from tf_frame_legacy.estimator.heads.keys import MetricKeys, PredictionKeys


class MultiLabelHead(SingleHead):
    """Classification with any number of classes for an example, by sigmoid cross entropy.

    Labels are indicators `[..., n_classes]`, or a `tf.SparseTensor` of class numbers or names. The
    loss of an example is the mean over the classes.

    Args:
      n_classes: number of classes, at least 2.
      weight_column, thresholds, loss_reduction, name: see `BinaryClassHead`.
      label_vocabulary: names of the classes, if sparse labels are names.
      loss_fn: function of `labels` `[..., n_classes]` and `logits` that returns losses `[..., 1]`.
      classes_for_class_based_metrics: numbers or names of classes that get metrics of their own.

    Raises:
      ValueError: an argument is wrong.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = "sum_over_batch_size",
        loss_fn: Callable[..., Any] | None = None,
        classes_for_class_based_metrics: Sequence[Any] | None = None,
        name: str | None = None,
    ) -> None:
        if n_classes is None or n_classes < 2:
            raise ValueError(
                f"n_classes must be > 1 for multi-label classification. Given: {n_classes}"
            )
        self._thresholds = checks.checked_thresholds(thresholds)
        checks.check_vocabulary(label_vocabulary, n_classes)
        self._vocabulary = label_vocabulary
        self._watched = _numbers(classes_for_class_based_metrics or (), label_vocabulary, n_classes)
        super().__init__(n_classes, weight_column, loss_reduction, loss_fn, name)

    def _processed_labels(self, labels: Any, logits: Any) -> Any:
        if isinstance(labels, tf.SparseTensor):
            labels = self._indicators(labels)
        elif labels is not None:
            text = "labels must be an integer indicator Tensor with values in [0, 1]"
            labels = checks.checked_range(tf.convert_to_tensor(labels), 2, text)
        return checks.checked_labels(labels, logits, self._dimension)

    def _indicators(self, labels: Any) -> Any:
        """Returns int64 indicators of sparse class numbers or names."""
        numbers = labels.values
        if numbers.dtype == tf.string:
            numbers = class_numbers(numbers, self._vocabulary or ())
        elif not numbers.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer. Instead got {numbers.dtype}.")
        else:
            text = f"labels must be an integer SparseTensor with values in [0, {self._dimension})"
            numbers = checks.checked_range(numbers, self._dimension, text)
        sparse = tf.SparseTensor(labels.indices, tf.cast(numbers, tf.int64), labels.dense_shape)
        return tf.cast(tf.sparse_to_indicator(sparse, self._dimension), tf.int64)

    def _losses(self, labels: Any, logits: Any) -> Any:
        losses = tf.nn.sigmoid_cross_entropy_with_logits(
            labels=tf.cast(labels, logits.dtype), logits=logits
        )
        return tf.reduce_mean(losses, axis=-1, keepdims=True)

    def _make_predictions(self, logits: Any) -> dict[str, Any]:
        probabilities = tf.sigmoid(logits, name=PredictionKeys.PROBABILITIES)
        return {PredictionKeys.LOGITS: logits, PredictionKeys.PROBABILITIES: probabilities}

    def _metric_ops(self, spec: LossSpec, predictions: Mapping[str, Any]) -> dict[str, Any]:
        labels, weights = spec.processed_labels, spec.weights
        probabilities = predictions[PredictionKeys.PROBABILITIES]
        ops = {
            MetricKeys.AUC: tf.metrics.auc(labels, probabilities, weights),
            MetricKeys.AUC_PR: tf.metrics.auc(labels, probabilities, weights, curve="PR"),
            **threshold_metrics(labels, probabilities, weights, self._thresholds),
        }
        for number in self._watched:
            chosen = labels[..., number, None], probabilities[..., number, None]
            ops.update(self._class_metrics(number, *chosen, weights))
        return ops

    def _class_metrics(
        self, number: int, labels: Any, probabilities: Any, weights: Any
    ) -> dict[str, Any]:
        named = self._vocabulary is not None
        key = self._vocabulary[number] if self._vocabulary is not None else number
        mean, auc, auc_pr = (
            (MetricKeys.PROBABILITY_MEAN_AT_NAME, MetricKeys.AUC_AT_NAME, MetricKeys.AUC_PR_AT_NAME)
            if named
            else (
                MetricKeys.PROBABILITY_MEAN_AT_CLASS,
                MetricKeys.AUC_AT_CLASS,
                MetricKeys.AUC_PR_AT_CLASS,
            )
        )
        return {
            mean % key: mean_metric(probabilities, weights),
            auc % key: tf.metrics.auc(labels, probabilities, weights),
            auc_pr % key: tf.metrics.auc(labels, probabilities, weights, curve="PR"),
        }

    def _signatures(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        output = classification_output(predictions, self._vocabulary, self._dimension)
        return {"classification": output}


def _numbers(classes: Sequence[Any], vocabulary: Any, n_classes: int) -> tuple[int, ...]:
    """Returns the numbers of classes that are given by number or name."""
    if classes and isinstance(classes[0], str):
        if not vocabulary:
            raise ValueError(
                "label_vocabulary must be provided when classes_for_class_based_metrics are names."
            )
        return tuple(vocabulary.index(name) for name in classes)
    for number in classes:
        if not 0 <= number < n_classes:
            raise ValueError(
                f"All classes_for_class_based_metrics must be in range [0, {n_classes - 1}]. "
                f"Given: {number}"
            )
    return tuple(classes)
