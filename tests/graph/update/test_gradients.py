import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError, PluginError, TfFrameError, UnmatchedPatternWarning
from tf_frame.graph.update.gradients import (
    check_gradients,
    gradient_summaries,
    sum_gradients,
    transform_gradients,
    variables_to_train,
)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def sparse(values, indices):
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices), tf.constant([4, 1]))


def evaluate(tensor):
    with tf.Session() as session:
        return session.run(tensor)


def test_dense_gradients_are_added():
    ((total, variable),) = sum_gradients([[(tf.constant(1.0), v)] for v in [variable_of([])] * 3])
    assert evaluate(total) == 3.0
    assert variable.op.name == "v"


def variable_of(shape):
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        return tf.get_variable("v", shape)


def test_sparse_gradients_stay_sparse():
    v = variable_of([4, 1])
    ((total, _),) = sum_gradients(
        [[(sparse([[1.0]], [0]), v)], [(sparse([[2.0], [5.0]], [0, 3]), v)]]
    )
    assert isinstance(total, tf.IndexedSlices)
    dense = evaluate(tf.convert_to_tensor(total))
    np.testing.assert_array_equal(dense, [[3.0], [0.0], [0.0], [5.0]])


def test_sparse_and_dense_become_dense():
    v = variable_of([4, 1])
    ((total, _),) = sum_gradients([[(sparse([[1.0]], [0]), v)], [(tf.ones([4, 1]), v)]])
    np.testing.assert_array_equal(evaluate(total), [[2.0], [1.0], [1.0], [1.0]])


def test_a_sparse_gradient_that_does_not_know_its_shape_is_added_to_dense_ones():
    v = variable_of([4, 1])
    slices = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([3, 3]))
    ((total, _),) = sum_gradients([[(tf.ones([4, 1]), v)], [(slices, v)]])
    with tf.Session() as session:
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run(total), [[1.0], [1.0], [1.0], [4.0]])


def test_a_gradient_of_one_clone_only_passes_and_none_stays_none():
    v = variable_of([])
    ((one, _),) = sum_gradients([[(None, v)], [(tf.constant(2.0), v)]])
    ((none, _),) = sum_gradients([[(None, v)], [(None, v)]])
    assert evaluate(one) == 2.0
    assert none is None


def test_transforms_run_in_the_order_given():
    pairs = [(tf.constant(1.0), variable_of([]))]
    add = lambda pairs: [(g + 1, v) for g, v in pairs]  # noqa: E731
    double = lambda pairs: [(g * 2, v) for g, v in pairs]  # noqa: E731
    assert evaluate(transform_gradients(pairs, [add, double])[0][0]) == 4.0
    assert evaluate(transform_gradients(pairs, [double, add])[0][0]) == 3.0


def test_wrong_transforms_are_named():
    class Wrong:
        def __call__(self, pairs):
            return [gradient for gradient, _ in pairs]

    with pytest.raises(TfFrameError, match=r"Wrong.__call__\(\) returned .* pairs"):
        transform_gradients([(tf.constant(1.0), variable_of([]))], [Wrong()])

    def forgetful(pairs):
        del pairs

    with pytest.raises(TfFrameError, match=r"forgetful\(\) returned None; it must"):
        transform_gradients([(tf.constant(1.0), variable_of([]))], [forgetful])
    with pytest.raises(TfFrameError, match="the loss of Net depends on no trainable variable"):
        check_gradients([(None, variable_of([]))], origin="Net")


@pytest.mark.parametrize("returned", [None, 3, {"a": 1}, tf.no_op])
def test_a_transform_that_returns_no_list_is_named(returned):
    class Wrong:
        def __call__(self, pairs):
            return returned

    with pytest.raises(TfFrameError, match=r"Wrong.__call__\(\) returned .* it must return a list"):
        transform_gradients([(tf.constant(1.0), variable_of([]))], [Wrong()])


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
            [(tf.constant([1.0, 2.0]), variable_of([2]))], [lambda pairs: change(*pairs[0])]
        )


def test_clones_must_differentiate_by_the_same_variables():
    with tf.Graph().as_default():
        a, b = (tf.get_variable(name, []) for name in "ab")
        with pytest.raises(TfFrameError, match="different variables: a, b"):
            sum_gradients([[(tf.constant(1.0), a)], [(tf.constant(2.0), b)]])


@pytest.fixture
def variables():
    """A graph with variables in three scopes, one of them not trainable."""
    with tf.Graph().as_default():
        for name in ("Net/Conv/weights", "Net/Conv/biases", "Logits/weights", "LogitsAux/weights"):
            tf.get_variable(name, [2])
        tf.get_variable("Net/moving_mean", [2], trainable=False)
        yield


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
    with tf.Session() as session:
        merged = tf.Summary.FromString(session.run(tf.summary.merge(summaries)))
    return {value.tag: value for value in merged.value}


@pytest.mark.usefixtures("variable_mode")
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
