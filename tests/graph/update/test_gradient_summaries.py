import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.graph.update.gradient_summaries import gradient_summaries


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def variable(name, shape=(2,)):
    return tf.get_variable(name, list(shape), initializer=tf.zeros_initializer())


def written(summaries):
    """Values by tag, as they are in an event file; the tags in order."""
    with tf.Session() as session:
        merged = tf.Summary.FromString(session.run(tf.summary.merge(summaries)))
    return {value.tag: value for value in merged.value}


def test_each_gradient_gets_a_histogram_and_norms_are_there():
    values = written(
        gradient_summaries(
            [
                (tf.constant([3.0, -4.0]), variable("a/weights")),
                (tf.constant([0.0, 12.0]), variable("a/biases")),
            ]
        )
    )
    assert list(values) == [
        "gradients/a/weights",
        "gradient_norms/a/weights",
        "gradients/a/biases",
        "gradient_norms/a/biases",
        "gradient_norms/global",
    ]
    histogram = values["gradients/a/weights"].histo
    assert (histogram.num, histogram.min, histogram.max) == (2, -4.0, 3.0)
    norms = [values[f"gradient_norms/{name}"].simple_value for name in ("a/weights", "a/biases")]
    np.testing.assert_allclose(norms, [5.0, 12.0], rtol=1e-6)
    np.testing.assert_allclose(values["gradient_norms/global"].simple_value, 13.0, rtol=1e-6)


def test_of_a_sparse_gradient_the_slices_count():
    gradient = tf.IndexedSlices(tf.constant([[3.0], [4.0]]), tf.constant([1, 1]))
    values = written(gradient_summaries([(gradient, variable("embedding", [3, 1]))]))
    assert values["gradients/embedding"].histo.num == 2
    np.testing.assert_allclose(values["gradient_norms/embedding"].simple_value, 5.0, rtol=1e-6)


def test_a_variable_without_gradient_gets_a_line_of_log(caplog):
    caplog.set_level(logging.INFO, logger="tf_frame")
    pairs = [(None, variable("unused")), (tf.ones([2]), variable("used"))]
    assert len(gradient_summaries(pairs)) == 3
    assert [record.getMessage() for record in caplog.records] == ["Var unused has no gradient"]


def test_without_any_gradient_there_is_nothing_to_summarise():
    assert gradient_summaries([(None, variable("unused"))]) == []


def test_a_gradient_that_is_not_finite_ends_no_run_and_shows_in_the_norm():
    gradient = tf.constant([np.nan, 1.0, np.inf])
    values = written(gradient_summaries([(gradient, variable("v", [3]))]))
    assert values["gradients/v"].histo.num == 1
    assert np.isnan(values["gradient_norms/v"].simple_value)
    assert np.isnan(values["gradient_norms/global"].simple_value)


def test_the_norm_of_a_half_precision_gradient_does_not_overflow():
    gradient = tf.fill([4], tf.constant(30000.0, tf.float16))
    values = written(gradient_summaries([(gradient, variable("v", [4]))]))
    np.testing.assert_allclose(values["gradient_norms/v"].simple_value, 60000.0, rtol=1e-3)


def test_summaries_are_made_on_the_cpu_and_are_in_no_collection():
    with tf.device("/device:GPU:0"):
        summaries = gradient_summaries([(tf.ones([2]), variable("v"))])
    assert {summary.device for summary in summaries} == {"/device:CPU:0"}
    assert tf.get_collection(tf.GraphKeys.SUMMARIES) == []


def test_tags_do_not_depend_on_the_name_scope():
    with tf.name_scope("Optimizer"):
        summaries = gradient_summaries([(tf.ones([2]), variable("v"))])
    assert list(written(summaries)) == ["gradients/v", "gradient_norms/v", "gradient_norms/global"]
