"""`Head`, the base class of heads, and the part that all heads of one task share.

A head computes predictions, loss, metrics, the training step and the exported signatures of a model
from its logits:

    head = MultiClassHead(n_classes=3)

    def model_fn(features, labels, mode):
        logits = layers.dense(features["x"], head.logits_dimension)
        optimizer = tf.train.AdagradOptimizer(0.05)
        return head.create_estimator_spec(features, mode, logits, labels, optimizer)

The same classes stand for `tf.estimator`'s heads and for those of `tf.contrib.estimator`, which had
`create_loss` instead of `loss`.
"""

from __future__ import annotations

import abc
import collections
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator import EstimatorSpec, ModeKeys
from tf_frame_legacy.estimator import export
from tf_frame_legacy.estimator.heads import checks
from tf_frame_legacy.estimator.heads.keys import MetricKeys

DEFAULT_SIGNATURE = tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY

LossSpec = collections.namedtuple(
    "LossSpec", "training_loss unreduced_loss weights processed_labels"
)


class Head(abc.ABC):
    """The interface of a head."""

    @property
    @abc.abstractmethod
    def name(self) -> str | None:
        """The name, which names of metrics and summaries end with; or None."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """The size of the last dimension of the logits."""

    @property
    @abc.abstractmethod
    def loss_reduction(self) -> str:
        """One of `tf.losses.Reduction`."""

    @abc.abstractmethod
    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: Any = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Any:
        """Returns the scalar loss."""

    @abc.abstractmethod
    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[Any, Any]:
        """Returns name -> predictions."""

    def metrics(self, regularization_losses: Sequence[Any] | None = None) -> dict[str, Any]:
        """Returns an empty dict; `update_metrics` makes the metrics."""
        return {}

    @abc.abstractmethod
    def update_metrics(
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        mode: Any = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> dict[str, Any]:
        """Returns `eval_metrics` with name -> (value, update op) of the metrics."""

    @abc.abstractmethod
    def create_estimator_spec(
        self,
        features: Any,
        mode: Any,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> EstimatorSpec:
        """Returns the result of a model function.

        Args:
          features: name -> tensor; for weights of the examples.
          mode: one of `ModeKeys`.
          logits: `[..., logits_dimension]`.
          labels: labels; not for PREDICT.
          optimizer: an optimizer of tf.train; or of tensorflow.python.keras, together with
            `trainable_variables`.
          trainable_variables: variables to train; None: all trainable variables.
          train_op_fn: function of the loss that returns the training step, instead of an optimizer.
          update_ops: run with each training step, like those in the collection `UPDATE_OPS`.
          regularization_losses: scalars to add to the loss.

        Raises:
          ValueError: TRAIN without one of `optimizer` and `train_op_fn`, or with both; labels,
            logits or weights do not fit together.
        """

    def _key(self, key: str) -> str:
        return f"{key}/{self.name}" if self.name else key


class SingleHead(Head):
    """A head of one task; a subclass has its labels, losses, predictions and metrics.

    Args:
      dimension: size of the last dimension of the logits.
      weight_column: name of a feature, or a numeric column, with weights of the examples.
      loss_reduction: one of `tf.losses.Reduction` but NONE, or the same of Keras.
      loss_fn: function of `labels`, `logits` and, if wanted, `features`, that returns losses
        `[..., 1]`; None: the loss of the head.
      name: the name; None: none.
    """

    # Whether weights may differ between the logits of an example.
    _weights_each_logit = False

    def __init__(
        self,
        dimension: int,
        weight_column: Any,
        loss_reduction: str,
        loss_fn: Callable[..., Any] | None,
        name: str | None,
    ) -> None:
        checks.check_loss_fn(loss_fn)
        self._reduction = checks.checked_reduction(loss_reduction)
        self._loss_reduction = loss_reduction
        self._dimension = dimension
        self._weight_column = weight_column
        self._loss_fn = loss_fn
        self._name = name

    name = property(lambda self: self._name)
    logits_dimension = property(lambda self: self._dimension)
    loss_reduction = property(lambda self: self._loss_reduction)

    @abc.abstractmethod
    def _processed_labels(self, labels: Any, logits: Any) -> Any:
        """Returns the labels for the losses and the metrics."""

    @abc.abstractmethod
    def _losses(self, labels: Any, logits: Any) -> Any:
        """Returns the losses of the head itself, `[..., 1]`."""

    @abc.abstractmethod
    def _make_predictions(self, logits: Any) -> dict[Any, Any]:
        """Returns name -> predictions."""

    @abc.abstractmethod
    def _metric_ops(self, spec: LossSpec, predictions: Mapping[str, Any]) -> dict[str, Any]:
        """Returns name, without the head's, -> (value, update op)."""

    @abc.abstractmethod
    def _signatures(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        """Returns name -> export output; the first one is also the default."""

    def create_loss(self, features: Any, mode: Any, logits: Any, labels: Any) -> LossSpec:
        """Returns the scalar loss, the losses and weights of the examples, and the labels."""
        del mode
        logits = checks.checked_logits(logits, self._dimension)
        labels = self._processed_labels(labels, logits)
        if self._loss_fn is None:
            losses = self._losses(labels, logits)
        else:
            size = self._dimension if self._weights_each_logit else 1
            losses = checks.called_loss_fn(self._loss_fn, labels, logits, features, size)
        weights = checks.example_weights(
            features, self._weight_column, logits, for_each_logit=self._weights_each_logit
        )
        loss = tf.losses.compute_weighted_loss(losses, weights, reduction=self._reduction)
        return LossSpec(loss, losses, weights, labels)

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: Any = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Any:
        with tf.name_scope(None, "losses"):
            loss = self.create_loss(features, mode, logits, labels).training_loss
            return with_penalties(loss, regularization_losses)[0]

    def predictions(self, logits: Any, keys: Sequence[str] | None = None) -> dict[Any, Any]:
        logits = checks.checked_logits(logits, self._dimension)
        with tf.name_scope(None, "predictions", [logits]):
            predictions = self._make_predictions(logits)
        for key in keys or ():
            if key not in predictions:
                raise ValueError(
                    f"Prediction key must be in PredictionKeys, given: {key}. Valid prediction "
                    f"keys include {sorted(predictions)}."
                )
        return {key: predictions[key] for key in keys} if keys else predictions

    def update_metrics(
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        mode: Any = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> dict[str, Any]:
        spec = self.create_loss(features, mode, logits, labels)
        penalty = with_penalties(spec.training_loss, regularization_losses)[1]
        return {**eval_metrics, **self._metrics(spec, self.predictions(logits), penalty)}

    def create_estimator_spec(
        self,
        features: Any,
        mode: Any,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Sequence[Any] | None = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        update_ops: Sequence[Any] | None = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> EstimatorSpec:
        # Variables of optimizers, such as `beta1_power`, get this scope into their names.
        with tf.name_scope(self._name, "head"):
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                outputs = self._export_outputs(predictions)
                return EstimatorSpec(mode, predictions, export_outputs=outputs)
            spec = self.create_loss(features, mode, logits, labels)
            loss, penalty = with_penalties(spec.training_loss, regularization_losses)
            if mode == ModeKeys.EVAL:
                metrics = self._metrics(spec, predictions, penalty)
                return EstimatorSpec(mode, predictions, loss, eval_metric_ops=metrics)
            train_op = make_train_op(loss, optimizer, trainable_variables, train_op_fn, update_ops)
            mean = None
            if self._reduction == tf.losses.Reduction.SUM:
                weights = tf.reduce_sum(spec.weights * tf.ones_like(spec.unreduced_loss))
                mean = spec.training_loss / weights
        self._summarize(loss, mean, penalty)
        return EstimatorSpec(mode, predictions, loss, train_op)

    def _metrics(
        self, spec: LossSpec, predictions: Mapping[str, Any], penalty: Any
    ) -> dict[str, Any]:
        with tf.name_scope(None, "metrics"):
            ops = {MetricKeys.LOSS_MEAN: mean_metric(spec.unreduced_loss, spec.weights)}
            ops.update(self._metric_ops(spec, predictions))
            if penalty is not None:
                ops[MetricKeys.LOSS_REGULARIZATION] = tf.metrics.mean(penalty)
        return {self._key(key): op for key, op in ops.items()}

    def _export_outputs(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        signatures = self._signatures(predictions)
        return {
            DEFAULT_SIGNATURE: next(iter(signatures.values())),
            **signatures,
            "predict": export.PredictOutput(predictions),
        }

    def _summarize(self, loss: Any, mean: Any, penalty: Any) -> None:
        tagged = {
            MetricKeys.LOSS: loss,
            MetricKeys.LOSS_MEAN: mean,
            MetricKeys.LOSS_REGULARIZATION: penalty,
        }
        with tf.name_scope(""):
            for key, scalar in tagged.items():
                if scalar is not None:
                    tf.summary.scalar(self._key(key), scalar)


def with_penalties(loss: Any, penalties: Sequence[Any] | None) -> tuple[Any, Any]:
    """Returns the loss with penalties, and the sum of the penalties or None."""
    if not penalties:
        return loss, None
    penalty = tf.add_n(list(penalties))
    return loss + penalty, penalty


def mean_metric(values: Any, weights: Any) -> Any:
    """Returns the metric of a weighted mean."""
    return tf.metrics.mean(tf.cast(values, tf.float32), weights)


def make_train_op(
    loss: Any,
    optimizer: Any,
    variables: Sequence[Any] | None,
    train_op_fn: Callable[[Any], Any] | None,
    update_ops: Iterable[Any] | None,
) -> Any:
    """Returns the training step; see `Head.create_estimator_spec` for the arguments."""
    if optimizer is not None and train_op_fn is not None:
        raise ValueError("train_op_fn and optimizer cannot both be set.")
    if train_op_fn is not None:
        train_op = train_op_fn(loss)
    elif optimizer is None:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    elif isinstance(optimizer, tf.train.Optimizer):
        chosen = {} if variables is None else {"var_list": variables}
        train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step(), **chosen)
    else:
        train_op = _keras_update(optimizer, loss, variables)
    updates = [*tf.get_collection(tf.GraphKeys.UPDATE_OPS), *(update_ops or ())]
    return tf.group(train_op, *updates) if updates else train_op


def _keras_update(optimizer: Any, loss: Any, variables: Sequence[Any] | None) -> Any:
    if not hasattr(optimizer, "get_updates"):
        raise ValueError(
            "The given optimizer is neither a tf.train.Optimizer nor one of "
            f"tensorflow.python.keras; Keras 3's do not train such graphs. Given: {optimizer}"
        )
    if not isinstance(variables, list | tuple):
        raise ValueError(f"trainable_variables should be a list or a tuple. Given: {variables}")
    return optimizer.get_updates(loss, variables)[0]
