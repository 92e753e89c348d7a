import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import TfFrameError
from tf_frame.graph.update.gradients import sum_gradients, transform_gradients


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


def test_a_transform_that_returns_something_else_is_named():
    class Wrong:
        def __call__(self, pairs):
            return [gradient for gradient, _ in pairs]

    with pytest.raises(TfFrameError, match=r"Wrong must return .* pairs"):
        transform_gradients([(tf.constant(1.0), variable_of([]))], [Wrong()])


def test_no_gradient_at_all_is_an_error():
    with pytest.raises(TfFrameError, match="no trainable variable gets a gradient"):
        transform_gradients([(None, variable_of([]))], [])


@pytest.mark.parametrize("returned", [None, 3, {"a": 1}, tf.no_op])
def test_a_transform_that_returns_no_list_is_named(returned):
    class Wrong:
        def __call__(self, pairs):
            return returned

    with pytest.raises(TfFrameError, match=r"transform Wrong must return .* it returned "):
        transform_gradients([(tf.constant(1.0), variable_of([]))], [Wrong()])


def test_a_function_that_is_a_wrong_transform_is_named():
    def forgetful(pairs):
        del pairs

    with pytest.raises(TfFrameError, match=r"transform forgetful must .* it returned None"):
        transform_gradients([(tf.constant(1.0), variable_of([]))], [forgetful])


def test_clones_must_differentiate_by_the_same_variables():
    with tf.Graph().as_default():
        a, b = (tf.get_variable(name, []) for name in "ab")
        with pytest.raises(TfFrameError, match="different variables: a, b"):
            sum_gradients([[(tf.constant(1.0), a)], [(tf.constant(2.0), b)]])
