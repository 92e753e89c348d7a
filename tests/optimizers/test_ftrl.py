import numpy as np
import pytest

from tf_frame.errors import ConfigError
from tf_frame.optimizers.ftrl import Ftrl


def reference(
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


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"learning_rate_power": -1.0},
        {"initial_accumulator_value": 2.0},
        {"l1_regularization_strength": 0.5},
        {"l2_regularization_strength": 0.5},
    ],
)
def test_ftrl(make, trained, expected, variable_mode, options):
    found = expected(reference(**options))
    np.testing.assert_allclose(trained(make(Ftrl, **options)), found, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("learning_rate_power", 0.5),
        ("initial_accumulator_value", -1.0),
        ("l1_regularization_strength", -1.0),
        ("l2_regularization_strength", -1.0),
    ],
)
def test_values_out_of_range_are_refused(make, name, value):
    with pytest.raises(ConfigError, match=f"--optimizer.{name}: {value} is out of range"):
        make(Ftrl, **{name: value})
