"""Estimators and optimizers with additions, and exports of `tf.contrib.estimator`.

Source: tensorflow_estimator 1.15, contrib/estimator: extenders.py, export.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator.argument_checks import argument_names
from tf_frame.estimator.export import PredictOutput
from tf_frame.estimator.model_function.spec import ModeKeys
from tf_frame.hooks.by_name.early_stopping import EvalMetricsReader

_SERVED = ("predict", "serving_default")


class TransformedGradients(tf.train.Optimizer):  # type: ignore[misc]
    """An optimizer that transforms the gradients before another optimizer applies them.

    Args:
      optimizer: the other optimizer.
      transform: takes and returns pairs of gradient and variable.
      name: name of the optimizer.
    """

    def __init__(self, optimizer: Any, transform: Callable[[Any], Any], name: str) -> None:
        super().__init__(use_locking=False, name=name)
        self._optimizer, self._transform = optimizer, transform

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the pairs of gradient and variable of the other optimizer."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: Any = None
    ) -> Any:
        """Returns the update with the transformed gradients."""
        pairs = self._transform(grads_and_vars)
        return self._optimizer.apply_gradients(pairs, global_step, name)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Returns a slot of the other optimizer."""
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the names of the slots of the other optimizer."""
        return self._optimizer.get_slot_names(*args, **kwargs)


def clip_gradients_by_norm(optimizer: Any, clip_norm: Any) -> TransformedGradients:
    """Returns an optimizer that clips the gradients by their global norm.

    Args:
      optimizer: applies the clipped gradients.
      clip_norm: largest global norm.
    """

    def clip(grads_and_vars: Any) -> list[tuple[Any, Any]]:
        gradients, variables = zip(*grads_and_vars, strict=True)
        clipped, _ = tf.clip_by_global_norm(gradients, clip_norm)
        return list(zip(clipped, variables, strict=True))

    return TransformedGradients(optimizer, clip, name=f"ClipByNorm{optimizer.get_name()}")


def forward_features(
    estimator: Any,
    keys: str | Sequence[str] | None = None,
    sparse_default_values: Mapping[str, Any] | None = None,
) -> Any:
    """Returns an estimator whose predictions contain features of their examples.

    Args:
      estimator: the estimator to extend; it is not changed.
      keys: names of the features; default: all.
      sparse_default_values: name of a sparse feature -> value of its missing entries; the feature
        becomes dense.

    Raises:
      TypeError: a key is no string.
      ValueError: raised by the model function if a feature is missing, is not dense, or has the
        name of a prediction.
    """
    names = _checked_keys(keys)
    model_fn = estimator.model_fn
    takes_params = "params" in argument_names(estimator.model_factory.argument)

    def forwarding(features: Any, labels: Any, mode: str, config: Any) -> Any:
        spec = model_fn(features, labels, mode, config)
        if not spec.predictions and mode != ModeKeys.PREDICT:
            return spec
        found = _features(features, names, spec.predictions, sparse_default_values or {})
        exports = dict(spec.export_outputs or {})
        for name in _SERVED:
            if isinstance(exports.get(name), PredictOutput):
                exports[name] = PredictOutput({**exports[name].outputs, **found})
        return spec._replace(
            predictions={**spec.predictions, **found}, export_outputs=exports or None
        )

    def forwarding_with_params(
        features: Any, labels: Any, mode: str, params: Any, config: Any
    ) -> Any:
        del params  # `model_fn` is bound to them. The argument keeps them for input functions.
        return forwarding(features, labels, mode, config)

    return estimator.with_model(forwarding_with_params if takes_params else forwarding)


def export_saved_model_for_mode(
    estimator: Any,
    export_dir_base: str,
    input_receiver_fn: Callable[[], Any],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
    mode: str = ModeKeys.PREDICT,
) -> bytes:
    """Exports the graph of one mode; see `Estimator.export_saved_model`."""
    receivers = {mode: input_receiver_fn}
    return export_all_saved_models(
        estimator, export_dir_base, receivers, assets_extra, as_text, checkpoint_path
    )


def export_all_saved_models(
    estimator: Any,
    export_dir_base: str,
    input_receiver_fn_map: Mapping[str, Callable[[], Any]],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> bytes:
    """Exports the graphs of several modes; see `Estimator.export_saved_model`."""
    return bytes(
        estimator.experimental_export_all_saved_models(
            export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path
        )
    )


def read_eval_metrics(eval_dir: str) -> dict[int, dict[str, float]]:
    """Returns global step -> metric -> value of the evaluations in a folder, by ascending step."""
    return EvalMetricsReader(eval_dir).read()


def _checked_keys(keys: Any) -> Sequence[str] | None:
    if keys is None or isinstance(keys, str):
        return keys if keys is None else [keys]
    if not isinstance(keys, (list, tuple)):
        raise TypeError(f"keys should be either a string or a list of strings. Given: {type(keys)}")
    for key in keys:
        if not isinstance(key, str):
            raise TypeError(
                "All items in the given keys list should be a string. There exist an item with "
                f"type: {type(key)}"
            )
    return keys


def _features(
    features: Any, names: Sequence[str] | None, predictions: Any, defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns name -> dense tensor of the features to forward."""
    if not isinstance(predictions, dict):
        raise ValueError(
            "Predictions should be a dict to be able to forward features. Given: "
            f"{type(predictions)}"
        )
    found = {}
    for name in features if names is None else names:
        if name not in features:
            raise ValueError(
                f'keys should be exist in features. Key "{name}" is not in features dict. '
                f"features dict has following keys: {list(features)}."
            )
        if name in predictions:
            raise ValueError(
                f"Cannot forward feature key ({name}). Since it does exist in predictions. "
                f"Existing prediction keys: {list(predictions)}."
            )
        found[name] = _dense(name, features[name], defaults)
    return found


def _dense(name: str, feature: Any, defaults: Mapping[str, Any]) -> Any:
    is_sparse = isinstance(feature, tf.SparseTensor)
    if name in defaults:
        if not is_sparse:
            raise ValueError(f"Feature ({name}) is expected to be a `SparseTensor`.")
        return tf.sparse.to_dense(feature, default_value=defaults[name])
    if is_sparse:
        raise ValueError(
            f"Feature ({name}) should be a Tensor. Please use `keys` argument of "
            "forward_features to filter unwanted features, or add key to argument "
            "`sparse_default_values`."
        )
    return tf.convert_to_tensor(feature)
