import tensorflow.compat.v1 as tf

from tf_frame import layers


def test_a_number_becomes_a_vector_and_one_out_of_range_no_place():
    with tf.Graph().as_default(), tf.Session() as session:
        plain = layers.one_hot_encoding([1, 5], 3)
        other = layers.one_hot_encoding(
            tf.constant([2], tf.int64), 3, on_value=2.0, off_value=-1.0, outputs_collections="ends"
        )
        (collected,) = tf.get_collection("ends")
        assert collected.aliases == ["OneHotEncoding_1"]
        assert session.run(plain).tolist() == [[0, 1, 0], [0, 0, 0]]
        assert session.run(other).tolist() == [[-1, -1, 2]]
