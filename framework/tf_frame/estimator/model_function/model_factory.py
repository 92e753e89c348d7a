"""`ModelFactory`, `ModelFn`: make the model plugin of an Estimator from its `model` argument.

Training, evaluation and export take plugins only. The constructor of a plugin takes a
description of the data, so it is called once the input has given one. The `model` argument is a
model plugin, or a model function of tf.estimator:

    def model_fn(features, labels, mode, params, config):   # any subset with features
        ...
        return EstimatorSpec(mode, loss=loss)
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.option import check_names, declared_options, resolve
from tf_frame.config.yaml_file import Settings
from tf_frame.errors import ConfigError
from tf_frame.estimator.argument_checks import argument_names, called_with, check_takes
from tf_frame.estimator.model_function.spec import EstimatorSpec
from tf_frame.estimator.run_config.run_config import RunConfig
from tf_frame.plugin import InputInfo, Mode, ModelOutput
from tf_frame.plugin.model_settings import model_settings
from tf_frame.runs.setup.plugin_choice import setup_from_options
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.text import short_repr

# The loss of a model function includes regularization. An input function cannot resume exactly.
_FUNCTION_DEFAULTS = Settings(
    values={"regularization": "none", "allow_inexact_resume": True}, path="model function"
)
_OPTIONAL = ("labels", "mode", "params", "config")
_RESERVED = {"loss": '"loss"', "global_step": "`global_step`"}


class ModelFactory:
    """Constructs the model of an Estimator once the input has described its data.

    Args:
      argument: the argument `model` of an Estimator: a model function, or the class or an object
        of a model plugin.
      params: parameters of the function, or values of the class's options.
      config: argument `config` of a model function.

    Attributes:
      is_function: whether the argument is a model function.

    Raises:
      ValueError: the arguments of the model function are wrong.
      ConfigError: the argument is not a model, or the parameters do not fit.
    """

    def __init__(self, argument: Any, *, params: Any, config: RunConfig) -> None:
        self.argument = argument
        self._params = params
        self._config = config
        self.is_function = not hasattr(argument, "build")
        if self.is_function:
            check_function(argument, params)
        elif isinstance(argument, type):
            self._params = _resolve_params(argument, params)
        elif params is not None:
            raise ConfigError(
                f"params {params!r:.80} are given for a model that is already constructed; "
                "give its class, or leave them out"
            )
        self._last: Any = None

    def setup(self) -> TrainingSetup:
        """Returns the training setup from `config` and the model's defaults."""
        defaults = _FUNCTION_DEFAULTS
        if not self.is_function:
            name = getattr(self.argument, "__name__", "given")
            variant = getattr(self._params, "name", None)
            defaults = model_settings(self.argument, name, variant)
        return setup_from_options(
            self._config.run_options(with_defaults=self.is_function),
            model_dir=str(self._config.model_dir),
            defaults=defaults,
        )

    def model(self, info: InputInfo | None) -> Any:
        """Returns the model for a data set.

        Args:
          info: description of the data; None for the description of the last call.
        """
        if self.is_function:
            return ModelFn(
                self.argument,
                params={} if self._params is None else self._params,
                config=self._config,
                device_fn=self._config.device_fn,
            )
        if not isinstance(self.argument, type):
            return self.argument
        if info is not None or self._last is None:
            self._last = self.argument(params=self._params, info=info or InputInfo())
        return self._last

    def bound_function(self) -> Callable[..., Any]:
        """Returns the model function, bound to its parameters."""
        if not self.is_function:
            raise ValueError(f"the model is {self.argument!r:.80}, which is not a model function")

        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            return self.model(None).spec(features, labels, mode, config)

        return model_fn


class ModelFn:
    """Adapts a model function to the interface of a model plugin.

    Args:
      function: the model function.
      params, config: its arguments, passed as copies.
      device_fn: device or device function for its operations; None for any.
    """

    def __init__(
        self, function: Callable[..., Any], *, params: Any, config: Any, device_fn: Any = None
    ) -> None:
        self.function = function
        self._params = params
        self._config = config
        self._device_fn = device_fn

    def build(self, features: Any, labels: Any, mode: Mode) -> ModelOutput:
        """Builds one clone; see `tf_frame.Model.build`.

        Raises:
          ValueError: the function does not take labels, does not return an `EstimatorSpec`, or
            returns a metric with a reserved name.
        """
        spec = self.spec(features, labels, mode.value, self._config)
        metrics = dict(spec.eval_metric_ops or {})
        for name, quoted in _RESERVED.items():
            if mode == Mode.EVAL and name in metrics:
                raise ValueError(
                    f"Metric with name {quoted} is not allowed, because Estimator already defines "
                    "a default metric with the same name."
                )
        hooks = {
            Mode.TRAIN: spec.training_hooks,
            Mode.EVAL: spec.evaluation_hooks,
            Mode.PREDICT: spec.prediction_hooks,
        }
        # As in tf.estimator, the loss of an evaluation is the mean over the batches.
        terms = [(spec.loss, tf.ones([]))] if mode == Mode.EVAL and spec.loss is not None else []
        return ModelOutput(
            loss=spec.loss,
            loss_terms=terms,
            predictions={} if spec.predictions is None else spec.predictions,
            metrics={} if mode == Mode.PREDICT else metrics,
            exports=spec.export_outputs or {},
            train_op=spec.train_op if mode == Mode.TRAIN else None,
            hooks=tuple(hooks[mode] or ()),
            chief_hooks=tuple(spec.training_chief_hooks or ()),
            scaffold=spec.scaffold,
        )

    def spec(self, features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        """Calls the function and checks the type of the result; see `build`."""
        if labels is not None and "labels" not in argument_names(self.function):
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        with tf.device(self._device_fn):
            result = called_with(
                self.function,
                features=features,
                labels=labels,
                mode=mode,
                params=copy.deepcopy(self._params),
                config=copy.deepcopy(config),
            )
        if not isinstance(result, EstimatorSpec):
            raise ValueError(
                f"model_fn should return an EstimatorSpec. It returned {short_repr(result)}"
            )
        return result


def check_function(function: Any, params: Any) -> None:
    """Checks a model function and its arguments.

    Raises:
      ConfigError: `function` is not callable.
      ValueError: an argument is missing or unknown; with the texts of tf.estimator
        (`verify_model_fn_args` in model_fn.py).
    """
    if not callable(function):
        raise ConfigError(
            f"the model is {function!r:.80}; it must be a model function or a tf_frame.Model"
        )
    check_takes("model_fn", function, required=["features"], optional=_OPTIONAL)
    takes_params = "params" in argument_names(function)
    if params is not None and not takes_params:
        raise ValueError(
            f"model_fn ({function}) does not include params argument, but params ({params}) is "
            "passed to Estimator."
        )
    if params is None and takes_params:
        tf.logging.warn(
            "Estimator's model_fn (%s) includes params argument, but params are not passed to "
            "Estimator.",
            function,
        )


def _resolve_params(model: type, params: Any) -> Any:
    """Returns an instance of the model's `Params`."""
    cls: Any = model.Params  # type: ignore[attr-defined]
    if dataclasses.is_dataclass(params):
        return copy.deepcopy(params)
    if params is not None and not isinstance(params, Mapping):
        raise ConfigError(f"params is {params!r:.80}; give option -> value, or a {cls.__name__}")
    values = dict(params or {})
    check_names(values, declared_options(cls), "params")
    return resolve(cls, [values])
