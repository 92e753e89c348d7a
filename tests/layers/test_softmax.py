import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers


def test_the_last_dimension_sums_to_1():
    values = np.random.RandomState(0).normal(size=[2, 3, 4]).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        logits = tf.placeholder(tf.float32, [None, None, 4])
        predictions = layers.softmax(logits, scope="Predictions")
        assert predictions.shape.as_list() == [None, None, 4]
        assert predictions.op.name.startswith("Predictions/")
        result = session.run(predictions, {logits: values})
    expected = np.exp(values) / np.exp(values).sum(-1, keepdims=True)
    np.testing.assert_allclose(result, expected, rtol=1e-5)


@pytest.mark.parametrize(("shape", "message"), [([3], "at least 2"), ([2, None], "must be known")])
def test_logits_without_known_classes_are_refused(shape, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        layers.softmax(tf.placeholder(tf.float32, shape))
