import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


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


def test_an_unknown_rank_is_refused():
    with pytest.raises(ValueError, match="known rank"):
        layers.flatten(tf.placeholder(tf.float32))


def test_the_outputs_are_collected_by_name():
    layers.flatten(tf.zeros([1, 2, 3]), outputs_collections="ends", scope="Flat")
    assert [end.aliases for end in tf.get_collection("ends")] == [["Flat"]]
