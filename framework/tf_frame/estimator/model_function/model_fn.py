"""`ModelFn`: a model function of tf.estimator with the interface of a model plugin.

def model_fn(features, labels, mode, params, config):   # any subset with features
    ...
    return EstimatorSpec(mode, loss=loss)
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator.argument_checks import argument_names, called_with, check_takes
from tf_frame.estimator.model_function.spec import EstimatorSpec
from tf_frame.plugin import Mode, ModelOutput
from tf_frame.text import short_repr

_OPTIONAL = ("labels", "mode", "params", "config")
_RESERVED = {"loss": '"loss"', "global_step": "`global_step`"}


def check_arguments(function: Callable[..., Any], params: Any) -> None:
    """Checks the arguments of a model function.

    Raises:
      ValueError: an argument is missing or unknown, with the texts of tf.estimator
        (`verify_model_fn_args` of its model_fn.py).
    """
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


class ModelFn:
    """Makes a model function look like a model plugin.

    Args:
      function: the model function.
      params, config: its arguments of these names; it gets copies.
      device_fn: device or device function for the operations that it adds; None for any.
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
          ValueError: the function does not take labels, does not return an
            `EstimatorSpec`, or a metric has the name of one of the estimator's own.
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
        return ModelOutput(
            loss=spec.loss,
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
