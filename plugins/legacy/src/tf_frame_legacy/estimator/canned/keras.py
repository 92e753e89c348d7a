"""`model_to_estimator`: trains a model of Keras as an `Estimator`, in graph mode.

Those of Keras 2, which programs see through `tf-frame legacy run`, are trained by `keras_2`.

model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
model_to_estimator(model).train(input_fn, steps=100)
"""

from __future__ import annotations

import copy
import functools
import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.estimator import EstimatorSpec, ModeKeys
from tf_frame_legacy.estimator import export
from tf_frame_legacy.estimator.canned.keras_2 import estimator_of_keras_2, is_of_keras_2
from tf_frame_legacy.estimator.estimator import Estimator
from tf_frame_legacy.estimator.heads.head import DEFAULT_SIGNATURE

_keras = tf.compat.v2.keras


def model_to_estimator(
    keras_model: Any = None,
    keras_model_path: str | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    model_dir: str | None = None,
    config: Any = None,
    checkpoint_format: str | None = None,
    use_v2_estimator: bool = False,
) -> Estimator:
    """Returns an estimator that trains a compiled, sequential or functional model.

    The model is built anew from its configuration in each graph; the object that is given stays as
    it is. Where operations run eagerly, training begins with its weights.

    Args:
      keras_model: a compiled model.
      keras_model_path: file of a compiled model, instead of `keras_model`.
      custom_objects: name -> class or function that the model needs besides Keras's.
      model_dir, config: see `Estimator`.
      checkpoint_format, use_v2_estimator: without effect.

    Raises:
      ValueError: not exactly one model, a model that is not compiled, or a file in graph mode,
        where Keras 3 cannot load weights.
      TypeError: no model of Keras, or a subclass without a configuration.
    """
    del checkpoint_format, use_v2_estimator
    if (keras_model is None) == (keras_model_path is None):
        raise ValueError("Give one of keras_model and keras_model_path.")
    if keras_model is None:
        if not tf.executing_eagerly():
            raise ValueError(
                "keras_model_path: Keras 3 loads no weights in graph mode; build the model in the "
                "program, and give its weights by warm_start_from of an Estimator."
            )
        keras_model = _keras.models.load_model(keras_model_path, custom_objects)
    if is_of_keras_2(keras_model):
        return estimator_of_keras_2(keras_model, custom_objects, model_dir, config)
    _check(keras_model)
    arguments = dict(keras_model._compile_config.config)
    configuration, optimizer = keras_model.get_config(), keras_model.optimizer
    optimizer_config = _optimizer_config(optimizer)

    def build() -> Any:
        # Keras empties the configuration that it is given.
        return type(keras_model).from_config(copy.deepcopy(configuration), custom_objects)

    model_fn = functools.partial(
        _model_fn,
        build=build,
        make_optimizer=lambda: type(optimizer).from_config(dict(optimizer_config)),
        arguments=arguments,
    )
    start = _checkpoint_of(keras_model, build)
    return Estimator(model_fn, model_dir, config, warm_start_from=start)


def _check(model: Any) -> None:
    if not isinstance(model, _keras.Model):
        raise TypeError(
            f"{type(model)} is no model of Keras: build it with tf.keras of the installed "
            "TensorFlow, or with tf_keras."
        )
    if not isinstance(model, _keras.Sequential) and not getattr(model, "inputs", None):
        raise TypeError("A subclass of tf.keras.Model has no configuration to build it from.")
    if getattr(model, "_compile_config", None) is None:
        raise ValueError("The Keras model is not compiled: call model.compile first.")


def _optimizer_config(optimizer: Any) -> dict[str, Any]:
    """Returns the configuration of an optimizer, also of one that was made in a graph."""
    rate = optimizer.learning_rate
    if not tf.executing_eagerly() and hasattr(rate, "numpy") and hasattr(rate, "value"):
        with tf.Session(graph=rate.value.graph) as session:
            session.run(rate.value.initializer)
            value = session.run(rate.value)
        # `get_config` reads the learning rate so.
        rate.numpy = lambda: value
    config: dict[str, Any] = optimizer.get_config()
    return config


def _checkpoint_of(model: Any, build: Any) -> str | None:
    """Returns the path of a checkpoint with the weights of a model; None in graph mode."""
    if not tf.executing_eagerly() or not model.weights:
        return None
    values = model.get_weights()
    with tf.Graph().as_default(), tf.Session() as session:
        variables = [weight.value for weight in build().weights]
        feeds = [tf.placeholder(value.dtype, value.shape) for value in values]
        loads = [tf.assign(*pair) for pair in zip(variables, feeds, strict=True)]
        session.run(loads, dict(zip(feeds, values, strict=True)))
        folder = tempfile.mkdtemp(prefix="keras_model_")
        return str(tf.train.Saver(variables).save(session, os.path.join(folder, "model.ckpt")))


