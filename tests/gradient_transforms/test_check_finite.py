import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame.gradient_transforms.check_finite import CheckFinite
from tf_frame.graph.update.apply_gradients import apply_gradients

pytestmark = pytest.mark.usefixtures("graph")


@pytest.fixture
def step(variable):
    """Feeds the gradients of one step of SGD; returns variables and global step."""
    a, b = variable("a", [2]), variable("b", [2])
    global_step = tf.train.create_global_step()
    fed = [tf.placeholder(tf.float32, [2]) for _ in range(2)]
    pairs = CheckFinite(params=CheckFinite.Params())(list(zip(fed, (a, b), strict=True)))
    optimizer = tf.train.MomentumOptimizer(1.0, 0.9)
    update = apply_gradients(optimizer, pairs, global_step=global_step)
    with initialized_session() as session:

        def run(*gradients):
            session.run(update, dict(zip(fed, gradients, strict=True)))

        run.state = lambda: session.run(tf.global_variables())
        yield run


@pytest.mark.usefixtures("variable_mode")
def test_finite_gradients_are_applied(step):
    step([1.0, 2.0], [3.0, 4.0])
    a, b, count, *_ = step.state()
    np.testing.assert_array_equal([a, b], [[-1.0, -2.0], [-3.0, -4.0]])
    assert count == 1


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", ["a", "b"])
def test_a_bad_gradient_fails_with_its_variable_before_anything_changes(step, bad, place):
    gradients = {"a": [1.0, 1.0], "b": [1.0, 1.0], place: [0.0, bad]}
    message = f"the gradient of {place} is not finite"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        step(gradients["a"], gradients["b"])
    assert not any(np.any(value) for value in step.state())


def test_slices_are_checked(variable, sparse, evaluate):
    pairs = [(sparse(((1.0, np.nan), (0.0, 0.0))), variable("v"))]
    ((gradient, _),) = CheckFinite(params=CheckFinite.Params())(pairs)
    with pytest.raises(tf.errors.InvalidArgumentError, match="gradient of v is not finite"):
        evaluate(gradient.values)
