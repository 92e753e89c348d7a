"""`ModelFnOps`, the result of a model function of tf.contrib.learn."""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator.export import ClassificationOutput, PredictOutput, RegressionOutput
from tf_frame.estimator.model_function.spec import EstimatorSpec
from tf_frame_legacy.contrib.learn.constants import (
    MetricKey,
    ModeKeys,
    PredictionKey,
    ProblemType,
)

_Fields = collections.namedtuple(
    "_Fields",
    "predictions loss train_op eval_metric_ops output_alternatives training_chief_hooks "
    "training_hooks scaffold mode",
)
_SERVING = tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY


class ModelFnOps(_Fields):
    """Tensors and objects for training, evaluation or prediction.

    Args:
      mode: one of `ModeKeys`.
      predictions: a tensor, or name -> tensor; EVAL and INFER need it.
      loss: scalar; TRAIN and EVAL need it.
      train_op: one step of training; TRAIN needs it.
      eval_metric_ops: name -> `(value, update_op)`.
      output_alternatives: name -> `(ProblemType, name -> tensor)`, for exports.
      training_chief_hooks, training_hooks, scaffold: see `tf.estimator.EstimatorSpec`.

    Raises:
      ValueError: an argument that the mode needs is missing, or has a wrong shape.
      TypeError: a hook is no session hook.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        output_alternatives: Mapping[str, Any] | None = None,
        training_chief_hooks: Sequence[Any] | None = None,
        training_hooks: Sequence[Any] | None = None,
        scaffold: Any = None,
    ) -> ModelFnOps:
        ModeKeys.validate(mode)
        if train_op is None and mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        if predictions is None and mode != ModeKeys.TRAIN:
            raise ValueError("Missing predictions.")
        if loss is None and mode != ModeKeys.INFER:
            raise ValueError("Missing loss.")
        if eval_metric_ops is not None and not isinstance(eval_metric_ops, dict):
            raise ValueError("eval_metric_ops must be a dict.")
        hooks, chief_hooks = list(training_hooks or ()), list(training_chief_hooks or ())
        for hook in hooks + chief_hooks:
            if not isinstance(hook, tf.train.SessionRunHook):
                raise TypeError(
                    "All hooks returned from model_fn must be SessionRunHook instances, got "
                    f"instance of {type(hook)}: {hook}"
                )
        return super().__new__(
            cls,
            predictions=predictions,
            loss=loss if loss is None else _scalar(loss),
            train_op=train_op,
            eval_metric_ops=eval_metric_ops or {},
            output_alternatives=output_alternatives,
            training_chief_hooks=chief_hooks,
            training_hooks=hooks,
            scaffold=scaffold,
            mode=mode,
        )

    def estimator_spec(
        self, default_serving_output_alternative_key: str | None = None
    ) -> EstimatorSpec:
        """Returns the `EstimatorSpec` of tf.estimator.

        Args:
          default_serving_output_alternative_key: name of the alternative that is served by
            default, if there are several.

        Raises:
          ValueError: an alternative has an unknown problem type.
        """
        alternatives = dict(self.output_alternatives or {})
        if len(alternatives) > 1 and _SERVING not in alternatives:
            alternatives[_SERVING] = alternatives[default_serving_output_alternative_key]
        metrics = {k: v for k, v in self.eval_metric_ops.items() if k != MetricKey.LOSS}
        return EstimatorSpec(
            self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs={k: _export(*pair) for k, pair in alternatives.items()} or None,
            training_chief_hooks=self.training_chief_hooks,
            training_hooks=self.training_hooks,
            scaffold=self.scaffold,
        )


def _scalar(loss: Any) -> Any:
    loss = tf.convert_to_tensor(loss)
    if loss.shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar: {loss}.")
    return loss if loss.shape.is_compatible_with([]) else tf.reshape(loss, [])


def _export(problem_type: int, outputs: Mapping[str, Any]) -> Any:
    scores = outputs.get(PredictionKey.SCORES)
    if scores is None:
        scores = outputs.get(PredictionKey.PROBABILITIES)
    if problem_type == ProblemType.LINEAR_REGRESSION:
        return RegressionOutput(scores)
    if problem_type in (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION):
        classes = outputs.get(PredictionKey.CLASSES)
        has_names = classes is not None and classes.dtype == tf.string
        return ClassificationOutput(scores=scores, classes=classes if has_names else None)
    if problem_type == ProblemType.UNSPECIFIED:
        return PredictOutput(dict(outputs))
    raise ValueError(f"Unknown problem_type={problem_type}")
