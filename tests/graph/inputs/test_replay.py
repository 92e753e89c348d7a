"""Texts on data sets that are read again from their beginning."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.graph.inputs.replay import describe_exactness
from tf_frame.graph.inputs.streams import dataset_batches, iterator_initializers

SAME = "and goes on exactly if its Python functions return the same again"
ORDER = "the order of its elements is not fixed (deterministic=False)"


def python(n):
    return tf.numpy_function(lambda n: n, [n], tf.int64)


def noise(n):
    return n + tf.random_uniform([], maxval=9, dtype=tf.int64)


def numbers(function=None, **options):
    data = tf.data.Dataset.range(9).shuffle(3)
    return data if function is None else data.map(function, **options)


def unordered():
    options = tf.data.Options()
    options.deterministic = False
    return numbers(python).with_options(options)


def sloppy():
    return tf.data.Dataset.range(3).interleave(
        lambda n: tf.data.Dataset.range(n).map(python), num_parallel_calls=2, deterministic=False
    )


CASES = {
    "shuffled": (numbers, "and goes on exactly"),
    "random": (lambda: numbers(noise), "and goes on exactly"),
    "Python": (lambda: numbers(python), SAME),
    "inner Python": (
        lambda: numbers().flat_map(lambda n: tf.data.Dataset.range(n).map(python)),
        SAME,
    ),
    "generator": (lambda: tf.data.Dataset.from_generator(lambda: range(3), tf.int64), SAME),
    "parallel Python": (
        lambda: numbers(python, num_parallel_calls=2),
        f"{SAME}, in any order of their calls",
    ),
    "parallel random": (
        lambda: numbers(noise, num_parallel_calls=2),
        "and goes on with other examples: parallel calls draw random numbers in no fixed order",
    ),
    "unordered": (unordered, f"and goes on with other examples: {ORDER}"),
    "unordered map": (
        lambda: numbers(python, num_parallel_calls=2, deterministic=False),
        f"and goes on with other examples: {ORDER}",
    ),
    "unordered interleave": (sloppy, f"and goes on with other examples: {ORDER}"),
}


@pytest.mark.parametrize("name", CASES)
def test_how_exactly_a_run_goes_on(name):
    make, text = CASES[name]
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        dataset_batches(make().map(lambda n: (n, n)), 1)
        assert describe_exactness(iterator_initializers()) == text


def test_random_numbers_without_a_seed():
    with tf.Graph().as_default():
        dataset_batches(numbers(noise).map(lambda n: (n, n)), 1)
        assert describe_exactness(iterator_initializers()).endswith("numbers without a seed")
