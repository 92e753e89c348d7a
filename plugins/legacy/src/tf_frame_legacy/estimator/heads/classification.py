"""Heads of classification: with two classes, and with more.

Labels are class numbers, or names of a vocabulary. Same losses, predictions, metrics and signatures
as tensorflow_estimator 1.15, python/estimator/canned/head.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_legacy.estimator import export
from tf_frame_legacy.estimator.heads import checks
from tf_frame_legacy.estimator.heads.head import LossSpec, SingleHead, mean_metric
from tf_frame_legacy.estimator.heads.keys import MetricKeys, PredictionKeys

_MEAN = "sum_over_batch_size"


class BinaryClassHead(SingleHead):
    """Classification with two classes, by logits `[..., 1]` and sigmoid cross entropy.

    Args:
      weight_column: name of a feature, or a numeric column, with weights of the examples.
      thresholds: thresholds in (0, 1) of further metrics of accuracy, precision and recall.
      label_vocabulary: names of the classes, if the labels are names; None: labels from 0 to 1.
      loss_reduction: one of `tf.losses.Reduction` but NONE.
      loss_fn: function of float `labels` and `logits` that returns losses `[..., 1]`.
      name: the name; None: none.

    Raises:
      ValueError: a wrong threshold, vocabulary, reduction or loss function.
    """

    def __init__(
        self,
        weight_column: Any = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = _MEAN,
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        checks.check_vocabulary(label_vocabulary)
        self._thresholds = checks.checked_thresholds(thresholds)
        self._vocabulary = label_vocabulary
        super().__init__(1, weight_column, loss_reduction, loss_fn, name)

    def _processed_labels(self, labels: Any, logits: Any) -> Any:
        labels = checks.checked_labels(labels, logits, 1)
        if self._vocabulary is not None:
            labels = class_numbers(labels, self._vocabulary)
        return checks.checked_range(tf.cast(labels, tf.float32), 2)

    def _losses(self, labels: Any, logits: Any) -> Any:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _make_predictions(self, logits: Any) -> dict[str, Any]:
        two = tf.concat([tf.zeros_like(logits), logits], axis=-1, name="two_class_logits")
        return {
            PredictionKeys.LOGITS: logits,
            PredictionKeys.LOGISTIC: tf.sigmoid(logits, name=PredictionKeys.LOGISTIC),
            **class_predictions(two, 2, self._vocabulary),
        }

    def _metric_ops(self, spec: LossSpec, predictions: Mapping[str, Any]) -> dict[str, Any]:
        labels, weights = spec.processed_labels, spec.weights
        logistic = predictions[PredictionKeys.LOGISTIC]
        data = {"labels": labels, "weights": weights}
        classes = {"predictions": predictions[PredictionKeys.CLASS_IDS], **data}
        label_mean = mean_metric(labels, weights)
        return {
            MetricKeys.ACCURACY: tf.metrics.accuracy(**classes),
            MetricKeys.PRECISION: tf.metrics.precision(**classes),
            MetricKeys.RECALL: tf.metrics.recall(**classes),
            MetricKeys.PREDICTION_MEAN: mean_metric(logistic, weights),
            MetricKeys.LABEL_MEAN: label_mean,
            MetricKeys.ACCURACY_BASELINE: tuple(tf.maximum(part, 1 - part) for part in label_mean),
            MetricKeys.AUC: tf.metrics.auc(predictions=logistic, **data),
            MetricKeys.AUC_PR: tf.metrics.auc(predictions=logistic, curve="PR", **data),
            **threshold_metrics(labels, logistic, weights, self._thresholds),
        }

    def _signatures(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        logistic = predictions[PredictionKeys.LOGISTIC]
        return {
            "classification": classification_output(predictions, self._vocabulary, 2),
            "regression": export.RegressionOutput(logistic),
        }


class MultiClassHead(SingleHead):
    """Classification with more than two classes, by softmax cross entropy.

    Args:
      n_classes: number of classes, more than 2.
      weight_column, loss_reduction, name: see `BinaryClassHead`.
      label_vocabulary: names of the classes, if the labels are names; None: integers.
      loss_fn: function of integer `labels` `[..., 1]` and `logits` that returns losses `[..., 1]`.

    Raises:
      ValueError: too few classes, or a wrong vocabulary, reduction or loss function.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = _MEAN,
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        if n_classes is None:
            raise ValueError("n_classes cannot be None")
        if n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        checks.check_vocabulary(label_vocabulary, n_classes)
        self._vocabulary = label_vocabulary
        super().__init__(n_classes, weight_column, loss_reduction, loss_fn, name)

    def _processed_labels(self, labels: Any, logits: Any) -> Any:
        labels = checks.checked_labels(labels, logits, 1)
        if self._vocabulary is not None:
            if labels.dtype != tf.string:
                raise ValueError(
                    "Labels dtype should be string if there is a vocabulary. Instead got "
                    f"{labels.dtype}"
                )
            labels = class_numbers(labels, self._vocabulary)
        elif not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype}.")
        return checks.checked_range(labels, self._dimension)

    def _losses(self, labels: Any, logits: Any) -> Any:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.squeeze(labels, axis=-1), logits=logits
        )
        return tf.expand_dims(losses, -1)

    def _make_predictions(self, logits: Any) -> dict[str, Any]:
        classes = class_predictions(logits, self._dimension, self._vocabulary)
        return {PredictionKeys.LOGITS: logits, **classes}

    def _metric_ops(self, spec: LossSpec, predictions: Mapping[str, Any]) -> dict[str, Any]:
        classes = predictions[PredictionKeys.CLASS_IDS]
        accuracy = tf.metrics.accuracy(spec.processed_labels, classes, spec.weights)
        return {MetricKeys.ACCURACY: accuracy}

    def _signatures(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        output = classification_output(predictions, self._vocabulary, self._dimension)
        return {"classification": output}


def class_predictions(
    logits: Any, n_classes: int, vocabulary: Sequence[str] | None
) -> dict[str, Any]:
    """Returns probabilities, the likeliest class and all classes, of logits `[..., classes]`."""
    ids = tf.expand_dims(tf.argmax(logits, axis=-1, name=PredictionKeys.CLASS_IDS), -1)
    if vocabulary is None:
        names = tf.as_string(ids, name="str_classes")
    else:
        names = tf.gather(tf.constant(list(vocabulary)), ids)
    return {
        PredictionKeys.PROBABILITIES: tf.nn.softmax(logits, name=PredictionKeys.PROBABILITIES),
        PredictionKeys.CLASS_IDS: ids,
        PredictionKeys.CLASSES: names,
        PredictionKeys.ALL_CLASS_IDS: _for_each_example(tf.range(n_classes), logits),
        PredictionKeys.ALL_CLASSES: _all_classes(logits, n_classes, vocabulary),
    }


def class_numbers(names: Any, vocabulary: Sequence[str]) -> Any:
    """Returns the class numbers of names, int64; -1 for other names."""
    numbers = tf.range(len(vocabulary), dtype=tf.int64)
    known = tf.lookup.KeyValueTensorInitializer(tf.constant(list(vocabulary)), numbers)
    return tf.lookup.StaticHashTable(known, -1, name="class_id_lookup").lookup(names)


def classification_output(
    predictions: Mapping[str, Any], vocabulary: Sequence[str] | None, n_classes: int
) -> Any:
    """Returns the export output of probabilities with the names of the classes."""
    scores = predictions[PredictionKeys.PROBABILITIES]
    return export.ClassificationOutput(scores, _all_classes(scores, n_classes, vocabulary))


def threshold_metrics(
    labels: Any, probabilities: Any, weights: Any, thresholds: Sequence[float]
) -> dict[str, Any]:
    """Returns accuracy, precision and recall of predictions above each threshold."""
    ops: dict[str, Any] = {}
    for threshold in thresholds:
        above = tf.cast(probabilities >= threshold, tf.float32)
        data = (labels, probabilities, (threshold,), weights)
        ops[MetricKeys.ACCURACY_AT_THRESHOLD % threshold] = tf.metrics.accuracy(
            labels, above, weights
        )
        for key, metric in (
            (MetricKeys.PRECISION_AT_THRESHOLD, tf.metrics.precision_at_thresholds),
            (MetricKeys.RECALL_AT_THRESHOLD, tf.metrics.recall_at_thresholds),
        ):
            ops[key % threshold] = tuple(tf.squeeze(part) for part in metric(*data))
    return ops


def _all_classes(tensor: Any, n_classes: int, vocabulary: Sequence[str] | None) -> Any:
    names = tf.as_string(tf.range(n_classes)) if not vocabulary else tf.constant(list(vocabulary))
    return _for_each_example(names, tensor)


def _for_each_example(row: Any, tensor: Any) -> Any:
    return tf.tile(row[None], [tf.shape(tensor)[0], 1])
