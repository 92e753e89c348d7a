import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers


def test_kept_elements_are_scaled_and_the_others_are_0():
    inputs = tf.constant(3.0, shape=[200, 50])
    outputs = layers.dropout(inputs, 0.75)
    gradient = tf.gradients(outputs, inputs)[0]
    with tf.Session() as session:
        result, by_inputs = session.run([outputs, gradient])
    kept = result != 0
    np.testing.assert_allclose(result[kept], 4.0, rtol=1e-6)
    # Five standard deviations of a binomial distribution.
    assert abs(kept.mean() - 0.75) < 5 * np.sqrt(0.75 * 0.25 / kept.size)
    np.testing.assert_allclose(by_inputs, np.where(kept, 1 / 0.75, 0), rtol=1e-6)


def test_without_training_nothing_changes_and_nothing_is_drawn():
    inputs = tf.constant(np.arange(6.0, dtype=np.float32))
    outputs = layers.dropout(inputs, 0.5, is_training=False, scope="off")
    assert outputs.op.name == "off/Identity"
    assert not [op for op in tf.get_default_graph().get_operations() if "Random" in op.type]
    with tf.Session() as session:
        assert session.run(outputs).tolist() == [0, 1, 2, 3, 4, 5]


def test_a_tensor_switches_without_control_flow():
    training = tf.placeholder(tf.bool, [])
    outputs = layers.dropout(tf.ones([100]), tf.constant(0.5), is_training=training)
    with tf.Session() as session:
        on, off = (session.run(outputs, {training: value}) for value in (True, False))
    assert set(on) == {0.0, 2.0}
    assert set(off) == {1.0}
    # Random operations in a branch could not be made to follow from the step.
    kinds = {op.type for op in tf.get_default_graph().get_operations()}
    assert not {"If", "StatelessIf", "Switch"} & kinds


def test_the_noise_shape_lets_elements_go_together():
    inputs = tf.placeholder(tf.float32, [None, 4, 5])
    outputs = layers.dropout(inputs, 0.5, noise_shape=[None, 1, 5])
    with tf.Session() as session:
        result = session.run(outputs, {inputs: np.ones([10, 4, 5])})
    np.testing.assert_array_equal(result, np.broadcast_to(result[:, :1], result.shape))
    assert set(result.ravel()) == {0.0, 2.0}


def test_the_same_seed_draws_the_same_and_another_does_not():
    outputs = [layers.dropout(tf.ones([50]), 0.5, seed=seed) for seed in (7, 7, 8)]
    with tf.Session() as session:
        first, second, other = session.run(outputs)
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()


def test_the_scope_names_the_outputs_in_a_collection():
    with layers.arg_scope([layers.dropout, layers.flatten], outputs_collections="ends"):
        layers.dropout(tf.ones([2]))
        layers.dropout(tf.ones([2]), scope="Last")
        layers.flatten(tf.zeros([1, 2, 3]), scope="Flat")
    names = [end.aliases for end in tf.get_collection("ends")]
    assert names == [["Dropout"], ["Last"], ["Flat"]]


@pytest.mark.parametrize(
    ("shape", "flat"),
    [
        ([2, 3, 4], [2, 12]),
        ([None, 3, 4], [None, 12]),
        ([2, None, 4], [2, None]),
        ([None, None, None], [None, None]),
    ],
)
def test_every_example_becomes_a_vector(shape, flat):
    inputs = tf.placeholder(tf.float32, shape)
    outputs = layers.flatten(inputs)
    assert outputs.shape.as_list() == flat
    values = np.arange(24.0).reshape(2, 3, 4)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(outputs, {inputs: values}), values.reshape(2, 12))
        if shape[0] is None:
            assert session.run(outputs, {inputs: values[:0]}).shape == (0, 12)


def test_the_largest_of_each_group_of_neighbours_is_left():
    values = np.random.RandomState(0).normal(size=[2, 6, 4]).astype(np.float32)
    with tf.Session() as session:
        inputs = tf.placeholder(tf.float32, [None, 6, 4])
        last, middle = layers.maxout(inputs, 2), layers.maxout(inputs, 3, axis=1)
        assert last.shape.as_list() == [None, 6, 2]
        assert middle.shape.as_list() == [None, 3, 4]
        last, middle = session.run([last, middle], {inputs: values})
    np.testing.assert_array_equal(last, values.reshape(2, 6, 2, 2).max(-1))
    np.testing.assert_array_equal(middle, values.reshape(2, 3, 2, 4).max(2))


def test_a_number_becomes_a_vector_and_one_out_of_range_no_place():
    with tf.Session() as session:
        plain = layers.one_hot_encoding([1, 5], 3)
        other = layers.one_hot_encoding(
            tf.constant([2], tf.int64), 3, on_value=2.0, off_value=-1.0, outputs_collections="ends"
        )
        (collected,) = tf.get_collection("ends")
        assert collected.aliases == ["OneHotEncoding_1"]
        assert session.run(plain).tolist() == [[0, 1, 0], [0, 0, 0]]
        assert session.run(other).tolist() == [[-1, -1, 2]]


def test_the_last_dimension_sums_to_1():
    values = np.random.RandomState(0).normal(size=[2, 3, 4]).astype(np.float32)
    with tf.Session() as session:
        logits = tf.placeholder(tf.float32, [None, None, 4])
        predictions = layers.softmax(logits, scope="Predictions")
        assert predictions.shape.as_list() == [None, None, 4]
        assert predictions.op.name.startswith("Predictions/")
        result = session.run(predictions, {logits: values})
    expected = np.exp(values) / np.exp(values).sum(-1, keepdims=True)
    np.testing.assert_allclose(result, expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("layer", "shape", "message"),
    [
        (layers.flatten, None, "known rank"),
        (lambda inputs: layers.maxout(inputs, 4), [1, 6], r"features\(6\) is not a multip"),
        (layers.softmax, [3], "at least 2"),
        (layers.softmax, [2, None], "must be known"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(layer, shape, message):
    with pytest.raises(ValueError, match=message):
        layer(tf.placeholder(tf.float32, shape))
