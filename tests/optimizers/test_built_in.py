"""The optimizers of TensorFlow, compared with their papers in NumPy."""

import numpy as np
import pytest

from tf_frame.errors import ConfigError
from tf_frame.optimizers.built_in import SGD, Adadelta, Adagrad, Adam, Ftrl, Momentum, RMSProp


def sgd():
    return lambda value, gradient, state, step, rate: value - rate * gradient


def momentum(momentum=0.9, use_nesterov=False):
    def update(value, gradient, state, step, rate):
        state["sum"] = momentum * state.get("sum", 0) + gradient
        ahead = gradient + momentum * state["sum"]
        return value - rate * (ahead if use_nesterov else state["sum"])

    return update


def adam(beta1=0.9, beta2=0.999, epsilon=1e-8):
    """Kingma and Ba, end of section 2, where epsilon is added before the bias correction."""

    def update(value, gradient, state, step, rate):
        state["m"] = beta1 * state.get("m", 0) + (1 - beta1) * gradient
        state["v"] = beta2 * state.get("v", 0) + (1 - beta2) * gradient**2
        corrected = rate * np.sqrt(1 - beta2**step) / (1 - beta1**step)
        return value - corrected * state["m"] / (np.sqrt(state["v"]) + epsilon)

    return update


def rmsprop(decay=0.9, momentum=0.9, epsilon=1.0, centered=False):
    """TensorFlow's mean of squares begins at one."""

    def update(value, gradient, state, step, rate):
        state["square"] = decay * state.get("square", 1) + (1 - decay) * gradient**2
        state["mean"] = decay * state.get("mean", 0) + (1 - decay) * gradient
        below = state["square"] - (state["mean"] ** 2 if centered else 0) + epsilon
        state["step"] = momentum * state.get("step", 0) + rate * gradient / np.sqrt(below)
        return value - state["step"]

    return update


def adagrad(initial_accumulator_value=0.1):
    def update(value, gradient, state, step, rate):
        state["sum"] = state.get("sum", initial_accumulator_value) + gradient**2
        return value - rate * gradient / np.sqrt(state["sum"])

    return update


def adadelta(rho=0.95, epsilon=1e-8):
    def update(value, gradient, state, step, rate):
        state["square"] = rho * state.get("square", 0) + (1 - rho) * gradient**2
        ratio = np.sqrt(state.get("step", 0) + epsilon) / np.sqrt(state["square"] + epsilon)
        state["step"] = rho * state.get("step", 0) + (1 - rho) * (ratio * gradient) ** 2
        return value - rate * ratio * gradient

    return update


def ftrl(
    learning_rate_power=-0.5,
    initial_accumulator_value=0.1,
    l1_regularization_strength=0.0,
    l2_regularization_strength=0.0,
):
    """McMahan et al. 2013, algorithm 1, in TensorFlow's terms."""
    l1, l2 = l1_regularization_strength, l2_regularization_strength

    def update(value, gradient, state, step, rate):
        before = state.get("sum", initial_accumulator_value)
        state["sum"] = before + gradient**2
        inverse_rate = state["sum"] ** -learning_rate_power / rate
        sigma = inverse_rate - before**-learning_rate_power / rate
        state["z"] = state.get("z", 0) + gradient - sigma * value
        shrunk = np.sign(state["z"]) * l1 - state["z"]
        return np.where(np.abs(state["z"]) > l1, shrunk / (inverse_rate + 2 * l2), 0)

    return update


# Optimizer, reference, tolerance, and the options to try.
CASES = [
    (SGD, sgd, 1e-6, [{}]),
    (Momentum, momentum, 1e-5, [{}, {"momentum": 0.5}, {"use_nesterov": True}]),
    (Adam, adam, 1e-4, [{}, {"beta1": 0.5}, {"beta2": 0.5}, {"epsilon": 1.0}]),
    (RMSProp, rmsprop, 1e-5, [{}, {"decay": 0.5}, {"momentum": 0}, {"epsilon": 1e-10}]),
    (RMSProp, rmsprop, 1e-5, [{"centered": True}]),
    (Adagrad, adagrad, 1e-5, [{}, {"initial_accumulator_value": 1.0}]),
    (Adadelta, adadelta, 1e-6, [{}, {"rho": 0.5, "epsilon": 1e-3}, {"epsilon": 1.0}]),
    (Ftrl, ftrl, 1e-4, [{}, {"learning_rate_power": -1.0}, {"initial_accumulator_value": 2.0}]),
    (Ftrl, ftrl, 1e-4, [{f"{name}_regularization_strength": 0.5} for name in ("l1", "l2")]),
]


@pytest.mark.parametrize(
    ("cls", "reference", "options", "rtol"),
    [(cls, reference, options, rtol) for cls, reference, rtol, tried in CASES for options in tried],
)
def test_the_update_is_that_of_the_paper(
    make, trained, expected, variable_mode, cls, reference, options, rtol
):
    values = trained(make(cls, **options))
    np.testing.assert_allclose(values, expected(reference(**options)), rtol=rtol, atol=1e-7)
    assert np.any(values[0] != values[1])


@pytest.mark.parametrize(
    ("cls", "options", "words"),
    [
        (Adadelta, {"rho": 1.0}, "--optimizer.rho 1.0: must be below 1"),
        (Adadelta, {"epsilon": 0.0}, "--optimizer.epsilon 0.0: must be above 0"),
        (Adagrad, {"initial_accumulator_value": 0.0}, "_value 0.0: must be above 0"),
        (Adam, {"beta1": 1.0}, "--optimizer.beta1 1.0: must be below 1"),
        (Adam, {"beta2": 1.0}, "--optimizer.beta2 1.0: must be below 1"),
        (RMSProp, {"decay": 1.0}, "--optimizer.decay 1.0: must be below 1"),
        (Momentum, {"momentum": 1.1}, "1.1 is out of range; allowed: 0 to 1"),
        (Ftrl, {"learning_rate_power": 0.5}, "_power: 0.5 is out of range"),
    ],
)
def test_a_value_at_the_end_of_its_range_is_refused(make, cls, options, words):
    with pytest.raises(ConfigError, match=words):
        make(cls, **options)


@pytest.mark.parametrize(
    ("cls", "names"),
    [
        (Adadelta, "rho epsilon"),
        (Adagrad, "initial_accumulator_value"),
        (Adam, "beta1 beta2 epsilon"),
        (Ftrl, "initial_accumulator_value l1_regularization_strength l2_regularization_strength"),
        (Momentum, "momentum"),
        (RMSProp, "decay momentum epsilon"),
    ],
)
def test_negative_values_are_refused(make, cls, names):
    for name in names.split():
        with pytest.raises(ConfigError, match=f"--optimizer.{name}: -1.0 is out of range"):
            make(cls, **{name: -1.0})
