"""Distributions of the stateless ops, each bound five standard errors wide."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.graph.stateless_random import STATELESS, Stream

COUNT = 40_000


def drawn(stateful, *, key=2**64 - 3, index=7):
    """Numbers that the stateless counterpart of an op draws, and the op's own output."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.set_random_seed(1)
        stateful()
        (op,) = [op for op in graph.get_operations() if op.type in STATELESS]
        stream = Stream(key, tf.constant(index, tf.int64))
        new = STATELESS[op.type](op, stream)
        assert new.dtype == op.outputs[0].dtype
        return session.run([new, op.outputs[0]])


def assert_moments(numbers, mean, variance):
    error = np.sqrt(variance / numbers.size)
    assert abs(numbers.mean() - mean) < 5 * error
    # The variance of the sample variance is at most (kurtosis) 9 variance^2 / n for these.
    assert abs(numbers.var() - variance) < 5 * 3 * variance / np.sqrt(numbers.size)


# Mean and variance of a normal distribution cut off at two standard deviations.
MOMENTS = {
    "uniform": (lambda: tf.random_uniform([COUNT]), 1 / 2, 1 / 12),
    "uniform, float64": (lambda: tf.random_uniform([COUNT], dtype=tf.float64), 1 / 2, 1 / 12),
    "normal": (lambda: tf.random_normal([COUNT]), 0, 1),
    "truncated normal": (lambda: tf.random.truncated_normal([COUNT]), 0, 0.7737),
    "gamma": (lambda: tf.random_gamma([COUNT], 3.0), 3, 3),
    "poisson": (lambda: tf.random_poisson(4.0, [COUNT]), 4, 4),
    "integers": (lambda: tf.random_uniform([COUNT], 0, 10, tf.int32), 4.5, 99 / 12),
    "integers, 64 bits": (lambda: tf.random_uniform([COUNT], -5, 6, tf.int64), 0, 10),
    "categories": (lambda: tf.multinomial(tf.log([[0.25, 0.75]]), COUNT), 0.75, 0.1875),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_mean_and_variance_are_those_of_the_distribution(name):
    stateful, mean, variance = MOMENTS[name]
    new, old = drawn(stateful)
    assert new.shape == old.shape
    assert_moments(new, mean, variance)
    assert_moments(old, mean, variance)
    assert not np.array_equal(new, old)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.float64])
def test_uniform_numbers_lie_between_0_and_less_than_1(dtype):
    numbers, _ = drawn(lambda: tf.random_uniform([COUNT], dtype=dtype))
    assert numbers.min() >= 0 and numbers.max() < 1
    counts, _ = np.histogram(numbers.astype(np.float64), bins=10, range=(0, 1))
    assert np.abs(counts - COUNT / 10).max() < 5 * np.sqrt(COUNT / 10)


def test_ranges_of_integers_and_truncated_numbers():
    numbers, _ = drawn(lambda: tf.random_uniform([COUNT], -3, 4, tf.int32))
    assert sorted(set(numbers.tolist())) == list(range(-3, 4))
    numbers, _ = drawn(lambda: tf.random.truncated_normal([COUNT]))
    assert 1.99 < np.abs(numbers).max() < 2


def test_gamma_poisson_and_truncated_parameters():
    for stateful in (
        lambda: tf.random_gamma([2000], [[1.0], [50.0]]),
        lambda: tf.random_poisson([[1.0], [50.0]], [2000]),
    ):
        new, old = drawn(stateful)
        assert new.shape == old.shape == (2000, 2, 1)
        assert_moments(new[:, 0], 1, 1)
        assert_moments(new[:, 1], 50, 50)
    new, _ = drawn(
        lambda: tf.raw_ops.ParameterizedTruncatedNormal(
            shape=[3, 2000], means=5.0, stdevs=1.0, minvals=3.0, maxvals=7.0
        )
    )
    assert_moments(new, 5, 0.7737)


@pytest.mark.parametrize("shape", [[2, 3000], [2, 300, 10]])
def test_parameterized_truncated_normals_have_parameters_for_each_row(shape):
    new, old = drawn(
        lambda: tf.raw_ops.ParameterizedTruncatedNormal(
            shape=shape, means=[0.0, 100], stdevs=[1.0, 2], minvals=[-2.0, 96], maxvals=[2.0, 104]
        )
    )
    assert new.shape == old.shape == tuple(shape)
    assert_moments(new[0], 0, 0.7737)
    assert_moments(new[1], 100, 4 * 0.7737)
    assert new[1].min() > 96 and new[1].max() < 104


def test_shuffles_permute_and_runs_do_not_overlap():
    rows = np.arange(60).reshape(20, 3)
    new, _ = drawn(lambda: tf.random_shuffle(rows))
    assert not np.array_equal(new, rows)
    np.testing.assert_array_equal(new[np.argsort(new[:, 0])], rows)

    def draw(index):
        return drawn(lambda: tf.random_uniform([4096], dtype=tf.float64), index=index)[0]

    assert not set(draw(0)) & set(draw(1))


@pytest.mark.parametrize("other", [{"key": 5}, {"index": 8}])
@pytest.mark.parametrize("name", [*MOMENTS, "shuffle"])
def test_another_key_or_run_draws_other_numbers(name, other):
    stateful = MOMENTS[name][0] if name in MOMENTS else lambda: tf.random_shuffle(tf.range(50))
    first, _ = drawn(stateful)
    np.testing.assert_array_equal(first, drawn(stateful)[0])
    assert (first != drawn(stateful, **other)[0]).mean() > 0.2
