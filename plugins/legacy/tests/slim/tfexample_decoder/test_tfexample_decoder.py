"""The decoders of examples and of sequences."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.slim.data_decoder import DataDecoder
from tf_frame_legacy.slim.tfexample_decoder import (
    Image,
    Tensor,
    TFExampleDecoder,
    TFSequenceExampleDecoder,
)
from tfrecords import make_example, make_feature

EXAMPLE = make_example({"label": 3})
LABEL = tf.io.FixedLenFeature([1], tf.int64)
DECODER = TFExampleDecoder(
    {"label": LABEL, "weight": tf.io.FixedLenFeature([], tf.float32, 0.5)},
    {"label": Tensor("label", shape=[]), "weight": Tensor("weight"), "image": Image()},
)


def test_items_come_in_the_order_in_which_they_are_asked_for():
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(DECODER.decode(EXAMPLE, ["weight", "label"])) == [0.5, 3]
        assert session.run(DECODER.decode(EXAMPLE, ["label"])) == [3]
    assert list(DECODER.list_items()) == ["label", "weight", "image"]
    assert isinstance(DECODER, DataDecoder)


def test_an_unknown_item_is_named_with_those_there_are():
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"\[box\] is invalid.*'weight'"):
        DECODER.decode(EXAMPLE, ["box"])


def test_a_handler_of_features_that_are_not_parsed_is_named():
    with (
        tf.Graph().as_default(),
        pytest.raises(ValueError, match=r"item \[image\] reads \['image/encoded', 'image/format'"),
    ):
        DECODER.decode(EXAMPLE, ["image"])


def test_the_shapes_of_features_are_given_in_the_order_of_their_keys():
    shapes = {"b": [1, 1], "c": [1, 1, 1], "a": [1]}
    features = {key: tf.io.FixedLenFeature(shape, tf.int64) for key, shape in shapes.items()}
    with tf.Graph().as_default() as graph:
        TFExampleDecoder(features, {"b": Tensor("b")}).decode(tf.placeholder(tf.string, []))
        reshapes = [op for op in graph.get_operations() if op.type == "Reshape"]
    assert [op.outputs[0].shape.rank for op in reshapes] == [1, 2, 3]


def test_a_sequence_has_items_of_its_context_and_of_its_frames():
    frames = tf.train.FeatureList(feature=[make_feature(1, 2), make_feature(3, 4)])
    example = tf.train.SequenceExample(
        context=tf.train.Features(feature={"label": make_feature(7)}),
        feature_lists=tf.train.FeatureLists(feature_list={"frames": frames}),
    )
    decoder = TFSequenceExampleDecoder(
        {"label": LABEL},
        {"frames": tf.io.FixedLenSequenceFeature([2], tf.int64)},
        {"label": Tensor("label"), "frames": Tensor("frames")},
    )
    with tf.Graph().as_default(), tf.Session() as session:
        label, seen = session.run(decoder.decode(example.SerializeToString()))
        [again] = session.run(decoder.decode(example.SerializeToString(), ["frames"]))
    assert label.tolist() == [7]
    assert seen.tolist() == again.tolist() == [[1, 2], [3, 4]]
    assert list(decoder.list_items()) == ["label", "frames"]


def test_context_and_sequence_share_no_key():
    with pytest.raises(ValueError, match="Context and sequence keys are not unique"):
        TFSequenceExampleDecoder({"a": LABEL}, {"a": LABEL}, {})
