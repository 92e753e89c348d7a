"""Inputs of an exported model, derived from the run's evaluation data."""

import collections

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import Input
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import ConfigError, DataError
from tf_frame.runs.export.input_signature import (
    input_signature,
    map_parts,
    named_parts,
    operation_name,
)

X = np.arange(12, dtype=np.float32).reshape(6, 2)
CONFIG = RunOptions(eval_batch_size=4)


def of(data, **methods):
    """The signature of an input that yields some data."""
    methods["dataset"] = lambda self, mode, context: data(mode, context)
    source = type("Source", (Input,), methods)(params=None)
    return input_signature(source, CONFIG)


def sliced(features):
    """Makes the data of some arrays, batched."""

    def data(mode, context):
        pairs = features, np.zeros(6)
        return tf.compat.v2.data.Dataset.from_tensor_slices(pairs).batch(context.batch_size)

    return data


def test_placeholders_have_the_shapes_of_the_data_and_an_open_batch():
    found = of(sliced({"x": X, "n": np.arange(6, dtype=np.int64)}))
    assert named_parts(found.specs) == {
        "x": tf.TensorSpec([None, 2], tf.float32),
        "n": tf.TensorSpec([None], tf.int64),
    }
    with tf.Graph().as_default():
        received = found.receive()
        features = received.features
        assert [features[key].name for key in ("x", "n")] == ["inputs/x:0", "inputs/n:0"]
        assert received.receiver_tensors["x"] is features["x"]
        assert features["x"].shape.as_list() == [None, 2]


def test_the_batch_is_the_first_of_the_evaluation_data():
    modes = []

    def data(mode, context):
        modes.append((mode.value, context.batch_size))
        return sliced({"x": X})(mode, context)

    found = of(data)
    assert found.is_real and modes == [("eval", 4)]
    np.testing.assert_array_equal(found.batch["x"], X[:4])


def test_a_batch_dimension_that_is_fixed_in_the_data_is_open_in_the_signature():
    def data(mode, context):
        def fixed(x, y):
            return tf.ensure_shape(x, [4, 2]), y

        return sliced(X)(mode, context).map(fixed)

    fixed = of(data)
    assert fixed.batch["input"].shape == (4, 2)
    assert fixed.specs == tf.TensorSpec([None, 2], tf.float32)


def test_sizes_that_are_unknown_stay_so_until_one_example_is_asked_for():
    def data(mode, context):
        def ragged(x, y):
            return tf.placeholder_with_default(x, [None, None]), y

        return sliced(X)(mode, context).map(ragged)

    found = of(data)
    assert found.specs.shape.as_list() == [None, None]
    assert found.for_one_example().specs == tf.TensorSpec([1, 2], tf.float32)


def test_features_without_a_batch_have_no_batch_dimension():
    def data(mode, context):
        return sliced(X)(mode, context).map(lambda x, y: ({"x": x, "scale": 2.0}, y))

    found = of(data)
    assert named_parts(found.specs)["scale"] == tf.TensorSpec([], tf.float32)
    assert found.for_one_example().specs["scale"] == tf.TensorSpec([], tf.float32)


def test_one_tensor_is_called_input_and_the_graph_around_stays_empty():
    with tf.Graph().as_default() as graph:
        found = of(sliced(X))
    assert not graph.get_operations()
    assert list(named_parts(found.specs)) == list(found.batch) == ["input"]
    assert found.specs == tf.TensorSpec([None, 2], tf.float32)


def test_several_data_sets_and_functions_have_a_signature_too():
    def function():
        return tf.constant(X[:3]), tf.constant([0, 0, 0])

    found = of(lambda mode, context: [sliced({"x": X})(mode, context), function])
    assert found.is_real
    shapes = {name: str(spec.shape) for name, spec in named_parts(found.specs).items()}
    assert shapes == {"input_0/x": "(None, 2)", "input_1": "(None, 2)"}
    assert found.batch["input_1"].tolist() == X[:3].tolist()


