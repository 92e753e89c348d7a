"""What an estimator was given as its model, made into what graphs are built of."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from tf_frame.config.option import options_of
from tf_frame.config.resolve import check_names, resolve
from tf_frame.errors import ConfigError
from tf_frame.estimator.model_function.model_fn import ModelFn, check_arguments
from tf_frame.estimator.run_config.run_config import RunConfig
from tf_frame.estimator.training.setup import TrainingSetup
from tf_frame.estimator.training.setup_factory import setup_from_options
from tf_frame.plugin import InputInfo

# The loss of a model function is the whole of it, and its input knows nothing of exact resuming.
_DEFAULTS_OF_FUNCTIONS = {"regularization": "none", "allow_inexact_resume": True}


class ModelFactory:
    """Makes models, once it is known what the data is.

    Args:
      model: a model function, or a model plugin: its class or an object.
      params: of the function, or the values of the class's options.
      config: a `RunConfig`.

    Attributes:
      given: the model as it was given.
      is_function: whether it is a model function.

    Raises:
      ValueError: the model function does not take what it would get.
      ConfigError: it is no model, or parameters do not fit.
    """

    def __init__(self, model: Any, *, params: Any, config: RunConfig) -> None:
        self.given = model
        self._params = params
        self._config = config
        self.is_function = not hasattr(model, "build")
        if self.is_function:
            _check_function(model, params)
        elif isinstance(model, type):
            self._params = _resolved(model, params)
        elif params is not None:
            raise ConfigError(
                f"params {params!r:.80} are given beside a model that is already constructed; "
                "give its class, or leave them out"
            )
        self._last: Any = None

    @property
    def metric_prefix(self) -> str:
        """What tags of metrics in event files begin with."""
        return "" if self.is_function else "metrics/"

    @property
    def evaluation_has_summaries(self) -> bool:
        """Whether an evaluation writes the model's own summaries of its first batch.

        As with tf.estimator, those of a model function are of training: beside its
        metrics, whose tags have no prefix, a summary `accuracy` of one batch would
        be taken for the metric `accuracy` by all who read the events.
        """
        return not self.is_function

    def setup(self) -> TrainingSetup:
        """How the model is trained by the configuration."""
        defaults = dict(getattr(self.given, "run_defaults", {}))
        return setup_from_options(
            self._config.run_options(with_defaults=self.is_function),
            model_dir=str(self._config.model_dir),
            defaults=_DEFAULTS_OF_FUNCTIONS if self.is_function else defaults,
            transforms=getattr(self.given, "default_transforms", ()),
        )

    def model(self, info: InputInfo | None) -> Any:
        """The model for the data that `info` describes; None: as before, or unknown."""
        if self.is_function:
            return ModelFn(
                self.given,
                params={} if self._params is None else self._params,
                config=self._config,
                device_fn=self._config.device_fn,
            )
        if not isinstance(self.given, type):
            return self.given
        if info is not None or self._last is None:
            self._last = self.given(params=self._params, info=info or InputInfo())
        return self._last

    def bound_function(self) -> Callable[..., Any]:
        """The model function with its parameters."""
        if not self.is_function:
            raise ValueError(f"the model is {self.given!r:.80}, which is no model function")

        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            return self.model(None).spec(features, labels, mode, config)

        return model_fn


def _check_function(model: Any, params: Any) -> None:
    if not callable(model):
        raise ConfigError(
            f"the model is {model!r:.80}; it must be a model function or a tf_frame.Model"
        )
    check_arguments(model, params)


def _resolved(model: type, params: Any) -> Any:
    """An instance of the model's `Params`."""
    cls: Any = model.Params  # type: ignore[attr-defined]
    if dataclasses.is_dataclass(params):
        return copy.deepcopy(params)
    if params is not None and not isinstance(params, Mapping):
        raise ConfigError(f"params is {params!r:.80}; give option -> value, or a {cls.__name__}")
    values = dict(params or {})
    check_names(values, options_of(cls), "params")
    return resolve(cls, [values])
