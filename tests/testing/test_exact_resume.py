import itertools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.plugin import Input
from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame.testing.toy import ToyInput


class Built(Input):
    """Returns the result of a function of the context."""

    def dataset(self, mode, context):
        return self.params(context)


def numbers(context):
    return tf.data.Dataset.range(12).shuffle(5, seed=context.seed).repeat()


@pytest.mark.parametrize("num_clones", [1, 2])
def test_an_input_that_shuffles_and_repeats_passes(num_clones):
    source = ToyInput(params=ToyInput.Params(num_examples=12, shuffle=True))
    check_exact_resume(source, batch_size=5, steps=6, num_clones=num_clones)


def test_texts_sparse_and_no_numbers_are_compared():
    def build(context):
        def example(n):
            sparse = tf.SparseTensor([[n]], [tf.as_string(n)], [12])
            return {"text": tf.as_string(n), "sparse": sparse}, {
                "nan": tf.constant(float("nan")),
                "none": tf.zeros([0]),
            }

        return numbers(context).map(example, num_parallel_calls=1).batch(2)

    check_exact_resume(Built(params=build), batch_size=2, steps=5)


def test_several_data_sets_are_checked_together():
    def build(context):
        return [numbers(context).map(lambda n: (n, -n)).batch(size) for size in (1, 2)]

    check_exact_resume(Built(params=build), batch_size=1, steps=5)


def random(context):
    return numbers(context).map(lambda n: (n, tf.random_uniform([]))).batch(2)


def queue(context):
    batch = tf.zeros([2]), tf.zeros([2])
    return lambda: batch


def ends(context):
    return tf.data.Dataset.range(5).map(lambda n: (n, n)).batch(1)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (random, r"(?s)RandomUniform is stateful.*stateless"),
        (queue, "returned no data set"),
        (ends, "ends after 5 batches"),
    ],
)
def test_data_that_cannot_be_resumed_is_found(build, message):
    with pytest.raises(AssertionError, match=message):
        check_exact_resume(Built(params=build), batch_size=2, steps=6)


@pytest.mark.parametrize("kind", [np.int64, str])
def test_python_code_that_counts_behind_the_back_of_tensorflow_is_found(kind):
    """Called stateless by its author, so TensorFlow saves the position without a word."""
    counter = itertools.count()

    def build(context):
        def count(n):
            return np.array(next(counter)).astype(np.int64 if kind is np.int64 else object)

        def text(n):
            return str(next(counter))

        function, dtype = (count, tf.int64) if kind is np.int64 else (text, tf.string)

        def counted(n):
            value = tf.numpy_function(function, [n], dtype, stateful=False)
            return n, tf.ensure_shape(value, [])

        return numbers(context).map(counted).batch(2)

    message = (
        r"^resumed after step 0, batch 1: tensor 1 of 2 \(\w+ \[2\]\) differs in 2 of 2 values"
    )
    with pytest.raises(AssertionError, match=message):
        check_exact_resume(Built(params=build), batch_size=2, steps=3)


def test_shapes_that_change_are_found():
    counter = itertools.count(1)

    def build(context):
        def longer(n):
            value = tf.numpy_function(
                lambda _: np.zeros(next(counter), np.int64), [n], tf.int64, stateful=False
            )
            return n, tf.ensure_shape(value, [None])

        return numbers(context).map(longer).batch(1)

    with pytest.raises(AssertionError, match=r"tensor 1 of 2 \(int64 \[1, 1\]\) has the shape"):
        check_exact_resume(Built(params=build), batch_size=1, steps=3)
