"""Items out of parsed examples, under slim's names."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.slim.tfexample_decoder import (
    BackupHandler,
    ItemHandlerCallback,
    LookupTensor,
    SparseTensor,
    Tensor,
    TFExampleDecoder,
)
from tfrecords import make_example


def example(**values):
    return make_example(values)


def run_items(serialized, features, handlers):
    """The items of an example, in the order of the handlers; they are built in one graph."""
    with tf.Graph().as_default(), tf.Session() as session:
        items = TFExampleDecoder(features, handlers).decode(serialized)
        session.run(tf.tables_initializer())
        return session.run(items)


VALUES = tf.io.VarLenFeature(tf.float32)
NUMBERS = tf.io.VarLenFeature(tf.int64)
WORDS = tf.io.VarLenFeature(tf.string)


def test_a_tensor_is_as_parsed_or_has_a_shape_from_its_handler_or_from_the_example():
    serialized = example(x=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], shape=[3, 2], height=[2], width=[3])
    features = {
        "x": VALUES,
        "shape": NUMBERS,
        "height": tf.io.FixedLenFeature([], tf.int64),
        "width": tf.io.FixedLenFeature([], tf.int64),
    }
    plain, given, read, by_dimension = run_items(
        serialized,
        features,
        {
            "plain": Tensor("x"),
            "given": Tensor("x", shape=[1, 6]),
            "read": Tensor("x", shape_keys="shape"),
            "by_dimension": Tensor("x", shape_keys=["height", "width"]),
        },
    )
    numbers = np.arange(1, 7, dtype=np.float32)
    np.testing.assert_array_equal(plain, numbers)
    np.testing.assert_array_equal(given, numbers.reshape(1, 6))
    np.testing.assert_array_equal(read, numbers.reshape(3, 2))
    np.testing.assert_array_equal(by_dimension, numbers.reshape(2, 3))


def test_a_feature_of_fixed_length_keeps_the_shape_that_it_was_parsed_with():
    features = {"x": tf.io.FixedLenFeature([2, 2], tf.float32)}
    handlers = {"plain": Tensor("x"), "flat": Tensor("x", shape=[4])}
    plain, flat = run_items(example(x=[1.0, 2.0, 3.0, 4.0]), features, handlers)
    np.testing.assert_array_equal(plain, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(flat, [1, 2, 3, 4])


def test_where_a_sparse_feature_has_no_value_the_default_stands():
    with tf.Graph().as_default(), tf.Session() as session:
        sparse = tf.SparseTensor([[1], [3]], [5.0, 6.0], [4])
        dense = Tensor("x", shape=[2, 2], default_value=-1).tensors_to_item({"x": sparse})
        assert session.run(dense).tolist() == [[-1, 5], [-1, 6]]


def test_a_tensor_has_either_a_shape_or_keys_of_one():
    with pytest.raises(ValueError, match="Cannot specify both shape_keys and shape parameters"):
        Tensor("x", shape_keys=["height"], shape=[1])


def test_words_are_looked_up():
    with tf.Graph().as_default(), tf.Session() as session:
        entries = tf.lookup.KeyValueTensorInitializer(["cat", "dog"], tf.constant([7, 8]))
        table = tf.lookup.StaticHashTable(entries, -1)
        decoder = TFExampleDecoder({"names": WORDS}, {"labels": LookupTensor("names", table)})
        [labels] = decoder.decode(example(names=[b"dog", b"bird", b"cat"]))
        session.run(tf.tables_initializer())
        assert session.run(labels).tolist() == [8, -1, 7]


def test_the_backup_stands_in_where_the_first_item_is_empty():
    features = {"x": VALUES, "y": VALUES}
    handlers = {
        "has": BackupHandler(Tensor("x"), Tensor("y")),
        "lacks": BackupHandler(ItemHandlerCallback("x", lambda _: tf.zeros([0])), Tensor("y")),
    }
    has, lacks = run_items(example(x=[1.0, 2.0], y=[3.0]), features, handlers)
    assert (has.tolist(), lacks.tolist()) == ([1, 2], [3])
    assert list(handlers["has"].keys) == ["x", "y"]


@pytest.mark.parametrize(
    "arguments,message",
    [
        (("x", Tensor("y")), "Primary handler is of type <class 'str'> instead of ItemHandler"),
        ((Tensor("y"), None), "Backup handler is of type .* instead of ItemHandler"),
    ],
)
def test_a_backup_is_of_two_handlers(arguments, message):
    with pytest.raises(ValueError, match=message):
        BackupHandler(*arguments)


def test_a_callback_gets_its_features_and_no_others():
    seen = []

    def add(tensors):
        seen.append(sorted(tensors))
        return tensors["a"] + tensors["b"]

    scalar = tf.io.FixedLenFeature([], tf.float32)
    handlers = {"sum": ItemHandlerCallback(["a", "b"], add)}
    features = {"a": scalar, "b": scalar, "c": scalar}
    assert run_items(example(a=[1.0], b=[2.0], c=[4.0]), features, handlers) == [3]
    assert seen == [["a", "b"]]


def test_sparse_tensors_have_a_shape_that_is_read_given_or_that_of_the_indices():
    serialized = example(indices=[1, 2, 5], values=[0.5, 0.25, 2.0], shape=[6], other=[4, 5, 6])
    features = {"indices": NUMBERS, "values": VALUES, "shape": NUMBERS, "other": NUMBERS}
    plain, read, given, dense = run_items(
        serialized,
        features,
        {
            "plain": SparseTensor(),
            "read": SparseTensor(shape_key="shape"),
            "given": SparseTensor("other", "values", shape=np.array([7])),
            "dense": SparseTensor(shape=[6], densify=True, default_value=-1),
        },
    )
    assert plain.indices.tolist() == [[1], [2], [5]]
    assert plain.values.tolist() == [0.5, 0.25, 2]
    assert [s.dense_shape.tolist() for s in (plain, read, given)] == [[3], [6], [7]]
    assert given.indices.tolist() == [[4], [5], [6]]
    assert dense.tolist() == [-1, 0.5, 0.25, -1, -1, 2]


def test_sparse_indices_of_a_batch_keep_their_rows():
    with tf.Graph().as_default(), tf.Session() as session:
        batch = tf.stack([example(i=[4, 1], v=[1.0, 2.0]), example(i=[3], v=[5.0])])
        parsed = tf.parse_example(batch, {"i": NUMBERS, "v": VALUES})
        item = SparseTensor("i", "v", shape=[2, 5]).tensors_to_item(parsed)
        assert session.run(item).indices.tolist() == [[0, 4], [0, 1], [1, 3]]
