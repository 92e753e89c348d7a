"""`add_metrics`: further metrics for an existing estimator, without a change to its model.

def small_errors(labels, predictions):
    errors = tf.abs(labels - predictions["value"])
    return {"small_errors": tf.metrics.percentage_below(errors, 0.5)}

estimator = add_metrics(estimator, small_errors)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from tf_frame.estimator.argument_checks import argument_names, called_with, check_takes
from tf_frame.estimator.estimator import Estimator
from tf_frame.plugin import Mode

MetricFunction = Callable[..., Mapping[str, Any]]


def add_metrics(estimator: Estimator, metric_fn: MetricFunction) -> Estimator:
    """Returns an estimator that evaluates further metrics.

    Args:
      estimator: the estimator to extend; it is not changed.
      metric_fn: takes any of `features`, `labels`, `predictions` and `config`; returns name ->
        (value tensor, update op). A metric replaces the model's metric of the same name.

    Returns:
      An estimator of the same class, folder, configuration and parameters.

    Raises:
      ValueError: `metric_fn` takes another argument.
    """
    arguments = ("features", "labels", "predictions", "config")
    check_takes("metric_fn", metric_fn, optional=arguments)
    model, config = estimator.model_factory.argument, estimator.config
    if estimator.model_factory.is_function:
        takes_params = "params" in argument_names(model)
        return estimator.with_model(_extend_function(estimator.model_fn, metric_fn, takes_params))

    def extend(output: Any, features: Any, labels: Any, mode: Mode) -> Any:
        if mode != Mode.EVAL:
            return output
        batch = {"features": features, "labels": labels, "predictions": output.predictions}
        metrics = called_with(metric_fn, **batch, config=config)
        return dataclasses.replace(output, metrics={**output.metrics, **metrics})

    is_class = isinstance(model, type)
    return estimator.with_model((_subclass if is_class else _ExtendedModel)(model, extend))


def _extend_function(
    model_fn: Callable[..., Any], metric_fn: MetricFunction, takes_params: bool
) -> Any:
    """Returns a model function with the metrics, of the same arguments as the original."""

    def extended(features: Any, labels: Any, mode: Any, config: Any) -> Any:
        spec = model_fn(features, labels, mode, config)
        if mode != Mode.EVAL.value:
            return spec
        metrics = called_with(
            metric_fn, features=features, labels=labels, predictions=spec.predictions, config=config
        )
        return spec._replace(eval_metric_ops={**(spec.eval_metric_ops or {}), **metrics})

    def extended_with_params(
        features: Any, labels: Any, mode: Any, params: Any, config: Any
    ) -> Any:
        del params  # `model_fn` is bound to them. The argument keeps them for input functions.
        return extended(features, labels, mode, config)

    return extended_with_params if takes_params else extended


def _subclass(model: Any, extend: Callable[..., Any]) -> Any:
    """Returns a subclass of a model plugin, with the metrics."""

    class Extended(model):  # type: ignore[misc]
        def build(self, features: Any, labels: Any, mode: Mode) -> Any:
            return extend(super().build(features, labels, mode), features, labels, mode)

    Extended.__name__ = model.__name__
    Extended.__qualname__ = model.__qualname__
    return Extended


class _ExtendedModel:
    """A constructed model with the metrics; other attributes come from the model."""

    def __init__(self, model: Any, extend: Callable[..., Any]) -> None:
        self._model = model
        self._extend = extend

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def build(self, features: Any, labels: Any, mode: Mode) -> Any:
        """Builds the model and, for evaluation, the metrics."""
        return self._extend(self._model.build(features, labels, mode), features, labels, mode)
