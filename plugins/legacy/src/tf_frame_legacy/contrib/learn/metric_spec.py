"""`MetricSpec`: a metric function, and the predictions, labels and weights that it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tf_frame.estimator.argument_checks import argument_names

_LABELS = ("labels", "label", "targets", "target")
_PREDICTIONS = ("predictions", "prediction")
_WEIGHTS = ("weights", "weight")


class MetricSpec:
    """A metric for `Estimator.evaluate`.

    Args:
      metric_fn: a function of predictions, of predictions and labels, or of these and weights. Its
        arguments have the names `predictions`, `labels` (or `targets`) and `weights`, or come in
        this order.
      prediction_key, label_key: names of the tensors, if there are several.
      weight_key: name of a feature with the weights of the examples; default: no weights.
    """

    def __init__(
        self,
        metric_fn: Callable[..., Any],
        prediction_key: str | None = None,
        label_key: str | None = None,
        weight_key: str | None = None,
    ) -> None:
        self._function = metric_fn
        self.prediction_key = prediction_key
        self.label_key = label_key
        self.weight_key = weight_key

    @property
    def metric_fn(self) -> Callable[..., Any]:
        """The function, with the arguments `predictions`, `labels` and `weights`."""
        return self._call

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """Returns the result of the function for the tensors of a batch.

        Raises:
          ValueError: a name is missing, or given for a single tensor.
          KeyError: there is no tensor of the name.
        """
        return self._call(
            predictions=_choose("prediction", predictions, self.prediction_key),
            labels=_choose("label", labels, self.label_key),
            weights=inputs[self.weight_key] if self.weight_key else None,
        )

    def __str__(self) -> str:
        name = getattr(self._function, "__name__", repr(self._function))
        return (
            f"MetricSpec(metric_fn={name}, prediction_key={self.prediction_key}, "
            f"label_key={self.label_key}, weight_key={self.weight_key})"
        )

    def _call(self, predictions: Any, labels: Any = None, weights: Any = None) -> Any:
        names = argument_names(self._function)
        values = {_PREDICTIONS: predictions, _LABELS: labels, _WEIGHTS: weights}
        named = {name: values[kind] for kind in values for name in names if name in kind}
        if any(name in _PREDICTIONS for name in names):
            if weights is None:
                named = {name: v for name, v in named.items() if name not in _WEIGHTS}
            return self._function(**named)
        arguments = [predictions, labels][: len(names)]
        return self._function(*arguments, **({} if weights is None else {"weights": weights}))


def _choose(kind: str, tensors: Any, key: str | None) -> Any:
    if not key:
        if not isinstance(tensors, dict):
            return tensors
        if len(tensors) != 1:
            raise ValueError(
                f"MetricSpec without specified {kind}_key requires {kind}s tensor or single "
                f"element dict, got {tensors}"
            )
        return next(iter(tensors.values()))
    if not isinstance(tensors, dict):
        raise ValueError(
            f"MetricSpec with {kind}_key specified requires {kind}s dict, got {tensors}. You must "
            f"not provide a {kind}_key if you only have a single Tensor as {kind}s."
        )
    if key not in tensors:
        raise KeyError(f"Key '{key}' missing from {list(tensors)}.")
    return tensors[key]
