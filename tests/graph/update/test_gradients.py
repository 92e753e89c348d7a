import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
from tf_frame.errors import ConfigError, PluginError, TfFrameError, UnmatchedPatternWarning
from tf_frame.graph.update.gradients import (
    check_gradients,
    gradient_summaries,
    sum_gradients,
    transform_gradients,
    variables_to_train,
)

pytestmark = pytest.mark.usefixtures("graph")


def sparse(values, indices):
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices), tf.constant([4, 1]))


def make_variable(shape):
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        return tf.get_variable("v", shape)


def slices_of_unknown_shape():
    return tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([3, 3]))


@pytest.mark.parametrize(
    ("gradients", "is_sparse", "total"),
    [
        (lambda: [tf.ones([4, 1])] * 3, False, [3, 3, 3, 3]),
        (lambda: [sparse([[1.0]], [0]), sparse([[2.0], [5.0]], [0, 3])], True, [3, 0, 0, 5]),
        (lambda: [sparse([[1.0]], [0]), tf.ones([4, 1])], False, [2, 1, 1, 1]),
        (lambda: [tf.ones([4, 1]), slices_of_unknown_shape()], False, [1, 1, 1, 4]),
        (lambda: [None, tf.ones([4, 1])], False, [1, 1, 1, 1]),
    ],
    ids=["dense", "sparse", "sparse and dense", "sparse without shape", "of one clone only"],
)
def test_gradients_of_clones_are_added(gradients, is_sparse, total):
    v = make_variable([4, 1])
    ((added, variable), (none, _)) = sum_gradients([[(g, v), (None, v)] for g in gradients()])
    assert variable is v and isinstance(added, tf.IndexedSlices) == is_sparse
    assert none is None
    dense = run_initialized(tf.convert_to_tensor(added))
    np.testing.assert_array_equal(dense[:, 0], total)


def test_transforms_run_in_the_order_given():
    pairs = [(tf.constant(1.0), make_variable([]))]
    add = lambda pairs: [(g + 1, v) for g, v in pairs]  # noqa: E731
    double = lambda pairs: [(g * 2, v) for g, v in pairs]  # noqa: E731
    assert run_initialized(transform_gradients(pairs, [add, double])[0][0]) == 4.0
    assert run_initialized(transform_gradients(pairs, [double, add])[0][0]) == 3.0


class Returning:
    """A transform that returns a value."""

    def __init__(self, returned):
        self.returned = returned

    def __call__(self, pairs):
        return self.returned


def forgetful(pairs):
    del pairs


@pytest.mark.parametrize(
    ("transform", "name"),
    [
        *((Returning(value), "Returning.__call__") for value in (None, 3, {"a": 1}, tf.no_op)),
        (Returning(["gradient", "another"]), "Returning.__call__"),
        (forgetful, "forgetful"),
    ],
)
def test_a_transform_that_returns_no_pairs_is_named(transform, name):
    with pytest.raises(PluginError, match=rf"{name}\(\) returned .*; it must return a list of"):
        transform_gradients([(tf.constant(1.0), make_variable([]))], [transform])


def test_a_loss_that_depends_on_no_variable_is_refused():
    with pytest.raises(TfFrameError, match="the loss of Net depends on no trainable variable"):
        check_gradients([(None, make_variable([]))], origin="Net")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda g, v: [(g, v), (g, v)], "at most once"),
        (lambda g, v: [(g, None)], "a pair with None; it must return each of the 1 variables"),
        (lambda g, v: [(3.0, v)], "returned for .* 3.0 of type float; a gradient must be a tensor"),
        (
            lambda g, v: [(g[None], v)],
            r"a gradient of shape \(1, 2\); the variable has shape \(2,\)",
        ),
        (lambda g, v: [(tf.cast(g, tf.int32), v)], "of type int32; the variable has type float32"),
    ],
)
def test_gradients_that_do_not_fit_their_variables_are_refused(change, problem):
    with pytest.raises(PluginError, match=problem):
        transform_gradients(
            [(tf.constant([1.0, 2.0]), make_variable([2]))], [lambda pairs: change(*pairs[0])]
        )


