"""More metrics for an estimator that is there already.

def small_errors(labels, predictions):
    errors = tf.abs(labels - predictions["value"])
    return {"small_errors": tf.metrics.percentage_below(errors, 0.5)}

estimator = add_metrics(estimator, small_errors)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from tf_frame.estimator.estimator import Estimator
from tf_frame.estimator.model_function.arguments import argument_names, called_with
from tf_frame.plugin import Mode

_ARGUMENTS = ("features", "labels", "predictions", "config")

MetricFunction = Callable[..., Mapping[str, Any]]


def add_metrics(estimator: Estimator, metric_fn: MetricFunction) -> Estimator:
    """Makes an estimator that evaluates by more metrics.

    Args:
      estimator: what to begin with; it stays as it is.
      metric_fn: a function of any of `features`, `labels`, `predictions` and
        `config` that returns name -> (value tensor, update op). A metric of the
        same name as one of the model takes its place.

    Returns:
      An estimator of the same class, folder, configuration and parameters.

    Raises:
      ValueError: `metric_fn` takes something else.
    """
    others = [name for name in argument_names(metric_fn) if name not in _ARGUMENTS]
    if others:
        raise ValueError(f"metric_fn ({metric_fn}) has following not expected args: {others}")
    return estimator.with_model(_measured(estimator, metric_fn))


def _measured(estimator: Estimator, metric_fn: MetricFunction) -> Any:
    """The model of an estimator, with the metrics."""
    given, config = estimator.maker.given, estimator.config
    if estimator.maker.is_function:
        with_params = "params" in argument_names(given)
        return _measured_function(estimator.model_fn, metric_fn, with_params=with_params)
    if isinstance(given, type):
        return _measured_class(given, metric_fn, config)
    return _MeasuredModel(given, metric_fn, config)


def _measured_function(
    model_fn: Callable[..., Any], metric_fn: MetricFunction, *, with_params: bool
) -> Callable[..., Any]:
    def measured(features: Any, labels: Any, mode: Any, config: Any) -> Any:
        spec = model_fn(features, labels, mode, config)
        if mode != Mode.EVAL.value:
            return spec
        own = spec.eval_metric_ops or {}
        added = _metrics(metric_fn, features, labels, spec.predictions, config)
        return spec._replace(eval_metric_ops={**own, **added})

    def measured_with_params(
        features: Any, labels: Any, mode: Any, params: Any, config: Any
    ) -> Any:
        del params  # The function has them; input functions get them from the estimator.
        return measured(features, labels, mode, config)

    return measured_with_params if with_params else measured


def _measured_class(model: Any, metric_fn: MetricFunction, config: Any) -> Any:
    class Measured(model):  # type: ignore[misc]
        def build(self, features: Any, labels: Any, mode: Mode) -> Any:
            output = super().build(features, labels, mode)
            return _with_metrics(output, metric_fn, features, labels, mode, config)

    Measured.__name__ = model.__name__
    Measured.__qualname__ = model.__qualname__
    return Measured


class _MeasuredModel:
    """A model that is constructed already, with metrics."""

    def __init__(self, model: Any, metric_fn: MetricFunction, config: Any) -> None:
        self._model = model
        self._metric_fn = metric_fn
        self._config = config

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def build(self, features: Any, labels: Any, mode: Mode) -> Any:
        """Builds the model and, for evaluation, the metrics."""
        output = self._model.build(features, labels, mode)
        return _with_metrics(output, self._metric_fn, features, labels, mode, self._config)


def _with_metrics(
    output: Any, metric_fn: MetricFunction, features: Any, labels: Any, mode: Mode, config: Any
) -> Any:
    if mode != Mode.EVAL:
        return output
    added = _metrics(metric_fn, features, labels, output.predictions, config)
    return dataclasses.replace(output, metrics={**output.metrics, **added})


def _metrics(
    metric_fn: MetricFunction, features: Any, labels: Any, predictions: Any, config: Any
) -> Mapping[str, Any]:
    found: Mapping[str, Any] = called_with(
        metric_fn, features=features, labels=labels, predictions=predictions, config=config
    )
    return found
