"""What follows a quantised layer computes with its rounded output."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.graph.quantization import quantize_training_graph

IMAGES = np.random.RandomState(0).uniform(-1, 1, [4, 8, 8, 3]).astype(np.float32)


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("activation", [tf.nn.relu, None])
def test_what_reads_the_output_of_a_layer_reads_it_rounded(activation):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        tf.train.create_global_step()
        output = layers.conv2d(tf.constant(IMAGES), 8, 3, activation_fn=activation, scope="layer")
        seen = tf.reshape(output, tf.shape(output))
        quantize_training_graph(delay_steps=0)
        session.run(tf.global_variables_initializer())
        session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        before, after = session.run([output, seen])
    assert len(np.unique(before)) > 500
    assert 50 < len(np.unique(after)) <= 256
    step = (max(before.max(), 0) - min(before.min(), 0)) / 255
    np.testing.assert_allclose(after, before, rtol=0, atol=0.51 * step)


@pytest.mark.usefixtures("variable_mode")
def test_a_sum_of_layers_is_rounded_for_what_follows():
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        tf.train.create_global_step()
        images = tf.constant(IMAGES)
        parts = [layers.conv2d(images, 8, 3, scope=name) for name in ("one", "other")]
        total = parts[0] + parts[1]
        seen = tf.reshape(total, tf.shape(total))
        quantize_training_graph(delay_steps=0)
        session.run(tf.global_variables_initializer())
        session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        before, after = session.run([total, seen])
    assert len(np.unique(before)) > len(np.unique(after))
    assert 50 < len(np.unique(after)) <= 256
