import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        yield


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
    ones = tf.ones([50])
    same = [layers.dropout(ones, 0.5, seed=seed) for seed in (7, 7, 8)]
    with tf.Session() as session:
        first, second, other = session.run(same)
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()


def test_the_scope_names_the_outputs_in_a_collection():
    with layers.arg_scope([layers.dropout], outputs_collections="ends"):
        layers.dropout(tf.ones([2]))
        layers.dropout(tf.ones([2]), scope="Last")
    assert [end.aliases for end in tf.get_collection("ends")] == [["Dropout"], ["Last"]]
