"""`Estimator` of tf.contrib.learn: `fit`, `evaluate` and `predict` over tf.estimator's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tf_frame.estimator.added_metrics import add_metrics
from tf_frame.estimator.argument_checks import argument_names
from tf_frame_legacy.contrib.learn.model_fn_ops import ModelFnOps
from tf_frame_legacy.estimator import estimator as core
from tf_frame_legacy.estimator.inputs import numpy_input_fn

_BATCH_SIZE = 128


class Estimator:
    """Trains, evaluates and predicts with a model function that returns `ModelFnOps`.

    Args:
      model_fn: a function of `features` and `labels` and any of `mode`, `params`, `config` and
        `model_dir`, that returns `ModelFnOps` or `(predictions, loss, train_op)`.
      model_dir, config, params: see `tf.estimator.Estimator`.
      feature_engineering_fn: function of `(features, labels)` that returns such a pair for the
        model function.

    Attributes:
      core: the estimator of tf.estimator that does the work.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: str | None = None,
        config: Any = None,
        params: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        function = _spec_function(model_fn, feature_engineering_fn, lambda: self.model_dir)
        self.core = core.Estimator(function, model_dir, config, params or {})

    @property
    def model_dir(self) -> str:
        """The folder of the checkpoints."""
        return self.core.model_dir

    @property
    def config(self) -> Any:
        """A copy of the configuration."""
        return self.core.config

    @property
    def params(self) -> Any:
        """A copy of the parameters."""
        return self.core.params

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Sequence[Any] | None = None,
        max_steps: int | None = None,
    ) -> Estimator:
        """Trains on arrays or on an input function.

        Args:
          x, y, batch_size: arrays, which are read without end, and rows per batch; default: 128.
          input_fn, steps, max_steps: see `tf.estimator.Estimator.train`.
          monitors: session hooks, or a `ValidationMonitor`.
        """
        for monitor in monitors or ():
            if hasattr(monitor, "set_estimator"):
                monitor.set_estimator(self)
        if input_fn is None:
            input_fn = numpy_input_fn(x, y, batch_size or _BATCH_SIZE, None, shuffle=True)
        self.core.train(input_fn, hooks=monitors, steps=steps, max_steps=max_steps)
        return self

    def partial_fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        steps: int | None = 1,
        batch_size: int | None = None,
        monitors: Sequence[Any] | None = None,
    ) -> Estimator:
        """Trains a few steps; see `fit`."""
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        feed_fn: Any = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Mapping[str, Any] | None = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Sequence[Any] | None = None,
        log_progress: bool = True,
    ) -> dict[str, Any]:
        """Returns metric -> value; see `tf.estimator.Estimator.evaluate`.

        Args:
          metrics: name -> `MetricSpec`, in addition to the metrics of the model.
          feed_fn: must be None.
        """
        del log_progress
        if feed_fn is not None:
            raise ValueError("feed_fn is not supported; give hooks=[tf.train.FeedFnHook(feed_fn)]")
        if input_fn is None:
            input_fn = numpy_input_fn(x, y, batch_size or _BATCH_SIZE, shuffle=False)
        estimator: core.Estimator = self.with_metrics(metrics)
        return estimator.evaluate(input_fn, steps, hooks, checkpoint_path, name)

    def with_metrics(self, metrics: Mapping[str, Any] | None) -> Any:
        """Returns the estimator of tf.estimator, with further metrics."""
        if not metrics:
            return self.core

        def metric_fn(features: Any, labels: Any, predictions: Any) -> dict[str, Any]:
            return {
                key: spec.create_metric_ops(features, labels, predictions)
                for key, spec in metrics.items()
            }

        return add_metrics(self.core, metric_fn)

    def predict(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Iterator[Any]:
        """Yields predictions, one for each example or, with `iterate_batches`, batch.

        Args:
          outputs: names of the predictions; default: all.
          as_iterable: must be true.
        """
        if not as_iterable:
            raise ValueError("as_iterable=False is not supported; np.stack the predictions")
        if input_fn is None:
            input_fn = numpy_input_fn(x, None, batch_size or _BATCH_SIZE, shuffle=False)
        return self.core.predict(
            input_fn, predict_keys=outputs, yield_single_examples=not iterate_batches
        )

    def export_savedmodel(
        self,
        export_dir_base: str,
        serving_input_fn: Callable[[], Any],
        default_output_alternative_key: str | None = None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
    ) -> bytes:
        """Exports the model; `serving_input_fn` returns a `ServingInputReceiver`."""
        del default_output_alternative_key
        return self.core.export_saved_model(
            export_dir_base, serving_input_fn, assets_extra, as_text, checkpoint_path
        )

    def get_variable_names(self) -> list[str]:
        """Returns the names of the variables in the newest checkpoint."""
        return self.core.get_variable_names()

    def get_variable_value(self, name: str) -> Any:
        """Returns the value of a variable in the newest checkpoint."""
        return self.core.get_variable_value(name)


class SKCompat:
    """An `Estimator` with the arrays of scikit-learn: `fit(x, y)`, `score(x, y)`, `predict(x)`."""

    def __init__(self, estimator: Estimator) -> None:
        self._estimator = estimator

    def fit(
        self,
        x: Any,
        y: Any,
        batch_size: int = _BATCH_SIZE,
        steps: int | None = None,
        max_steps: int | None = None,
        monitors: Sequence[Any] | None = None,
    ) -> SKCompat:
        """Trains; see `Estimator.fit`."""
        self._estimator.fit(
            x, y, steps=steps, batch_size=batch_size, monitors=monitors, max_steps=max_steps
        )
        return self

    def score(
        self,
        x: Any,
        y: Any,
        batch_size: int = _BATCH_SIZE,
        steps: int | None = None,
        metrics: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluates; see `Estimator.evaluate`."""
        return self._estimator.evaluate(
            x, y, batch_size=batch_size, steps=steps, metrics=metrics, name=name
        )

    def predict(
        self, x: Any, batch_size: int = _BATCH_SIZE, outputs: Sequence[str] | None = None
    ) -> Any:
        """Returns the predictions of all rows as an array, or name -> array."""
        rows = list(self._estimator.predict(x, batch_size=batch_size, outputs=outputs))
        if rows and isinstance(rows[0], dict):
            return {name: np.stack([row[name] for row in rows]) for name in rows[0]}
        return np.stack(rows)


def _spec_function(
    model_fn: Callable[..., Any],
    engineer: Callable[[Any, Any], Any] | None,
    model_dir: Callable[[], str],
) -> Callable[..., Any]:
    """Returns the model function of tf.estimator."""
    names = argument_names(model_fn)

    def function(features: Any, labels: Any, mode: str, params: Any, config: Any) -> Any:
        if engineer is not None:
            features, labels = engineer(features, labels)
        offered = {"mode": mode, "params": params, "config": config}
        optional = {name: value for name, value in offered.items() if name in names}
        if "model_dir" in names:
            optional["model_dir"] = model_dir()
        # By position: the second argument has the name `labels` or `targets`.
        result = model_fn(features, labels, **optional)
        if isinstance(result, ModelFnOps):
            return result.estimator_spec()
        predictions, loss, train_op = result
        return ModelFnOps(mode, predictions, loss, train_op).estimator_spec()

    return function
