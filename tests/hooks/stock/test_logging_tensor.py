import pytest
import tensorflow.compat.v1 as tf

from tf_frame.hooks.stock.logging_tensor import LoggingTensorHook, graph_element


@pytest.fixture
def lines(tensorflow_lines):
    """The lines of TensorFlow's log that name a value."""
    return lambda: [line for line in tensorflow_lines() if " = " in line]


def test_the_seconds_since_the_line_before_are_told(build, train, lines, clock):
    graph = build()

    def pass_time(session):
        clock.now += 0.5

    train(graph, [LoggingTensorHook({"rate": graph.learning_rate}, 3)], to=7, each=pass_time)
    rate = "rate = 0.05000000074505806"
    assert lines() == [rate, f"{rate} (1.500 sec)", f"{rate} (1.500 sec)"]


def test_at_the_end_the_values_are_those_after_the_last_step(build, train, lines):
    graph = build()
    train(graph, [LoggingTensorHook({"step": graph.global_step}, at_end=True)], to=4)
    assert lines() == ["step = 4"]


def test_a_run_that_fails_logs_no_end(build, train, lines):
    graph = build()

    def fail(session):
        raise ValueError("a defect")

    with pytest.raises(ValueError, match="a defect"):
        train(graph, [LoggingTensorHook({"s": graph.global_step}, at_end=True)], to=4, each=fail)
    assert not lines()


def test_a_hook_may_be_made_outside_of_the_graph(build, train, lines):
    graph = build()
    train(graph, [LoggingTensorHook([graph.train_op, "train_op"], every_n_iter=5)], to=1)
    (line,) = lines()
    assert line.startswith('Tensor("train_op:0", shape=(), dtype=float32) = ')
    assert ", train_op = " in line


def test_numbers_are_not_shown_with_exponents_and_numpy_is_left_as_it_was(build, train, lines):
    import numpy as np

    graph = build()
    with graph.graph.as_default():
        tf.constant([1.0, 1e-6], name="pair")
    before = np.get_printoptions()
    train(graph, [LoggingTensorHook(["pair"], every_n_iter=5)], to=1)
    assert lines() == ["pair = [1.       0.000001]"]
    assert np.get_printoptions() == before


def test_an_element_is_found_by_name_or_taken_as_it_is():
    with tf.Graph().as_default() as graph:
        one, variable = tf.constant(1.0, name="one"), tf.get_variable("v", [])
        assert graph_element("one") is graph_element("one:0") is graph_element(one) is one
        assert graph_element(variable) is variable
        assert graph_element("v").op.name == "v"
        tf.split(tf.zeros([2]), 2, name="halves")
        assert graph_element("halves:1").name == "halves:1"
        with pytest.raises(ValueError, match="Name halves is ambiguous"):
            graph_element("halves")
    with tf.Graph().as_default(), pytest.raises(ValueError, match="should have graph attribute"):
        graph_element(one)
    assert graph is one.graph