def test_names_say_where_a_part_stands():
    point = collections.namedtuple("point", ["h", "w"])
    features = {"a": 1, "b": {"c": 2}, "d": [3, 4], "p": point(5, (6,))}
    assert named_parts(features) == {"a": 1, "b/c": 2, "d_0": 3, "d_1": 4, "p/h": 5, "p/w_0": 6}
    doubled = map_parts(lambda name, part: 2 * part, features)
    assert doubled == {"a": 2, "b": {"c": 4}, "d": [6, 8], "p": point(10, (12,))}
    assert type(doubled["p"]) is point and type(doubled["p"].w) is tuple


def test_every_name_gives_an_operation_its_name():
    names = {"image": "image", "box/height": "box/height", "_private": "_private", "a b": "a_b"}
    names |= {"é": "_", "1st": "1st", "a:0": "a_0", "a/": "a", "": "_"}
    assert {name: operation_name(name) for name in names} == names
    with tf.Graph().as_default(), tf.name_scope("inputs"):
        for name in names:
            tf.placeholder(tf.float32, name=operation_name(name))


def test_a_sparse_feature_is_refused_and_the_way_out_is_told():
    def data(mode, context):
        return sliced(X)(mode, context).map(lambda x, y: ({"s": tf.sparse.from_dense(x)}, y))

    with pytest.raises(
        ConfigError, match=r"the feature s is SparseTensor, .* serving_features\(\)"
    ):
        of(data)
    spec = {"s": tf.TensorSpec([None, 2], tf.float32)}
    found = of(data, serving_features=lambda self: spec)
    assert (found.specs, found.is_real) == (spec, False)


def test_an_input_may_say_what_is_fed():
    spec = {"x": tf.TensorSpec([None, None], tf.float32)}
    found = of(sliced({"x": X, "id": X}), serving_features=lambda self: spec)
    assert found.specs == spec
    assert found.is_real
    assert list(found.batch) == ["x"]


@pytest.mark.parametrize(
    "spec", [tf.TensorSpec([None, 3], tf.float32), tf.TensorSpec([None, 2], tf.uint8)]
)
def test_data_that_does_not_fit_what_is_fed_is_not_used(spec):
    found = of(sliced({"x": X}), serving_features=lambda self: {"x": spec})
    assert not found.is_real
    assert found.batch["x"].shape == (4, spec.shape[1])
    assert found.batch["x"].dtype == spec.dtype.as_numpy_dtype


def test_serving_features_has_to_return_specs():
    with pytest.raises(ConfigError, match=r"serving_features\(\) has 3 for x; it must be a tf.Te"):
        of(sliced({"x": X}), serving_features=lambda self: {"x": 3})


def test_without_data_the_batch_is_random_but_the_same_each_time():
    def data(mode, context):
        def named(x, y):
            count = tf.size(y)
            return {"x": x, "n": tf.range(count), "b": y > 0, "t": tf.fill([count], "a")}, y

        return sliced(X)(mode, context).map(named).take(0)

    found, again = of(data), of(data)
    assert not found.is_real
    types = {name: array.dtype.name for name, array in found.batch.items()}
    assert types == {"x": "float32", "n": "int32", "b": "bool", "t": "object"}
    assert found.batch["x"].shape == (4, 2)
    assert 0 <= found.batch["x"].min() < found.batch["x"].max() <= 1
    assert set(found.batch["n"].tolist()) <= {0, 1}
    assert found.batch["t"].tolist() == [b""] * 4
    np.testing.assert_array_equal(found.batch["x"], again.batch["x"])


def test_random_batches_of_unknown_size_have_some():
    spec = {"x": tf.TensorSpec([None, None, 3], tf.float32), "y": tf.TensorSpec(None, tf.float32)}
    found = of(sliced(X), serving_features=lambda self: spec)
    assert found.batch["x"].shape == (4, 32, 3)
    assert found.batch["y"].shape == (4,)


def test_data_of_another_kind_is_refused():
    with pytest.raises(DataError, match="must return a tf.data.Dataset"):
        of(lambda mode, context: 3)
