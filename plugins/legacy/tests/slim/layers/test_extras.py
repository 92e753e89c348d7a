"""slim's small layers, by hand."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
from tf_frame_legacy import slim


def test_numbers_fall_into_buckets():
    buckets = slim.bucketize(tf.constant([-5.0, 0.0, 3.0, 100.0]), [0, 10, 100])
    assert buckets.dtype == tf.int32
    assert run_initialized(buckets).tolist() == [0, 1, 1, 3]


def test_labels_become_sparse_without_the_end_token():
    with slim.arg_scope([slim.dense_to_sparse], eos_token=-1):
        sparse = run_initialized(slim.dense_to_sparse(tf.constant([[3, 0, -1], [-1, 2, -1]])))
    assert sparse.indices.tolist() == [[0, 0], [0, 1], [1, 1]]
    assert sparse.values.tolist() == [3, 0, 2]
    assert sparse.dense_shape.tolist() == [2, 3]


def test_images_become_sequences_of_columns_and_back():
    images = np.arange(2 * 3 * 4 * 5.0).reshape(2, 3, 4, 5)
    known = slim.images_to_sequence(images)
    assert known.shape.as_list() == [4, 6, 5]
    unknown = slim.images_to_sequence(tf.placeholder_with_default(images, [None, None, 4, 5]))
    first = slim.images_to_sequence(images.transpose(0, 3, 1, 2), data_format="NCHW")
    back = slim.sequence_to_images(known, 3)
    assert back.shape.as_list() == [2, 3, 4, 5]
    back_first = slim.sequence_to_images(unknown, 3, output_data_format="channels_first")
    values = run_initialized([known, unknown, first, back, back_first])
    expected = np.stack([images[:, :, column].reshape(6, 5) for column in range(4)])
    for sequence in values[:3]:
        np.testing.assert_array_equal(sequence, expected)
    np.testing.assert_array_equal(values[3], images)
    np.testing.assert_array_equal(values[4], images.transpose(0, 3, 1, 2))
    with pytest.raises(ValueError, match="either NCHW or NHWC. Found 'NHCW'"):
        slim.images_to_sequence(images, data_format="NHCW")


def test_a_gradient_is_scaled_and_its_tensor_is_not():
    inputs = tf.constant([1.0, 2.0])
    outputs = slim.scale_gradient(inputs, tf.constant([0.5, -1.0]))
    (gradient,) = tf.gradients(3.0 * outputs, inputs)
    values, slopes = run_initialized([outputs, gradient])
    assert (values.tolist(), slopes.tolist()) == ([1, 2], [1.5, -3])


@pytest.mark.usefixtures("variable_mode")
def test_the_layer_from_before_slim_has_a_bias_of_another_name():
    rows = np.arange(12.0, dtype=np.float32).reshape(2, 3, 2)
    outputs = slim.legacy_relu(
        tf.constant(rows),
        2,
        weight_init=tf.constant_initializer([[1.0, -1.0], [2.0, 0.5]]),
        bias_init=tf.constant_initializer([0.25, 0.5]),
        weight_regularizer=slim.l2_regularizer(0.5),
        name="layer",
    )
    assert outputs.shape.as_list() == [2, 3, 2]
    assert [v.op.name for v in tf.trainable_variables()] == ["layer/weights", "layer/bias"]
    assert [v.op.name for v in tf.get_collection(tf.GraphKeys.BIASES)] == ["layer/bias"]
    assert tf.get_collection(tf.GraphKeys.ACTIVATIONS) == [outputs]
    values, penalty = run_initialized([outputs, tf.losses.get_regularization_loss()])
    expected = rows @ [[1.0, -1.0], [2.0, 0.5]] + [0.25, 0.5]
    np.testing.assert_allclose(values, np.maximum(expected, 0), rtol=1e-6)
    assert penalty == pytest.approx(0.5 * 0.5 * (1 + 1 + 4 + 0.25))
    slim.legacy_linear(tf.zeros([1, 2]), 1, bias_init=None)
    assert [v.op.name for v in tf.trainable_variables()][2:] == ["fully_connected/weights"]


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (None, "dims of x must be known"),
        ([3], "rank of x must be at least 2 not: 1"),
        ([3, None], "last dimension of x must be known"),
    ],
)
def test_the_layer_from_before_slim_refuses_unknown_sizes(shape, message):
    with pytest.raises(ValueError, match=message):
        slim.legacy_fully_connected(tf.placeholder(tf.float32, shape), 2)
