import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.layers.moments import batch_moments, combined_moments, shared_moments

VALUES = np.random.RandomState(0).normal(100, 3, size=[7, 4, 2])


def parts_together(*parts, weights=None):
    """Mean, variance and count of moments of parts, put together."""
    with tf.Session() as session:
        moments = [
            batch_moments(
                tf.constant(VALUES[part]),
                2,
                tf.float64,
                None if weights is None else weights[part],
            )
            for part in parts
        ]
        stacked = [tf.stack([m.mean, m.variance, tf.fill([2], m.count)]) for m in moments]
        return session.run(combined_moments(stacked))


def test_moments_of_parts_of_any_size_make_those_of_the_whole():
    mean, variance, count = parts_together(slice(2), slice(2, 3), slice(3, None))
    np.testing.assert_allclose(mean, VALUES.mean((0, 1)))
    np.testing.assert_allclose(variance, VALUES.var((0, 1)))
    np.testing.assert_array_equal(count, [28.0, 28.0])


def test_weights_of_examples_count_when_parts_are_put_together():
    weights = np.array([2, 0, 1, 3, 1, 1, 2])
    repeated = np.repeat(VALUES, weights, axis=0)
    mean, variance, count = parts_together(slice(3), slice(3, 7), weights=weights)
    np.testing.assert_allclose(mean, repeated.mean((0, 1)))
    np.testing.assert_allclose(variance, repeated.var((0, 1)))
    np.testing.assert_allclose(count, [repeated[..., 0].size] * 2)


def test_alone_the_moments_and_their_gradients_stay_what_they_are():
    with tf.Session() as session:
        values = tf.constant(VALUES)
        own = batch_moments(values, 2, tf.float64)
        shared = shared_moments(own)
        results = []
        for moments in (own, shared):
            loss = tf.reduce_sum(moments.mean * [1.0, -2.0] + tf.square(moments.variance))
            results.append(session.run([*moments, tf.gradients(loss, values)[0]]))
    for expected, found in zip(*results, strict=True):
        np.testing.assert_allclose(found, expected)


def test_the_unbiased_variance_of_one_value_is_0():
    with tf.Session() as session:
        one, whole = (
            session.run(batch_moments(tf.constant(part), 2, tf.float64).unbiased_variance())
            for part in (VALUES[:1, :1], VALUES)
        )
    assert one.tolist() == [0, 0]
    np.testing.assert_allclose(whole, VALUES.var((0, 1), ddof=1))
