import numpy as np
import pytest

from tf_frame.errors import ConfigError
from tf_frame.optimizers.adam import Adam


def reference(beta1=0.9, beta2=0.999, epsilon=1e-8):
    """Kingma and Ba, end of section 2, where epsilon is added before the bias correction."""

    def update(value, gradient, state, step, rate):
        state["m"] = beta1 * state.get("m", 0) + (1 - beta1) * gradient
        state["v"] = beta2 * state.get("v", 0) + (1 - beta2) * gradient**2
        corrected = rate * np.sqrt(1 - beta2**step) / (1 - beta1**step)
        return value - corrected * state["m"] / (np.sqrt(state["v"]) + epsilon)

    return update


@pytest.mark.parametrize("options", [{}, {"beta1": 0.5}, {"beta2": 0.5}, {"epsilon": 1.0}])
def test_adam(make, trained, expected, variable_mode, options):
    found = expected(reference(**options))
    np.testing.assert_allclose(trained(make(Adam, **options)), found, rtol=1e-4)


@pytest.mark.parametrize("name", ["beta1", "beta2"])
def test_decay_rates_of_one_are_refused(make, name):
    with pytest.raises(ConfigError, match=f"--optimizer.{name} 1.0: must be below 1"):
        make(Adam, **{name: 1.0})


@pytest.mark.parametrize("name", ["beta1", "beta2", "epsilon"])
def test_negative_values_are_refused(make, name):
    with pytest.raises(ConfigError, match=f"--optimizer.{name}: -1.0 is out of range"):
        make(Adam, **{name: -1.0})
