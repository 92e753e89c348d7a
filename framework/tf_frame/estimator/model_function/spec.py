"""What a model function returns: `EstimatorSpec`, checked as tf.estimator checks it.

def model_fn(features, labels, mode, params):
    logits = tf.layers.dense(features["x"], params["classes"])
    if mode == ModeKeys.PREDICT:
        return EstimatorSpec(mode, predictions={"logits": logits})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    return EstimatorSpec(mode, loss=loss)
"""

from __future__ import annotations

import collections
from typing import Any

from tf_frame.estimator.model_function.spec_checks import (
    checked_hooks,
    checked_loss,
    checked_metrics,
    checked_predictions,
    checked_scaffold,
    checked_train_op,
)
from tf_frame.estimator.model_function.spec_exports import checked_exports


class ModeKeys:
    """The modes of a model function; plain strings, equal to `tf_frame.Mode`."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


_Fields = collections.namedtuple(
    "_Fields",
    [
        "mode",
        "predictions",
        "loss",
        "train_op",
        "eval_metric_ops",
        "export_outputs",
        "training_chief_hooks",
        "training_hooks",
        "scaffold",
        "evaluation_hooks",
        "prediction_hooks",
    ],
)


class EstimatorSpec(_Fields):
    """The tensors and objects by which tf-frame trains, evaluates, predicts and exports.

    A model function may fill in more than its mode needs; the rest is ignored.
    Arguments, checks and texts are those of tensorflow_estimator, model_fn.py,
    but for one: in TRAIN a spec may leave out `train_op`; tf-frame then makes
    the training graph of its loss, with the optimizer of the options.

    Args:
      mode: one of `ModeKeys`.
      predictions: a tensor, or a dict of them; their first dimension is the
        batch. PREDICT needs it.
      loss: scalar, or of shape `[1]`, which becomes a scalar. TRAIN and EVAL need it.
      train_op: an operation or tensor that makes one step and moves the global step.
      eval_metric_ops: name -> `(value, update_op)`, as `tf.compat.v1.metrics` makes
        them, or an object like a metric of Keras 2 (tf-keras) that was updated in this graph.
      export_outputs: signature name -> one of `tf_frame.estimator.export`; of several, one
        is named `serving_default`. Default: the predictions as `serving_default`.
      training_chief_hooks: session hooks that only the chief needs in training.
      training_hooks: those that every worker needs in training.
      scaffold: a `tf.compat.v1.train.Scaffold`; default: a new one.
      evaluation_hooks: session hooks of evaluation.
      prediction_hooks: session hooks of prediction.

    Raises:
      ValueError: something the mode needs is missing, has a wrong shape, or
        belongs to another graph.
      TypeError: something has the wrong type.
    """

    __slots__ = ()

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
        train_op = checked_train_op(train_op)
        loss = checked_loss(loss, needed=mode in (ModeKeys.TRAIN, ModeKeys.EVAL))
        predictions = checked_predictions(predictions, needed=mode == ModeKeys.PREDICT)
        if mode == ModeKeys.PREDICT:
            export_outputs = checked_exports(export_outputs, predictions)
        return super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            training_hooks=checked_hooks(training_hooks),
            evaluation_hooks=checked_hooks(evaluation_hooks),
            prediction_hooks=checked_hooks(prediction_hooks),
            training_chief_hooks=checked_hooks(training_chief_hooks),
            eval_metric_ops=checked_metrics(eval_metric_ops),
            scaffold=checked_scaffold(scaffold),
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