def test_clones_must_differentiate_by_the_same_variables():
    with tf.Graph().as_default():
        a, b = (tf.get_variable(name, []) for name in "ab")
        with pytest.raises(TfFrameError, match="different variables: a, b"):
            sum_gradients([[(tf.constant(1.0), a)], [(tf.constant(2.0), b)]])


@pytest.fixture
def variables(graph):
    """Makes variables in three scopes, one of them not trainable."""
    for name in ("Net/Conv/weights", "Net/Conv/biases", "Logits/weights", "LogitsAux/weights"):
        tf.get_variable(name, [2])
    tf.get_variable("Net/moving_mean", [2], trainable=False)


def names(*scopes):
    return [v.op.name for v in variables_to_train(scopes)]


@pytest.mark.usefixtures("variables")
def test_scopes_choose_the_trained_variables():
    assert names() == [v.op.name for v in tf.trainable_variables()]
    assert len(names()) == 4
    assert names("Logits", "Net/Conv/b") == [
        "Logits/weights",
        "LogitsAux/weights",
        "Net/Conv/biases",
    ]
    assert names("Logits/", "Logits") == ["Logits/weights", "LogitsAux/weights"]
    with pytest.warns(UnmatchedPatternWarning, match="'Logit2' has no .* Logits, LogitsAux, Net"):
        assert names("Logit2", "LogitsAux") == ["LogitsAux/weights"]
    with (
        pytest.warns(UnmatchedPatternWarning),
        pytest.raises(ConfigError, match="--trainable_scopes a,b: no variable is left"),
    ):
        names("a", "b")


def variable(name, shape=(2,)):
    return tf.get_variable(name, list(shape), initializer=tf.zeros_initializer())


def written(summaries):
    """Values by tag, as they are in an event file; the tags in order."""
    merged = tf.Summary.FromString(run_initialized(tf.summary.merge(summaries)))
    return {value.tag: value for value in merged.value}


@pytest.mark.usefixtures("variable_mode")
def test_each_gradient_gets_a_histogram_and_norms_are_there():
    gradients = [tf.constant([3.0, -4.0]), tf.constant([0.0, 12.0])]
    variables = [variable("a/weights"), variable("a/biases")]
    values = written(gradient_summaries(zip(gradients, variables, strict=True)))
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


@pytest.mark.parametrize(
    ("gradient", "count", "norm"),
    [
        # Of a sparse gradient the slices count.
        (lambda: tf.IndexedSlices(tf.constant([[3.0], [4.0]]), tf.constant([1, 1])), 2, 5.0),
        # A gradient that is not finite ends no run, and shows in the norm.
        (lambda: tf.constant([[np.nan], [1.0], [np.inf]]), 1, np.nan),
        # The norm of a half-precision gradient does not overflow.
        (lambda: tf.fill([4, 1], tf.constant(30000.0, tf.float16)), 4, 60000.0),
    ],
    ids=["sparse", "not finite", "float16"],
)
def test_finite_elements_and_the_norm_of_a_gradient(gradient, count, norm):
    summaries = gradient_summaries([(gradient(), variable("v", [4, 1]))])
    shown = written(summaries)
    assert shown["gradients/v"].histo.num == count
    for name in ("v", "global"):
        norms = shown[f"gradient_norms/{name}"].simple_value
        np.testing.assert_allclose(norms, norm, rtol=1e-3)


def test_variables_without_gradient_are_logged(caplog):
    caplog.set_level(logging.INFO, logger="tf_frame")
    pairs = [(None, variable("unused")), (tf.ones([2]), variable("used"))]
    assert len(gradient_summaries(pairs)) == 3
    assert [record.getMessage() for record in caplog.records] == ["Var unused has no gradient"]
    assert gradient_summaries([(None, variable("too"))]) == []


def test_summaries_are_on_the_cpu_in_no_collection_and_no_name_scope():
    pairs = [(tf.ones([2]), variable("v"))]
    with tf.device("/device:GPU:0"), tf.name_scope("Optimizer"):
        summaries = gradient_summaries(pairs)
    assert {summary.device for summary in summaries} == {"/device:CPU:0"}
    assert tf.get_collection(tf.GraphKeys.SUMMARIES) == []
    assert list(written(summaries)) == ["gradients/v", "gradient_norms/v", "gradient_norms/global"]
