"""`MultiHead`: several heads on one model, each with its own labels and logits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator import EstimatorSpec, ModeKeys
from tf_frame_legacy.estimator import export
from tf_frame_legacy.estimator.heads.head import (
    DEFAULT_SIGNATURE,
    Head,
    LossSpec,
    make_train_op,
    with_penalties,
)
from tf_frame_legacy.estimator.heads.keys import MetricKeys


class MultiHead(Head):
    """A head of several tasks; its loss is the weighted sum of theirs.

    Logits are head -> logits, or one tensor `[..., sum of the dimensions]`; labels are
    head -> labels; predictions are (head, name) -> predictions.

    Args:
      heads: heads with names.
      head_weights: weights of the losses; None: 1.

    Raises:
      ValueError: no heads, a head without a name, or another number of weights.
    """

    def __init__(self, heads: Sequence[Any], head_weights: Sequence[float] | None = None) -> None:
        if not heads:
            raise ValueError(f"Must specify heads. Given: {heads}")
        if head_weights and len(head_weights) != len(heads):
            raise ValueError(
                "heads and head_weights must have the same size. Given len(heads): "
                f"{len(heads)}. Given len(head_weights): {len(head_weights)}."
            )
        for head in heads:
            if not head.name:
                raise ValueError(f"All given heads must have name specified. Given: {head}")
        self._heads = {head.name: head for head in heads}
        self._weights = dict(zip(self._heads, head_weights or [1.0] * len(heads), strict=True))

    @property
    def name(self) -> str:
        return "_".join(self._heads)

    @property
    def logits_dimension(self) -> int:
        return sum(head.logits_dimension for head in self._heads.values())

    @property
    def loss_reduction(self) -> str:
        reductions = [head.loss_reduction for head in self._heads.values()]
        if len(set(reductions)) > 1:
            raise ValueError(
                f"The loss_reduction must be the same for different heads. Given: {reductions}"
            )
        return str(reductions[0])

    def create_loss(self, features: Any, mode: Any, logits: Any, labels: Any) -> LossSpec:
        """Returns the sum of the losses; the other fields are head -> value."""
        self._check_labels(labels)
        logits = self._split(logits)
        specs = {
            name: head.create_loss(features, mode, logits[name], labels[name])
            for name, head in self._heads.items()
        }
        return LossSpec(
            self._merge({name: spec.training_loss for name, spec in specs.items()}),
            {name: spec.unreduced_loss * self._weights[name] for name, spec in specs.items()},
            {name: spec.weights * self._weights[name] for name, spec in specs.items()},
            {name: spec.processed_labels for name, spec in specs.items()},
        )

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: Any = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> Any:
        self._check_labels(labels)
        logits = self._split(logits)
        losses = {
            name: head.loss(labels[name], logits[name], features, mode)
            for name, head in self._heads.items()
        }
        return with_penalties(self._merge(losses), regularization_losses)[0]

    def predictions(self, logits: Any, keys: Sequence[Any] | None = None) -> dict[Any, Any]:
        logits = self._split(logits)
        predictions = {
            (name, key): tensor
            for name, head in self._heads.items()
            for key, tensor in head.predictions(logits[name]).items()
        }
        return {key: predictions[key] for key in keys or predictions}

    def update_metrics(
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        mode: Any = None,
        regularization_losses: Sequence[Any] | None = None,
    ) -> dict[str, Any]:
        spec = self.create_estimator_spec(
            features, ModeKeys.EVAL, logits, labels, regularization_losses=regularization_losses
        )
        return {**eval_metrics, **spec.eval_metric_ops}

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
        logits = self._split(logits)
        if mode != ModeKeys.PREDICT:
            self._check_labels(labels)
        specs = {
            name: head.create_estimator_spec(
                features=features,
                mode=mode,
                logits=logits[name],
                labels=labels[name] if labels else None,
                train_op_fn=None if mode == ModeKeys.PREDICT else lambda _: tf.no_op(),
            )
            for name, head in self._heads.items()
        }
        predictions = {
            (name, key): tensor
            for name, spec in specs.items()
            for key, tensor in spec.predictions.items()
        }
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions, export_outputs=_merged_exports(specs))
        losses = {name: spec.loss for name, spec in specs.items()}
        loss, penalty = with_penalties(self._merge(losses), regularization_losses)
        if mode == ModeKeys.EVAL:
            return EstimatorSpec(
                mode, predictions, loss, eval_metric_ops=_merged_metrics(specs, penalty)
            )
        train_op = make_train_op(loss, optimizer, trainable_variables, train_op_fn, update_ops)
        with tf.name_scope(""):
            tf.summary.scalar(MetricKeys.LOSS, loss)
        return EstimatorSpec(mode, predictions, loss, train_op)

    def _merge(self, losses: Mapping[str, Any]) -> Any:
        with tf.name_scope(None, "merge_losses"):
            return tf.add_n([loss * self._weights[name] for name, loss in losses.items()])

    def _split(self, logits: Any) -> dict[str, Any]:
        """Returns head -> logits."""
        if isinstance(logits, dict):
            missing = sorted(set(self._heads) - set(logits))
            if missing:
                raise ValueError(f"logits has missing values for head(s): {missing}")
            return logits
        sizes = [head.logits_dimension for head in self._heads.values()]
        logits = tf.convert_to_tensor(logits)
        if logits.shape[-1] not in (None, sum(sizes)):
            raise ValueError(
                f"Could not split logits of shape {logits.shape} among the heads with individual "
                f"logits dimensions: {sizes}. The last dimension should be {sum(sizes)}."
            )
        with tf.name_scope(None, "split_logits", [logits]):
            return dict(zip(self._heads, tf.split(logits, sizes, axis=-1), strict=True))

    def _check_labels(self, labels: Any) -> None:
        if not isinstance(labels, dict):
            raise ValueError(f"labels must be a dict. Given: {labels}")
        missing = sorted(set(self._heads) - set(labels))
        if missing:
            raise ValueError(f"labels has missing values for head(s): {missing}")


def _merged_metrics(specs: Mapping[str, EstimatorSpec], penalty: Any) -> dict[str, Any]:
    metrics: dict[str, Any] = {}
    with tf.name_scope("merge_eval"):
        for name, spec in specs.items():
            metrics[f"{MetricKeys.LOSS}/{name}"] = tf.metrics.mean(spec.loss)
            metrics.update(spec.eval_metric_ops)
        if penalty is not None:
            metrics[MetricKeys.LOSS_REGULARIZATION] = tf.metrics.mean(penalty)
    return metrics


def _merged_exports(specs: Mapping[str, EstimatorSpec]) -> dict[str, Any]:
    """Returns the signatures `HEAD`, `HEAD/SIGNATURE` and `predict` of all heads."""
    first = next(iter(specs.values())).export_outputs
    outputs = {DEFAULT_SIGNATURE: first[DEFAULT_SIGNATURE]}
    predicted = {}
    for name, spec in specs.items():
        for key, output in spec.export_outputs.items():
            outputs[name if key == DEFAULT_SIGNATURE else f"{name}/{key}"] = output
            if key == "predict":
                predicted.update({f"{name}/{k}": v for k, v in output.outputs.items()})
    return {**outputs, "predict": export.PredictOutput(predicted)}
