import numpy as np
import pytest

from tf_frame.errors import ConfigError
from tf_frame.optimizers.adadelta import Adadelta


def reference(rho=0.95, epsilon=1e-8):
    def update(value, gradient, state, step, rate):
        state["square"] = rho * state.get("square", 0) + (1 - rho) * gradient**2
        ratio = np.sqrt(state.get("step", 0) + epsilon) / np.sqrt(state["square"] + epsilon)
        state["step"] = rho * state.get("step", 0) + (1 - rho) * (ratio * gradient) ** 2
        return value - rate * ratio * gradient

    return update


@pytest.mark.parametrize("options", [{}, {"rho": 0.5, "epsilon": 1e-3}, {"epsilon": 1.0}])
def test_adadelta(make, trained, expected, variable_mode, options):
    found = expected(reference(**options))
    values = trained(make(Adadelta, **options))
    np.testing.assert_allclose(values, found, rtol=1e-6)
    assert np.any(values[0] != values[1])


def test_values_with_which_nothing_moves_are_refused(make):
    with pytest.raises(ConfigError, match="--optimizer.rho 1.0: must be below 1"):
        make(Adadelta, rho=1.0)
    with pytest.raises(ConfigError, match="--optimizer.epsilon 0.0: must be above 0"):
        make(Adadelta, epsilon=0.0)


@pytest.mark.parametrize("name", ["rho", "epsilon"])
def test_negative_values_are_refused(make, name):
    with pytest.raises(ConfigError, match=f"--optimizer.{name}: -1.0 is out of range"):
        make(Adadelta, **{name: -1.0})
