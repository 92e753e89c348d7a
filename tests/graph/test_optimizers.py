import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.run_config import RunConfig
from tf_frame.graph.optimizers import make_optimizer


def after_two_steps(**options):
    """The value of a variable that starts at 1 and gets the gradients 2 and 1."""
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.get_variable("v", initializer=1.0)
        gradient = tf.placeholder(tf.float32, [])
        optimizer = make_optimizer(RunConfig(**options), tf.constant(0.1))
        step = optimizer.apply_gradients([(gradient, variable)])
        session.run(tf.global_variables_initializer())
        for value in (2.0, 1.0):
            session.run(step, {gradient: value})
        return session.run(variable)


def test_sgd():
    assert after_two_steps(optimizer="sgd") == pytest.approx(1 - 0.1 * 2 - 0.1 * 1)


def test_momentum_carries_the_first_gradient_over():
    expected = 1 - 0.1 * 2 - 0.1 * (0.5 * 2 + 1)
    assert after_two_steps(optimizer="momentum", momentum=0.5) == pytest.approx(expected)


def test_adam_takes_steps_of_about_the_learning_rate():
    # Kingma and Ba 2014, algorithm 1, by hand: m-hat / sqrt(v-hat) is 1 and then 0.9324.
    assert after_two_steps(optimizer="adam") == pytest.approx(1 - 0.1 - 0.09324, abs=1e-4)


def test_adam_epsilon_damps_the_step():
    assert after_two_steps(optimizer="adam", adam_epsilon=1.0) > after_two_steps(optimizer="adam")
