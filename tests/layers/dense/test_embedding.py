import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers

IDS = np.array([[1, 3, 1], [0, 1, 3]])


@pytest.mark.parametrize("unique", [False, True])
def test_each_symbol_gets_its_vector_and_its_gradient(unique, variable_mode):
    outputs = layers.embed_sequence(IDS, 5, 2, unique=unique)
    assert outputs.shape == [2, 3, 2]
    (vectors,) = tf.get_collection(tf.GraphKeys.MODEL_VARIABLES)
    assert vectors.op.name == "EmbedSequence/embeddings"
    (gradient,) = tf.gradients(outputs, vectors)
    assert isinstance(gradient, tf.IndexedSlices)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        result, table, dense = session.run([outputs, vectors, tf.convert_to_tensor(gradient)])
        rows = session.run(tf.shape(gradient.indices))[0]
    np.testing.assert_array_equal(result, table[IDS])
    assert dense[:, 0].tolist() == [1, 3, 0, 2, 0]
    assert rows == (3 if unique else 6)


def test_vectors_can_be_reused_without_their_sizes_that_new_ones_need():
    with pytest.raises(ValueError, match="Got vocab_size=5 and embed_dim=None"):
        layers.embed_sequence(IDS, 5)
    first = layers.embed_sequence(
        IDS, 5, 2, scope="words", regularizer=layers.l2_regularizer(1.0), trainable=False
    )
    again = layers.embed_sequence(IDS, scope="words", reuse=True)
    assert len(tf.global_variables()) == 1
    assert not tf.trainable_variables()
    assert len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 1
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(*session.run([first, again]))
