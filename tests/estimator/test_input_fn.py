"""Input functions in the place of inputs."""

import functools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import InputContext, InputInfo, Mode
from tf_frame.errors import ConfigError
from tf_frame.estimator.input_fn import InputFn, as_source
from tf_frame.testing.toy import ToyInput

CONTEXT = InputContext(batch_size=2)


def made(function, params=None, config=None, mode=Mode.TRAIN):
    return InputFn(function, params=params, config=config).dataset(mode, CONTEXT)


def first(dataset):
    features, labels = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as session:
        return session.run(features), labels


def test_a_data_set_of_pairs_stays_as_it_is():
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.from_tensors((1, 2))
        assert made(lambda: dataset) is dataset


@pytest.mark.parametrize("features", [np.arange(3), {"x": np.arange(3), "y": np.ones(3)}])
def test_a_data_set_of_features_alone_has_no_labels(features):
    with tf.Graph().as_default():
        value, labels = first(made(lambda: tf.data.Dataset.from_tensors(features)))
    assert labels is None
    tf.nest.map_structure(np.testing.assert_array_equal, value, features)


def test_tensors_come_from_a_function_that_calls_anew_for_each_further_clone():
    calls = []

    def input_fn():
        calls.append(1)
        return tf.constant(len(calls)), tf.constant(0)

    with tf.Graph().as_default(), tf.Session() as session:
        batch = made(input_fn)
        assert calls == [1]
        assert [session.run(batch()[0]) for _ in range(3)] == [1, 2, 3]


def test_values_alone_have_no_labels_and_none_is_for_a_model_with_data_of_its_own():
    features = {"x": 1}
    assert made(lambda: features)() == (features, None)
    assert made(lambda: None)() == (None, None)


def test_three_values_are_refused():
    with pytest.raises(ValueError, match=r"as a len 2 tuple. It returned 3"):
        made(lambda: (1, 2, 3))
    with (
        tf.Graph().as_default(),
        pytest.raises(ValueError, match=r"input_fn should return \(features, labels\) as a len 2"),
    ):
        made(lambda: tf.data.Dataset.from_tensors((1, 2, 3)))


def test_the_function_gets_mode_and_copies_of_params_and_config():
    params, config, got = {"list": [1]}, ["config"], {}

    def input_fn(mode, params, config, input_context):
        got.update(mode=mode, context=input_context)
        params["list"].append(2)
        config.append("more")
        return 1, 2

    made(input_fn, params, config, Mode.EVAL)
    assert got == {"mode": "eval", "context": CONTEXT}
    assert type(got["mode"]) is str
    assert (params, config) == ({"list": [1]}, ["config"])


def test_an_input_stays_a_function_is_wrapped_and_anything_else_refused():
    source = ToyInput(params=ToyInput.Params())
    assert as_source(source, params=None, config=None) is source
    wrapped = as_source(len, params=None, config=None)
    assert isinstance(wrapped, InputFn) and wrapped.info == InputInfo()
    with pytest.raises(ConfigError, match=r"input_fn is 'data.csv'; it must be a function"):
        as_source("data.csv", params=None, config=None)


def test_messages_name_the_function():
    def train_data():
        return tf.zeros([2]), tf.zeros([2])

    assert InputFn(train_data, params=None, config=None).origin == "train_data()"
    partial = functools.partial(train_data)
    assert InputFn(partial, params=None, config=None).origin == "input_fn()"
