"""`ModelFactory`: constructs the model plugin of an estimator from its `model` argument."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from tf_frame.config.option import check_names, options_of, resolve
from tf_frame.config.yaml_file import Settings
from tf_frame.errors import ConfigError
from tf_frame.estimator.model_function.model_fn import ModelFn, check_arguments
from tf_frame.estimator.run_config.run_config import RunConfig
from tf_frame.estimator.training.setup import TrainingSetup
from tf_frame.estimator.training.setup_factory import settings_of_model, setup_from_options
from tf_frame.plugin import InputInfo

# The loss of a model function includes regularization, and its input cannot promise exact resuming.
_DEFAULTS_OF_FUNCTIONS = Settings(
    values={"regularization": "none", "allow_inexact_resume": True}, path="model function"
)


class ModelFactory:
    """Constructs a model as soon as an input has described its data.

    Args:
      model: a model function, or a model plugin: its class or an object.
      params: parameters of the function, or values of the class's options.
      config: argument `config` of a model function; None for an estimator that was
        given a `TrainingSetup`.

    Attributes:
      given: the argument `model`.
      is_function: whether `model` is a model function.

    Raises:
      ValueError: the arguments of the model function are wrong.
      ConfigError: `model` is not a model, or the parameters do not fit.
    """

    def __init__(self, model: Any, *, params: Any, config: RunConfig | None) -> None:
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
        """Prefix of the tags of metrics in event files."""
        return "" if self.is_function else "metrics/"

    @property
    def evaluation_has_summaries(self) -> bool:
        """True if an evaluation writes the model's own summaries of its first batch.

        Like tf.estimator, the evaluation of a model function writes none: its metrics
        have no prefix, so readers of the events would take a summary `accuracy` of one
        batch for the metric `accuracy`.
        """
        return not self.is_function

    def setup(self) -> TrainingSetup:
        """Returns the training setup that `config` and the model's defaults amount to."""
        assert self._config is not None
        defaults = _DEFAULTS_OF_FUNCTIONS
        if not self.is_function:
            defaults = settings_of_model(self.given, getattr(self.given, "__name__", "given"))
        return setup_from_options(
            self._config.run_options(with_defaults=self.is_function),
            model_dir=str(self._config.model_dir),
            defaults=defaults,
        )

    def model(self, info: InputInfo | None) -> Any:
        """Returns the model for a data set.

        Args:
          info: description of the data; None for the description of the call before.
        """
        if self.is_function:
            return ModelFn(
                self.given,
                params={} if self._params is None else self._params,
                config=self._config,
                device_fn=None if self._config is None else self._config.device_fn,
            )
        if not isinstance(self.given, type):
            return self.given
        if info is not None or self._last is None:
            self._last = self.given(params=self._params, info=info or InputInfo())
        return self._last

    def bound_function(self) -> Callable[..., Any]:
        """Returns the model function, bound to its parameters."""
        if not self.is_function:
            raise ValueError(f"the model is {self.given!r:.80}, which is not a model function")

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
    """Returns an instance of the model's `Params`."""
    cls: Any = model.Params  # type: ignore[attr-defined]
    if dataclasses.is_dataclass(params):
        return copy.deepcopy(params)
    if params is not None and not isinstance(params, Mapping):
        raise ConfigError(f"params is {params!r:.80}; give option -> value, or a {cls.__name__}")
    values = dict(params or {})
    check_names(values, options_of(cls), "params")
    return resolve(cls, [values])