def _model_fn(
    features: Any, labels: Any, mode: str, build: Any, make_optimizer: Any, arguments: Any
) -> EstimatorSpec:
    model = build()
    names = [tensor.name for tensor in model.inputs]
    inputs = _in_order(features, names, "features")
    if len(inputs) == 1:
        (inputs,) = inputs
    if mode == ModeKeys.TRAIN:
        loss = _train_step(model, make_optimizer(), inputs, labels, arguments)
        with tf.control_dependencies([loss]):
            train_op = tf.assign_add(tf.train.get_global_step(), 1).op
        return EstimatorSpec(mode, loss=loss, train_op=train_op)
    outputs = _outputs(model, inputs, training=False)
    if mode == ModeKeys.PREDICT:
        exports = {DEFAULT_SIGNATURE: export.PredictOutput(outputs)}
        return EstimatorSpec(mode, outputs, export_outputs=exports)
    loss = _loss(model, outputs, labels, arguments)
    metrics = _metrics(outputs, labels, arguments["metrics"])
    return EstimatorSpec(mode, outputs, loss, eval_metric_ops=metrics)


def _train_step(model: Any, optimizer: Any, inputs: Any, labels: Any, arguments: Any) -> Any:
    """Returns the loss, whose computation makes a step.

    Keras 3 returns no operations of its updates; within a `tf.function` they run by themselves.
    """
    optimizer.build(model.trainable_variables)

    def step(inputs: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = _loss(model, _outputs(model, inputs, training=True), labels, arguments)
        gradients = tape.gradient(loss, [variable.value for variable in model.trainable_variables])
        optimizer.apply(gradients, model.trainable_variables)
        return loss

    return tf.compat.v2.function(step, autograph=False)(inputs, labels)


def _outputs(model: Any, inputs: Any, *, training: bool) -> dict[str, Any]:
    """Returns output -> tensor; outputs have the names of their layers."""
    outputs = tf.nest.flatten(model(inputs, training=training))
    names = getattr(model, "output_names", None) or [model.layers[-1].name]
    return dict(zip(names, outputs, strict=True))


def _loss(model: Any, outputs: Mapping[str, Any], labels: Any, arguments: Any) -> Any:
    names = list(outputs)
    functions = _in_order(arguments["loss"], names, "loss")
    weights = _in_order(arguments["loss_weights"] or [1.0] * len(names), names, "loss_weights")
    parts = zip(functions, weights, _in_order(labels, names, "labels"), names, strict=True)
    losses = [
        weight * tf.reduce_mean(_keras.losses.get(function)(_column(label), outputs[name]))
        for function, weight, label, name in parts
    ]
    return tf.add_n([*losses, *model.losses])


def _metrics(outputs: Mapping[str, Any], labels: Any, metrics: Any) -> dict[str, Any]:
    """Returns name -> metric of functions and names; the metrics of a single output only."""
    if not metrics:
        return {}
    if len(outputs) > 1 or isinstance(metrics, Mapping):
        raise ValueError("metrics of several outputs are not offered: use add_metrics.")
    (predicted,) = outputs.values()
    (label,) = map(_column, _in_order(labels, list(outputs), "labels"))
    return {
        str(getattr(metric, "__name__", metric)): tf.metrics.mean(
            _metric_function(metric, label, predicted)(label, predicted)
        )
        for metric in metrics
    }


def _metric_function(metric: Any, label: Any, predicted: Any) -> Any:
    if callable(metric) and not isinstance(metric, _keras.metrics.Metric):
        return metric
    if metric in ("acc", "accuracy"):
        kind = "binary" if predicted.shape[-1] == 1 else "categorical"
        if kind == "categorical" and label.shape[-1] == 1:
            kind = "sparse_categorical"
        return getattr(_keras.metrics, f"{kind}_accuracy")
    if not isinstance(metric, str):
        raise ValueError(f"metric {metric} is not offered: give a name or function, or add_metrics")
    return _keras.losses.get(metric)


def _in_order(values: Any, names: Sequence[str], what: str) -> list[Any]:
    """Returns the values of names, from a dictionary, a list, or a single value."""
    if isinstance(values, Mapping):
        if len(names) == len(values) == 1:
            return list(values.values())
        missing = [name for name in names if name not in values]
        if missing:
            raise ValueError(f"{what} has no {missing}; it has {sorted(values)}")
        return [values[name] for name in names]
    listed = list(values) if isinstance(values, list | tuple) else [values]
    if len(listed) != len(names):
        raise ValueError(f"{what} has {len(listed)} values for {list(names)}")
    return listed


def _column(label: Any) -> Any:
    return label[:, None] if label.shape.ndims == 1 else label
