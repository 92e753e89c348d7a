"""Boxes and points in examples and sequences, under slim's names."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.slim.tfexample_decoder import (
    BoundingBox,
    BoundingBoxSequence,
    KeypointsSequence,
    NumBoxesSequence,
    TFSequenceExampleDecoder,
)

RAGGED = tf.io.VarLenFeature(tf.float32)


def floats(values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def sequence(**lists):
    """A serialized sequence: key -> values of each frame."""
    features = {
        key: tf.train.FeatureList(feature=[floats(frame) for frame in frames])
        for key, frames in lists.items()
    }
    return tf.train.SequenceExample(
        feature_lists=tf.train.FeatureLists(feature_list=features)
    ).SerializeToString()


def run_item(example, keys, handler):
    decoder = TFSequenceExampleDecoder({}, dict.fromkeys(keys, RAGGED), {"item": handler})
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(decoder.decode(example)[0])


@pytest.mark.parametrize("sparse", [True, False])
def test_sides_become_boxes_in_the_order_ymin_xmin_ymax_xmax(sparse):
    sides = {"xmax": [4.0, 40.0], "ymin": [1.0, 10.0], "ymax": [3.0, 30.0], "xmin": [2.0, 20.0]}
    handler = BoundingBox(prefix="box/")
    with tf.Graph().as_default(), tf.Session() as session:
        tensors = {f"box/{key}": tf.constant(values) for key, values in sides.items()}
        if sparse:
            tensors = {key: tf.sparse.from_dense(value) for key, value in tensors.items()}
        boxes = session.run(handler.tensors_to_item(tensors))
    assert boxes.tolist() == [[1, 2, 3, 4], [10, 20, 30, 40]]
    assert list(handler.keys) == ["box/ymin", "box/xmin", "box/ymax", "box/xmax"]


@pytest.mark.parametrize(
    "make,message",
    [
        (lambda: BoundingBox(["a"] * 3), "BoundingBox expects 4 keys but got 3"),
        (lambda: BoundingBoxSequence(["a"] * 5), "BoundingBoxSequence expects 4 keys but got 5"),
        (lambda: KeypointsSequence(["a"]), "KeypointsSequence expects 2 keys but got 1"),
        (lambda: NumBoxesSequence([]), "keys must not be empty."),
    ],
)
def test_the_number_of_keys_is_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_boxes_of_a_sequence_are_filled_up_to_the_fullest_frame():
    lists = {
        "b/ymin": [[1.0, 5.0], [9.0]],
        "b/xmin": [[2.0, 6.0], [10.0]],
        "b/ymax": [[3.0, 7.0], [11.0]],
        "b/xmax": [[4.0, 8.0], [12.0]],
    }
    expected = np.array([[[1, 2, 3, 4], [5, 6, 7, 8]], [[9, 10, 11, 12], [-1] * 4]])
    example = sequence(**lists)
    items = run_item(example, lists, BoundingBoxSequence(prefix="b/"))
    np.testing.assert_array_equal(items, expected)
    keys = ["b/xmin", "b/ymin", "b/ymax", "b/xmax"]
    swapped = run_item(example, lists, BoundingBoxSequence(keys, default_value=0.0))
    np.testing.assert_array_equal(swapped[0], expected[0][:, [1, 0, 2, 3]])
    assert swapped[1, 1].tolist() == [0] * 4
    sparse = run_item(example, lists, BoundingBoxSequence(prefix="b/", return_dense=False))
    assert sparse.values.tolist() == list(range(1, 13))
    assert sparse.dense_shape.tolist() == [2, 2, 4]


def test_points_of_a_sequence_are_y_and_x():
    lists = {"p/x": [[2.0], [4.0, 6.0]], "p/y": [[1.0], [3.0, 5.0]]}
    items = run_item(sequence(**lists), lists, KeypointsSequence(prefix="p/"))
    np.testing.assert_array_equal(items, [[[1, 2], [-1, -1]], [[3, 4], [5, 6]]])


def test_boxes_of_each_frame_are_counted():
    lists = {"a": [[0.0, 0.0, 0.0], [], [7.0]], "b": [[1.0], [], [7.0]]}
    example = sequence(**lists)
    loose = NumBoxesSequence(["a", "b"], check_consistency=False)
    assert run_item(example, lists, loose).tolist() == [3, 0, 1]
    assert run_item(sequence(a=[[], []]), ["a"], NumBoxesSequence("a")).tolist() == [0, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
        run_item(example, lists, NumBoxesSequence(["a", "b"]))


def test_boxes_of_a_dense_feature_cannot_be_counted():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="must be of type tf.SparseTens"):
        NumBoxesSequence("a").tensors_to_item({"a": tf.zeros([2, 2])})
