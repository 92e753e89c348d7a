import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame import layers


def test_global_average_pool_equals_numpy():
    inputs = np.random.RandomState(0).normal(size=[2, 3, 4, 5]).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        images = tf.placeholder(tf.float32, [None, None, None, 5])
        pooled = layers.global_average_pool(images)
        flat = layers.global_average_pool(images, keep_dims=False)
        pooled, flat = session.run([pooled, flat], {images: inputs})
    assert pooled.shape == (2, 1, 1, 5)
    np.testing.assert_allclose(flat, inputs.mean(axis=(1, 2)), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(pooled[:, 0, 0], flat)
