import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy import slim


def test_end_points_are_made_of_a_collection_of_outputs():
    with tf.Graph().as_default():
        with tf.variable_scope("net") as scope:
            collection = scope.original_name_scope + "_end_points"
            with slim.arg_scope([slim.conv2d], outputs_collections=collection):
                net = slim.conv2d(tf.zeros([1, 4, 4, 3]), 2, 3, scope="conv1")
            net = slim.utils.collect_named_outputs(collection, "net/sum", net + 1)
        end_points = slim.utils.convert_collection_to_dict(collection)
    assert list(end_points) == ["net/conv1", "net/sum"]
    assert end_points["net/sum"] is net


def test_static_cond_calls_one_of_two_functions():
    assert slim.utils.static_cond(True, lambda: 1, pytest.fail) == 1
    assert slim.utils.static_cond(0, pytest.fail, lambda: 2) == 2
    with pytest.raises(TypeError, match=r"fn2 must be callable\."):
        slim.utils.static_cond(True, lambda: 1, 2)
    with tf.Graph().as_default(), pytest.raises(TypeError, match="bool"):
        slim.utils.static_cond(tf.constant(True), lambda: 1, lambda: 2)
