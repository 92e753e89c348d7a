"""`TPUEstimatorSpec`, the result of a model function of `TPUEstimator`.

    def metric_fn(labels, logits):
        return {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, axis=-1))}

    TPUEstimatorSpec(mode, loss=loss, eval_metrics=(metric_fn, [labels, logits]))

Fields, checks and error texts are taken from tensorflow_estimator 1.15, tpu_estimator.py.
"""

from __future__ import annotations

import collections
import inspect
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator.argument_checks import argument_names, checked_hooks
from tf_frame.estimator.model_function.spec import EstimatorSpec

# Initialisers of the writers of tf.contrib.summary, in a collection of TensorFlow.
_WRITERS = "_SUMMARY_WRITER_V2"
_HOOKS = "All hooks must be SessionRunHook instances"

_Fields = collections.namedtuple(
    "_Fields",
    "mode predictions loss train_op eval_metrics export_outputs scaffold_fn host_call "
    "training_hooks evaluation_hooks prediction_hooks",
)


class TPUEstimatorSpec(_Fields):
    """Tensors and functions for training, evaluation, prediction or export.

    Args:
      mode, predictions, loss, train_op, export_outputs: see `EstimatorSpec`.
      eval_metrics: `(function, tensors)`; the function takes the tensors, a list, or a dict for
        keyword arguments, and returns name -> `(value, update_op)`.
      scaffold_fn: function without arguments that returns a `tf.train.Scaffold`.
      host_call: `(function, tensors)`; the operations that the function returns run in every step.
      training_hooks, evaluation_hooks, prediction_hooks: session hooks.

    Raises:
      ValueError, TypeError, RuntimeError: `eval_metrics` or `host_call` has the wrong form.
    """

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metrics: Any = None,
        export_outputs: Any = None,
        scaffold_fn: Any = None,
        host_call: Any = None,
        training_hooks: Any = None,
        evaluation_hooks: Any = None,
        prediction_hooks: Any = None,
    ) -> TPUEstimatorSpec:
        _check_call("eval_metrics", eval_metrics)
        _check_call("host_call", host_call)
        return super().__new__(
            cls,
            mode,
            predictions,
            loss,
            train_op,
            eval_metrics,
            export_outputs,
            scaffold_fn,
            host_call,
            checked_hooks(training_hooks, _HOOKS),
            checked_hooks(evaluation_hooks, _HOOKS),
            checked_hooks(prediction_hooks, _HOOKS),
        )

    def as_estimator_spec(self) -> EstimatorSpec:
        """Returns the `EstimatorSpec`; calls the functions in the default graph."""
        metrics = _call(self.eval_metrics)
        hooks = () if self.host_call is None else (HostCallHook(_call(self.host_call)),)
        return EstimatorSpec(
            self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=self.training_hooks + hooks,
            evaluation_hooks=self.evaluation_hooks + hooks,
            prediction_hooks=self.prediction_hooks + hooks,
        )


class HostCallHook(tf.train.SessionRunHook):  # type: ignore[misc]
    """Runs the operations of a host call in every step.

    Initialises the writers of `tf.contrib.summary` before, and flushes them at the end.

    Args:
      operations: operations or tensors, in any structure.
    """

    def __init__(self, operations: Any) -> None:
        self._operations = operations

    def begin(self) -> None:
        self._initializers = tf.get_collection(_WRITERS)
        self._flushes = [
            tf.raw_ops.FlushSummaryWriter(writer=initializer.inputs[0])
            for initializer in self._initializers
        ]

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._initializers)

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self._operations)

    def end(self, session: Any) -> None:
        session.run(self._flushes)


def _call(call: Any) -> Any:
    """Returns the result of a function and its tensors; None without a function."""
    if call is None:
        return None
    function, tensors = call
    return function(**tensors) if isinstance(tensors, dict) else function(*tensors)


def _check_call(name: str, call: Any) -> None:
    if call is None:
        return
    if not isinstance(call, (tuple, list)):
        raise ValueError(f"{name} should be tuple or list")
    if len(call) != 2:
        raise ValueError(f"{name} should have two elements.")
    function, tensors = call
    if not callable(function):
        raise TypeError(f"{name}[0] should be callable.")
    if not isinstance(tensors, (tuple, list, dict)):
        raise ValueError(f"{name}[1] should be tuple or list, or dict.")
    if isinstance(tensors, dict) or inspect.getfullargspec(function).varargs:
        return
    arguments = argument_names(function)
    if len(tensors) != len(arguments):
        raise RuntimeError(
            f"In TPUEstimatorSpec.{name}, length of tensors {len(tensors)} does not match method "
            f"args of the function, which takes {len(arguments)}."
        )
