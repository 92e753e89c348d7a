"""Arguments and return values of model functions and input functions."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from refusals import refusal
from slow_cases import slow_but
from tf_frame_legacy import estimator


def train_spec(features, mode):
    """A model of one variable, whatever the data."""
    weight = tf.get_variable("weight", [], initializer=tf.ones_initializer())
    loss = tf.square(weight) + 0 * tf.reduce_sum(features)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return estimator.EstimatorSpec(mode, loss=loss, train_op=train_op, predictions=features)


def features_only():
    return tf.data.Dataset.from_tensor_slices(np.ones([4, 1], np.float32)).batch(2)


@pytest.mark.parametrize(
    "names",
    slow_but(
        (0, -1),
        [
            "features",
            "features, mode",
            "features, params",
            "features, labels, config",
            "mode, config, params, labels, features",
        ],
    ),
)
def test_a_model_function_gets_what_it_takes(make, names):
    seen = {}
    space = {"seen": seen, "train_spec": train_spec}
    exec(
        f"def model_fn({names}):\n"
        "    seen.update(locals())\n"
        "    return train_spec(features, 'train')\n",
        space,
    )
    params = {"units": 2} if "params" in names else None
    regressor = make(space["model_fn"], params=params)
    regressor.train(features_only, steps=1)
    assert sorted(seen) == sorted(name.strip() for name in names.split(","))
    assert seen["features"].shape.as_list() == [None, 1]
    assert seen.get("mode", "train") == "train"
    assert seen.get("labels") is None
    assert seen.get("params", {"units": 2}) == {"units": 2}
    if "config" in seen:
        assert isinstance(seen["config"], estimator.RunConfig)
        assert seen["config"].model_dir == regressor.model_dir


def test_a_model_function_cannot_change_the_params(make):
    def model_fn(features, mode, params):
        params["layers"].append(1)
        return train_spec(features, mode)

    regressor = make(model_fn, params={"layers": []})
    regressor.train(features_only, steps=1)
    assert regressor.params == {"layers": []}


def test_labels_that_a_model_function_does_not_take_are_refused(make, linear):
    def model_fn(features, mode):
        return train_spec(features, mode)

    message = "model_fn does not take labels, but input_fn returns labels."
    assert refusal(make(model_fn).train, linear.data()) == (ValueError, message)


@pytest.mark.parametrize("returned", [None, 3, {"loss": 1}])
def test_what_is_no_spec_is_refused(make, returned):
    def model_fn(features):
        return returned

    with pytest.raises(ValueError, match="^model_fn should return an EstimatorSpec."):
        make(model_fn).train(features_only)


def test_features_and_labels_may_be_dictionaries(make):
    def input_fn():
        data = {"a": np.ones([2, 1], np.float32)}, {"b": np.zeros([2], np.int32)}
        return tf.data.Dataset.from_tensor_slices(data).batch(2)

    seen = []

    def model_fn(features, labels, mode):
        seen.append((list(features), list(labels)))
        return train_spec(features["a"], mode)

    make(model_fn).train(input_fn)
    assert seen == [(["a"], ["b"])]


@pytest.mark.parametrize(
    "names",
    [
        pytest.param("", marks=pytest.mark.slow),
        pytest.param("mode", marks=pytest.mark.slow),
        pytest.param("params", marks=pytest.mark.slow),
        "config",
        "config, params, mode",
    ],
)
def test_an_input_function_gets_what_it_takes(make, names):
    seen = []
    space = {"seen": seen, "features_only": features_only}
    exec(f"def input_fn({names}):\n    seen.append(locals())\n    return features_only()\n", space)

    def model_fn(features, mode, params):
        return train_spec(features, mode)

    regressor = make(model_fn, params={"a": 1})
    regressor.train(space["input_fn"], steps=1)
    regressor.evaluate(space["input_fn"])
    list(regressor.predict(space["input_fn"]))
    for call, mode in zip(seen, ["train", "eval", "infer"], strict=True):
        assert sorted(call) == sorted(name.strip() for name in names.split(",") if name)
        assert call.get("mode", mode) == mode
        assert call.get("params", {"a": 1}) == {"a": 1}
        assert "config" not in call or call["config"].model_dir == regressor.model_dir


def test_an_input_function_may_return_tensors(make, linear):
    def input_fn():
        return tf.constant(linear.x), tf.constant(linear.y)

    regressor = make().train(input_fn, steps=2)
    expected = linear.trained_weight([slice(0, 5)] * 2)
    np.testing.assert_allclose(regressor.get_variable_value("weight"), [expected], atol=1e-6)


@pytest.mark.slow
def test_an_input_function_may_read_queues(make, linear):
    def input_fn():
        row = tf.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()
        example = [tf.gather(linear.x, row), tf.gather(linear.y, row)]
        return tf.train.batch(example, 2, num_threads=1, allow_smaller_final_batch=True)

    regressor = make().train(input_fn)
    batches = [slice(0, 2), slice(2, 4), slice(4, 5)]
    expected = linear.trained_weight(batches)
    np.testing.assert_allclose(regressor.get_variable_value("weight"), [expected], atol=1e-6)
    assert regressor.evaluate(input_fn)["global_step"] == 3


def test_an_input_function_is_placed_on_the_cpu(make, linear):
    devices = []

    def input_fn():
        features = tf.constant(linear.x)
        devices.append(features.device.upper())
        return features, tf.constant(linear.y)

    regressor = make().train(input_fn, steps=1)
    regressor.evaluate(input_fn, steps=1)
    next(regressor.predict(input_fn))
    assert len(devices) == 3
    assert all(device.endswith("CPU:0") for device in devices), devices


@pytest.mark.parametrize(
    "returned",
    [
        lambda: (tf.zeros([1, 1]),),
        lambda: (tf.zeros([1, 1]),) * 3,
        lambda: tf.data.Dataset.from_tensor_slices((np.ones(2),) * 3).batch(2),
    ],
)
def test_another_number_than_two_is_refused(make, returned):
    message = r"^input_fn should return \(features, labels\) as a len 2 tuple."
    with pytest.raises(ValueError, match=message):
        make().train(returned)


def test_tables_of_input_and_model_are_initialised(make):
    def input_fn():
        words = tf.data.Dataset.from_tensor_slices(["a", "b"]).batch(2)
        keys = tf.lookup.KeyValueTensorInitializer(["a", "b"], [4.0, 6.0])
        table = tf.lookup.StaticHashTable(keys, 0.0)
        return words.map(lambda text: table.lookup(text)[:, None])

    seen = list(make(lambda features: tf_spec(features)).predict(input_fn))
    assert [row.tolist() for row in seen] == [[4.0], [6.0]]


def tf_spec(features):
    tf.get_variable("unused", [])
    return estimator.EstimatorSpec("infer", predictions=features)


ROWS = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
PLAIN = {
    "arrays": lambda: (ROWS, ROWS[:, 0]),
    "features alone": lambda: ROWS,
    "a dictionary of arrays": lambda: ({"x": ROWS}, {"y": ROWS}),
    "lists": lambda: ([[1.0, 2.0]], [[1.0]]),
    "numbers": lambda: (1.0, 2.0),
    "nothing": lambda: None,
    "no features": lambda: ({}, None),
    "array and tensor": lambda: ({"x": ROWS, "t": tf.constant(ROWS)}, None),
    "keys of two types": lambda: ({0: tf.constant(ROWS), "x": tf.constant(ROWS)}, None),
}


@pytest.mark.parametrize("kind", slow_but((0, 5, 7), PLAIN))
def test_the_model_gets_what_the_input_function_returns(make, kind):
    got = []

    def plain_model_fn(features, labels, mode):
        got.append((features, labels))
        weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
        if mode == "infer":
            return estimator.EstimatorSpec(mode, predictions=weight * tf.ones([2]))
        step = tf.train.get_global_step()
        train_op = tf.train.GradientDescentOptimizer(0.25).minimize((weight - 1) ** 2, step)
        return estimator.EstimatorSpec(mode, loss=(weight - 1) ** 2, train_op=train_op)

    regressor = make(plain_model_fn)
    regressor.train(PLAIN[kind], steps=2)
    assert regressor.evaluate(PLAIN[kind], steps=2)["loss"] == 0.0625
    assert next(regressor.predict(PLAIN[kind])) == 0.75
    returned = PLAIN[kind]()
    expected = returned if isinstance(returned, tuple) else (returned, None)
    for features, labels in got:
        assert type(features) is type(expected[0])
        assert labels is None or type(labels) is type(expected[1])
    if isinstance(expected[0], np.ndarray):
        assert got[0][0] is ROWS


def test_an_input_function_gets_no_context_without_a_strategy(make):
    seen = []

    def input_fn(mode, input_context=None):
        seen.append((mode, input_context))
        return features_only()

    make(train_spec).train(input_fn, steps=1)
    assert list(make(train_spec).predict(input_fn)) != []
    assert seen == [("train", None), ("infer", None)]
