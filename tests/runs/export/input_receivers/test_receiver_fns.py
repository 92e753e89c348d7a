import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.runs.export.input_receivers import (
    ServingInputReceiver,
    SupervisedInputReceiver,
    build_parsing_serving_input_receiver_fn,
    build_raw_serving_input_receiver_fn,
    build_raw_supervised_input_receiver_fn,
    build_supervised_input_receiver_fn_from_input_fn,
)
from tfrecords import make_example

pytestmark = pytest.mark.usefixtures("graph")


def elsewhere(make):
    with tf.Graph().as_default():
        return make()


@pytest.mark.parametrize("batch_size", [None, 2])
def test_serialised_examples_are_parsed(batch_size):
    spec = {"x": tf.io.FixedLenFeature([2], tf.float32), "tags": tf.io.VarLenFeature(tf.string)}
    receiver = build_parsing_serving_input_receiver_fn(spec, batch_size)()
    assert isinstance(receiver, ServingInputReceiver)
    (examples,) = receiver.receiver_tensors.values()
    assert receiver.receiver_tensors == {"examples": examples}
    assert (examples.name, examples.dtype) == ("input_example_tensor:0", tf.string)
    assert examples.shape.as_list() == [batch_size]
    assert receiver.features["x"].shape.as_list() == [batch_size, 2]
    assert isinstance(receiver.features["tags"], tf.SparseTensor)
    records = [make_example({"x": row}) for row in ([1.0, 2.0], [3.0, 4.0])]
    with tf.Session() as session:
        parsed = session.run(receiver.features["x"], {examples: records})
    np.testing.assert_array_equal(parsed, [[1, 2], [3, 4]])


def test_raw_features_are_fed_with_their_types_shapes_and_names():
    features = elsewhere(
        lambda: {
            "x": tf.zeros([5, 3, 2], name="pixels"),
            "n": tf.placeholder(tf.int64, name="count"),
            "s": tf.constant("one", name="scalar"),
        }
    )
    receiver = build_raw_serving_input_receiver_fn(features)()
    assert receiver.features == receiver.receiver_tensors
    fed = receiver.features
    assert {key: (tensor.name, tensor.dtype, str(tensor.shape)) for key, tensor in fed.items()} == {
        "x": ("pixels:0", tf.float32, "(None, 3, 2)"),
        "n": ("count:0", tf.int64, "<unknown>"),
        "s": ("scalar:0", tf.string, "(None,)"),
    }
    assert all(tensor.op.type == "Placeholder" for tensor in fed.values())
    assert all(tensor.graph is tf.get_default_graph() for tensor in fed.values())


def test_the_batch_of_raw_features_may_be_fixed():
    features = elsewhere(lambda: {"x": tf.zeros([5, 3])})
    fed = build_raw_serving_input_receiver_fn(features, default_batch_size=2)().features
    assert fed["x"].shape.as_list() == [2, 3]


def test_a_sparse_feature_is_fed_as_a_sparse_one():
    features = elsewhere(lambda: {"s": tf.sparse_placeholder(tf.float32, [4, 3], name="s")})
    fed = build_raw_serving_input_receiver_fn(features)().features["s"]
    assert isinstance(fed, tf.SparseTensor) and fed.dtype == tf.float32
    assert fed.values.op.type == "Placeholder" and fed.values.name.startswith("s/")
    with tf.Session() as session:
        dense = session.run(tf.sparse.to_dense(fed), {fed: ([[1, 2]], [5.0], [2, 3])})
    np.testing.assert_array_equal(dense, [[0, 0, 0], [0, 0, 5]])


def test_raw_features_and_labels_in_dicts():
    features, labels = elsewhere(lambda: ({"x": tf.zeros([5, 3])}, {"y": tf.zeros([5], tf.int32)}))
    receiver = build_raw_supervised_input_receiver_fn(features, labels, default_batch_size=4)()
    assert isinstance(receiver, SupervisedInputReceiver)
    assert receiver.receiver_tensors == {**receiver.features, **receiver.labels}
    assert set(receiver.features) == {"x"} and set(receiver.labels) == {"y"}
    assert receiver.features["x"].shape.as_list() == [4, 3]
    assert (receiver.labels["y"].shape.as_list(), receiver.labels["y"].dtype) == ([4], tf.int32)


def test_single_raw_features_and_labels_are_called_input_and_label():
    features, labels = elsewhere(lambda: (tf.zeros([5, 3]), tf.zeros([5, 1])))
    receiver = build_raw_supervised_input_receiver_fn(features, labels)()
    assert receiver.receiver_tensors == {"input": receiver.features, "label": receiver.labels}
    assert receiver.features.shape.as_list() == [None, 3]


@pytest.mark.parametrize(
    ("features", "labels", "key"),
    [({"x": 1, "y": 2}, {"y": 3}, "y"), ({"label": 1}, 2, "label"), (1, {"input": 2}, "input")],
)
def test_features_and_labels_of_one_name_are_refused_at_once(features, labels, key):
    message = f"^Features and labels must have distinct keys. Found overlapping keys: {{'{key}'}}$"
    with pytest.raises(ValueError, match=message):
        build_raw_supervised_input_receiver_fn(features, labels)


def dataset(scale):
    x = np.full([6, 3], scale, np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, x[:, 0])).batch(2)


@pytest.mark.parametrize("kind", ["dataset", "tensors"])
def test_an_input_function_tells_what_its_receiver_is_like(kind, graph):
    def input_fn(scale):
        if kind == "dataset":
            return dataset(scale)
        return {"x": tf.zeros([2, 3]) * scale}, tf.zeros([2])

    make = build_supervised_input_receiver_fn_from_input_fn(input_fn, scale=2)
    assert not graph.get_operations(), "the input is built in a graph of its own"
    receiver = make()
    assert receiver.features["x"].shape.as_list() == [None, 3]
    assert receiver.labels.shape.as_list() == [None] and receiver.labels.dtype == tf.float32
    assert set(receiver.receiver_tensors) == {"x", "label"}


def test_an_input_function_must_return_features_and_labels():
    with pytest.raises(
        ValueError, match=r"^input_fn should return \(features, labels\) as a len 2 t"
    ):
        build_supervised_input_receiver_fn_from_input_fn(lambda: (1, 2, 3))
    with pytest.raises(ValueError, match=r"^labels must be defined: .* returned only \{'x': 5\}$"):
        build_supervised_input_receiver_fn_from_input_fn(lambda: {"x": 5})
