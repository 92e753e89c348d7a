"""`model_to_estimator` for models of Keras 2: TensorFlow's own part of it, or the package tf_keras.

Such models make operations, so an Estimator trains a copy of the model in its graph.
"""

from __future__ import annotations

import functools
import importlib
import os
import re
import tempfile
from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator import EstimatorSpec, ModeKeys, WarmStartSettings
from tf_frame_legacy.estimator import export
from tf_frame_legacy.estimator.estimator import Estimator
from tf_frame_legacy.estimator.heads.head import DEFAULT_SIGNATURE

# Package of the model -> the modules with `clone_and_build_model`, and with its sessions.
_MODULES = {
    "tensorflow": ("tensorflow.python.keras.models", "tensorflow.python.keras.backend"),
    "tf_keras": ("tf_keras.src.models.cloning", "tf_keras.src.backend"),
}


def is_of_keras_2(model: Any) -> bool:
    """Returns whether a model is one of Keras 2."""
    return any(
        base.__module__.partition(".")[0] in _MODULES and base.__name__ == "Model"
        for base in type(model).__mro__
    )


def estimator_of_keras_2(
    model: Any,
    custom_objects: Mapping[str, Any] | None = None,
    model_dir: str | None = None,
    config: Any = None,
) -> Estimator:
    """Returns an estimator that trains a compiled model; see `model_to_estimator`.

    Raises:
      ValueError: the model is not compiled, or its class has no configuration.
    """
    if not getattr(model, "optimizer", None):
        raise ValueError("The Keras model is not compiled: call model.compile first.")
    try:
        optimizer_config = model.optimizer.get_config()
    except (AttributeError, NotImplementedError):
        optimizer_config = None  # An optimizer of tf.train; the copy uses the same one.
    model_fn = functools.partial(
        _model_fn,
        model=model,
        custom_objects=custom_objects,
        optimizer_config=optimizer_config,
    )
    start = _initial_weights(model, custom_objects)
    return Estimator(model_fn, model_dir, config, warm_start_from=start)


def _model_fn(
    features: Any,
    labels: Any,
    mode: str,
    model: Any,
    custom_objects: Any,
    optimizer_config: Any,
) -> EstimatorSpec:
    clone = _clone(model, mode, features, labels, custom_objects, optimizer_config)
    predictions = dict(zip(clone.output_names, clone.outputs, strict=True))
    exports = {DEFAULT_SIGNATURE: export.PredictOutput(predictions)}
    if mode == ModeKeys.PREDICT:
        return EstimatorSpec(mode, predictions, export_outputs=exports)
    train_op = None
    if mode == ModeKeys.TRAIN:
        clone._make_train_function()
        train_op = clone.train_function.updates_op
    else:
        clone._make_test_function()
    return EstimatorSpec(
        mode,
        predictions,
        clone.total_loss,
        train_op,
        eval_metric_ops=_metrics(clone) if mode == ModeKeys.EVAL else None,
        export_outputs=exports,
    )


def _clone(
    model: Any,
    mode: str,
    features: Any,
    labels: Any,
    custom_objects: Any,
    optimizer_config: Any,
) -> Any:
    """Returns a copy of the model in this graph."""
    models, backend = _modules(model)
    backend.set_learning_phase(int(mode == ModeKeys.TRAIN))
    is_trained = mode != ModeKeys.PREDICT
    step = None
    if is_trained:
        step = tf.train.get_or_create_global_step()
        backend.track_variable(step)
    return models.clone_and_build_model(
        model,
        _in_order(features, getattr(model, "input_names", None)),
        _in_order(labels, getattr(model, "output_names", None)) if is_trained else None,
        dict(custom_objects or {}),
        compile_clone=is_trained,
        in_place_reset=False,
        optimizer_iterations=step,
        optimizer_config=optimizer_config,
    )


def _modules(model: Any) -> list[Any]:
    roots = [base.__module__.partition(".")[0] for base in type(model).__mro__]
    root = next(root for root in roots if root in _MODULES)
    return [importlib.import_module(name) for name in _MODULES[root]]


def _in_order(values: Any, names: Any) -> list[Any] | None:
    """Returns tensors in the order of the model.

    Raises:
      KeyError: the keys are not the names of the model.
    """
    if values is None:
        return None
    if isinstance(values, Mapping):
        if set(values) != set(names):
            raise KeyError(f"the model has {sorted(names)}, the input function {sorted(values)}")
        return [tf.convert_to_tensor(values[name]) for name in names]
    listed = values if isinstance(values, (list, tuple)) else [values]
    return [tf.convert_to_tensor(value) for value in listed]


def _metrics(model: Any) -> dict[str, Any]:
    """Returns name -> value and update of the metrics, without the loss."""
    metrics = {}
    for metric in model.metrics:
        if metric.name == "loss" or not metric.updates:
            continue
        for variable in metric.variables:
            # An evaluation begins by initialising them.
            tf.add_to_collection(tf.GraphKeys.METRIC_VARIABLES, variable)
            tf.add_to_collection(tf.GraphKeys.LOCAL_VARIABLES, variable)
        metrics[metric.name] = (metric.result(), tf.group(*metric.updates))
    return metrics


def _initial_weights(model: Any, custom_objects: Any) -> WarmStartSettings | None:
    """Returns where training begins: a checkpoint with all weights; None if there are none yet."""
    weights = getattr(model, "weights", ()) if model.built else ()
    is_eager = tf.executing_eagerly()
    if not is_eager and not any(hasattr(weight, "_keras_initialized") for weight in weights):
        return None
    values = model.get_weights()
    if not values:
        return None
    models, _ = _modules(model)
    with tf.Graph().as_default(), tf.Session() as session:
        clone = models.clone_and_build_model(
            model, None, None, dict(custom_objects or {}), compile_clone=False
        )
        feeds = [tf.placeholder(value.dtype, value.shape) for value in values]
        loads = [tf.assign(*pair) for pair in zip(clone.weights, feeds, strict=True)]
        session.run(loads, dict(zip(feeds, values, strict=True)))
        folder = tempfile.mkdtemp(prefix="keras_model_")
        path = tf.train.Saver(clone.weights).save(session, os.path.join(folder, "model.ckpt"))
        # A path alone means the trained variables, without moving averages.
        names = [f"{re.escape(weight.op.name)}(:0)?$" for weight in clone.weights]
        return WarmStartSettings(path, names)
