"""`TPUEstimator` without a TPU: an `Estimator` that tells functions their batch size."""

from __future__ import annotations

import enum
import weakref
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.estimator.argument_checks import argument_names, called_with
from tf_frame.estimator.model_function.model_factory import check_function
from tf_frame.estimator.model_function.spec import ModeKeys
from tf_frame_legacy.contrib.tpu.config import RunConfig
from tf_frame_legacy.contrib.tpu.spec import TPUEstimatorSpec
from tf_frame_legacy.estimator.estimator import Estimator

_RESERVED = ["batch_size", "context"]
_NO_PARAMS = (
    "{} ({}) does not include params argument, required by TPUEstimator to pass batch size as "
    'params["batch_size"]'
)


class ExportSavedModelApiVersion(enum.Enum):
    """Version of the export for TPUs; without effect."""

    V1 = 1
    V2 = 2


class TPUEstimator(Estimator):
    """An `Estimator` that sets `params["batch_size"]` and `params["use_tpu"]`.

    The batch size is the one of the mode; it is missing where the constructor got none, and in an
    export. It is not divided by `TPUConfig.num_shards`, because there is one shard. `params` may
    be a dict or an `HParams`.

    Args:
      model_fn: a function with the argument `params` that returns a `TPUEstimatorSpec` or an
        `EstimatorSpec`.
      model_dir, params, warm_start_from: see `Estimator`.
      config: a `tf.estimator.tpu.RunConfig`.
      use_tpu: must be False.
      train_batch_size, eval_batch_size, predict_batch_size: examples of a batch.
      batch_axis, eval_on_tpu, export_to_tpu, embedding_config_spec,
        export_saved_model_api_version: without effect. An export has one graph, for CPUs and GPUs.
      export_to_cpu: must be true: there is no export for TPUs alone.

    Raises:
      ConfigError: a TPU is asked for.
      ValueError: `config` has another type, or `params` has the key `batch_size` or `context`.
    """

    def __init__(
        self,
        model_fn: Any = None,
        model_dir: Any = None,
        config: Any = None,
        params: Any = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: Any = None,
        embedding_config_spec: Any = None,
        export_saved_model_api_version: ExportSavedModelApiVersion = ExportSavedModelApiVersion.V1,
    ) -> None:
        del batch_axis, eval_on_tpu, export_to_tpu
        del embedding_config_spec, export_saved_model_api_version
        if not isinstance(config, RunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and any(key in params for key in _RESERVED):
            raise ValueError(f"{_RESERVED} are reserved keys but existed in params {params}.")
        if use_tpu or not export_to_cpu:
            raise ConfigError(
                f"TPUEstimator(use_tpu={use_tpu}, export_to_cpu={export_to_cpu}): tf-frame runs on "
                "CPUs and GPUs, not on TPUs; pass use_tpu=False (the default is True; most "
                "programs have a flag: --use_tpu=False), and leave export_to_cpu out"
            )
        check_function(model_fn, params)
        self._batch_sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        # Graphs in which the input function was called: not those of exports.
        self._input_graphs: weakref.WeakSet[Any] = weakref.WeakSet()
        super().__init__(
            self._model_function(model_fn),
            model_dir=model_dir,
            config=config,
            params=params or {},
            warm_start_from=warm_start_from,
        )

    def source(self, input_fn: Any) -> Any:
        """Returns the input plugin of an input function, which gets its batch size."""
        if hasattr(input_fn, "dataset") and hasattr(input_fn, "info"):
            return super().source(input_fn)
        if "params" not in argument_names(input_fn):
            raise ValueError(_NO_PARAMS.format("input_fn", input_fn))

        def sized_input_fn(mode: str, params: Any, config: Any, input_context: Any) -> Any:
            self._set_batch_size(params, mode)
            self._input_graphs.add(tf.get_default_graph())
            arguments = {"mode": mode, "params": params, "config": config}
            return called_with(input_fn, input_context=input_context, **arguments)

        return super().source(sized_input_fn)

    def _model_function(self, model_fn: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the function with batch size, and with an `EstimatorSpec` as result."""

        def sized_model_fn(features: Any, labels: Any, mode: str, params: Any, config: Any) -> Any:
            names = argument_names(model_fn)
            if labels is not None and "labels" not in names:
                raise ValueError("model_fn does not take labels, but input_fn returns labels.")
            if "params" not in names:
                raise ValueError(_NO_PARAMS.format("model_fn", model_fn))
            if tf.get_default_graph() in self._input_graphs:
                self._set_batch_size(params, mode)
            _set(params, "use_tpu", False)
            arguments = {"labels": labels, "mode": mode, "params": params, "config": config}
            spec = called_with(model_fn, features=features, **arguments)
            return spec.as_estimator_spec() if isinstance(spec, TPUEstimatorSpec) else spec

        return sized_model_fn

    def _set_batch_size(self, params: Any, mode: str) -> None:
        if self._batch_sizes.get(mode) is not None:
            _set(params, "batch_size", self._batch_sizes[mode])


def export_estimator_savedmodel(
    estimator: Any,
    export_dir_base: str,
    serving_input_receiver_fn: Callable[[], Any],
    assets_extra: Any = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> bytes:
    """Exports the model of a `TPUEstimator` for CPUs and GPUs.

    See `Estimator.export_saved_model` for the arguments.
    """
    return bytes(
        estimator.export_saved_model(
            export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path
        )
    )


def _set(params: Any, name: str, value: Any) -> None:
    """Sets a parameter in a dict or an `HParams`."""
    if not hasattr(params, "set_hparam"):
        params[name] = value
    elif name in params:
        params.set_hparam(name, value)
    else:
        params.add_hparam(name, value)
