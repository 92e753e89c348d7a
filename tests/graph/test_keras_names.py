"""Names of Keras layers without names: those of the graph, whatever the process made before."""

import sys

import numpy as np
import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from tf_frame import Estimator, EstimatorSpec, ModelOutput
from tf_frame.errors import PluginError
from tf_frame.graph.keras_names import keras_names_of_graph
from tf_frame.graph.model_output import build_model
from tf_frame.plugin import Mode
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


def test_each_graph_has_the_same_names():
    tf2.keras.layers.Dense(2)
    assert names_in_new_graph() == names_in_new_graph() == NAMES


def test_outside_keras_counts_on_as_if_nothing_had_been_built():
    tf2.keras.utils.clear_session()
    assert tf2.keras.layers.Dense(2).name == "dense"
    names_in_new_graph()
    assert tf2.keras.layers.Dense(2).name == "dense_1"


def test_a_second_part_of_a_graph_goes_on_with_the_numbers_of_the_first():
    with tf.Graph().as_default():
        made = []
        for _ in range(2):
            with keras_names_of_graph():
                made.append(tf2.keras.layers.Dense(2).name)
    assert made == ["dense", "dense_1"]


def test_keras_is_not_imported_for_a_model_without_it(monkeypatch):
    state = "keras.src.backend.common.global_state"
    monkeypatch.delitem(sys.modules, state)
    with tf.Graph().as_default(), keras_names_of_graph():
        tf.get_variable("x", [1])
    assert state not in sys.modules


def test_a_run_evaluates_and_resumes_a_model_of_keras(tmp_path):
    for steps in (2, 3):
        setup = make_setup(KerasModel, ToyInput, str(tmp_path), max_steps=steps)
        assert "loss" in run_setup(setup, report=lambda text: None)["metrics"]
    assert {*NAMES} <= {name for name, _ in tf.train.list_variables(str(tmp_path))}


@pytest.mark.parametrize("kept", [False, True])
def test_several_clones_of_a_model_of_keras_are_refused_with_what_to_do(tmp_path, kept):
    class Kept(KerasModel):
        def build(self, features, labels, mode):
            self.layer = getattr(self, "layer", None) or tf2.keras.layers.Dense(1)
            return ModelOutput(loss=tf.reduce_mean(tf.square(self.layer(features) - labels)))

    setup = make_setup(Kept if kept else KerasModel, ToyInput, str(tmp_path), num_clones=2)
    with pytest.raises(PluginError, match="tf_frame.layers in place of Keras layers; or --num_cl"):
        run_setup(setup, report=lambda text: None)


def test_an_estimator_trains_evaluates_and_predicts_a_model_function_of_keras(tmp_path):
    def model_fn(features, labels, mode):
        value = two_layers(features)
        if mode == "infer":
            return EstimatorSpec(mode, predictions={"value": value})
        return EstimatorSpec(mode, loss=tf.reduce_mean(tf.square(value - labels)))

    def input_fn():
        return tf2.data.Dataset.from_tensors((np.ones([4, 3], "f"), np.ones([4, 1], "f")))

    estimator = Estimator(model_fn, model_dir=tmp_path)
    estimator.train(input_fn)
    assert estimator.evaluate(input_fn)["global_step"] == 1
    assert len(list(estimator.predict(input_fn))) == 4
    tf2.keras.layers.Dense(2)
    assert Estimator(model_fn, model_dir=tmp_path).evaluate(input_fn)["global_step"] == 1
