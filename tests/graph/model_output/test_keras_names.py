"""Names of Keras layers without names: those of the graph, whatever the process made before."""

import os
import sys

import numpy as np
import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from tf_frame import Estimator, EstimatorSpec, ModelOutput
from tf_frame.errors import PluginError
from tf_frame.graph.model_output import build_model, keras_names_per_graph
from tf_frame.plugin import Mode
from tf_frame.plugin.fault import find_fault
from tf_frame.runs.export.input_receivers import TensorServingInputReceiver
from tf_frame.testing.toy import ToyInput, ToyModel, make_setup, run_setup

NAMES = ["dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias"]


def two_layers(features):
    first, second = tf2.keras.layers.Dense(4, activation="relu"), tf2.keras.layers.Dense(1)
    first.build(features.shape)
    second.build([None, 4])
    return second(first(features))


class KerasModel(ToyModel):
    """Two layers of Keras without names."""

    def build(self, features, labels, mode):
        value = two_layers(features)
        if labels is None:
            return ModelOutput(predictions={"value": value})
        return ModelOutput(loss=tf.reduce_mean(tf.square(value - labels)))


def names_in_new_graph():
    with tf.Graph().as_default():
        model = KerasModel(params=ToyModel.Params(), info=None)
        build_model(model, tf.ones([2, 3]), None, Mode.PREDICT)
        return [variable.op.name for variable in tf.trainable_variables()]


def test_names_per_graph():
    tf2.keras.layers.Dense(2)
    assert names_in_new_graph() == names_in_new_graph() == NAMES
    tf2.keras.utils.clear_session()
    assert tf2.keras.layers.Dense(2).name == "dense"
    names_in_new_graph()
    assert tf2.keras.layers.Dense(2).name == "dense_1"
    with tf.Graph().as_default():
        made = []
        for _ in range(2):
            with keras_names_per_graph():
                made.append(tf2.keras.layers.Dense(2).name)
    assert made == ["dense", "dense_1"]


def test_keras_is_not_imported_for_a_model_without_it(monkeypatch):
    state = "keras.src.backend.common.global_state"
    monkeypatch.delitem(sys.modules, state)
    with tf.Graph().as_default(), keras_names_per_graph():
        tf.get_variable("x", [1])
    assert state not in sys.modules


@pytest.mark.slow
def test_a_run_evaluates_and_resumes_a_model_of_keras(tmp_path):
    for steps in (2, 3):
        setup = make_setup(KerasModel, ToyInput, str(tmp_path), max_steps=steps)
        assert "loss" in run_setup(setup, report=lambda text: None)["metrics"]
    assert {*NAMES} <= {name for name, _ in tf.train.list_variables(str(tmp_path))}


def test_layers_that_the_model_keeps_are_an_error_that_says_where_to_make_them(tmp_path):
    class Kept(KerasModel):
        def __init__(self, **arguments):
            super().__init__(**arguments)
            self.layer = tf2.keras.layers.Dense(1)

        def build(self, features, labels, mode):
            return ModelOutput(loss=tf.reduce_mean(tf.square(self.layer(features) - labels)))

    setup = make_setup(Kept, ToyInput, str(tmp_path), max_steps=1)
    with pytest.raises(ValueError, match="same graph") as caught:
        run_setup(setup, report=lambda text: None)
    assert "Keras layers in build()" in find_fault(caught.value).hint


@pytest.mark.parametrize("kept", [False, True])
def test_several_clones_of_a_model_of_keras_are_refused_with_what_to_do(tmp_path, kept):
    class Kept(KerasModel):
        def build(self, features, labels, mode):
            self.layer = getattr(self, "layer", None) or tf2.keras.layers.Dense(1)
            return ModelOutput(loss=tf.reduce_mean(tf.square(self.layer(features) - labels)))

    setup = make_setup(Kept if kept else KerasModel, ToyInput, str(tmp_path), num_clones=2)
    with pytest.raises(PluginError, match="tf_frame.layers instead of Keras layers; or --num_cl"):
        run_setup(setup, report=lambda text: None)


def in_a_loop(features):
    for size in (4, 4, 1):
        features = tf2.keras.layers.Dense(size)(features)
    return features


def sequential(features):
    layers = tf2.keras.layers
    stack = [layers.Dense(4), layers.BatchNormalization(), layers.Dense(1)]
    return tf2.keras.Sequential(stack)(features)


@pytest.mark.slow
@pytest.mark.parametrize(
    "network",
    [*(pytest.param(n, marks=pytest.mark.slow) for n in (two_layers, in_a_loop)), sequential],
)
def test_an_estimator_takes_a_model_function_of_keras(tmp_path, network):
    def model_fn(features, labels, mode):
        value = network(features)
        if mode == "infer":
            return EstimatorSpec(mode, predictions={"value": value})
        return EstimatorSpec(mode, loss=tf.reduce_mean(tf.square(value - labels)))

    def input_fn():
        return tf2.data.Dataset.from_tensors((np.ones([4, 3], "f"), np.ones([4, 1], "f")))

    def receiver_fn():
        images = tf.placeholder(tf.float32, [None, 3])
        return TensorServingInputReceiver(images, images)

    estimator = Estimator(model_fn, model_dir=tmp_path)
    estimator.train(input_fn)
    assert estimator.evaluate(input_fn)["global_step"] == 1
    predicted = [each["value"] for each in estimator.predict(input_fn)]
    assert len(predicted) == 4
    folder = estimator.export_saved_model(tmp_path / "export", receiver_fn)
    exported = dict(tf.train.list_variables(f"{os.fsdecode(folder)}/variables/variables"))
    assert len(exported) >= 4
    assert exported.keys() <= set(estimator.get_variable_names())
    tf2.keras.layers.Dense(2)
    resumed = Estimator(model_fn, model_dir=tmp_path).train(input_fn)
    assert resumed.evaluate(input_fn)["global_step"] == 2
