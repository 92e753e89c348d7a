import numpy as np
import pytest

from tf_frame.errors import ConfigError
from tf_frame.optimizers.rmsprop import RMSProp


def reference(decay=0.9, momentum=0.9, epsilon=1.0, centered=False):
    """TensorFlow's mean of squares begins at one."""

    def update(value, gradient, state, step, rate):
        state["square"] = decay * state.get("square", 1) + (1 - decay) * gradient**2
        state["mean"] = decay * state.get("mean", 0) + (1 - decay) * gradient
        below = state["square"] - (state["mean"] ** 2 if centered else 0) + epsilon
        state["step"] = momentum * state.get("step", 0) + rate * gradient / np.sqrt(below)
        return value - state["step"]

    return update


@pytest.mark.parametrize(
    "options", [{}, {"decay": 0.5}, {"momentum": 0.0}, {"epsilon": 1e-10}, {"centered": True}]
)
def test_rmsprop(make, trained, expected, variable_mode, options):
    found = expected(reference(**options))
    np.testing.assert_allclose(trained(make(RMSProp, **options)), found, rtol=1e-5)


def test_a_decay_of_one_is_refused(make):
    with pytest.raises(ConfigError, match="--optimizer.decay 1.0: must be below 1"):
        make(RMSProp, decay=1.0)


@pytest.mark.parametrize("name", ["decay", "momentum", "epsilon"])
def test_negative_values_are_refused(make, name):
    with pytest.raises(ConfigError, match=f"--optimizer.{name}: -1.0 is out of range"):
        make(RMSProp, **{name: -1.0})
