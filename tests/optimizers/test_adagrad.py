import numpy as np
import pytest

from tf_frame.errors import ConfigError
from tf_frame.optimizers.adagrad import Adagrad


def reference(initial_accumulator_value=0.1):
    def update(value, gradient, state, step, rate):
        state["sum"] = state.get("sum", initial_accumulator_value) + gradient**2
        return value - rate * gradient / np.sqrt(state["sum"])

    return update


@pytest.mark.parametrize("options", [{}, {"initial_accumulator_value": 1.0}])
def test_adagrad(make, trained, expected, variable_mode, options):
    found = expected(reference(**options))
    np.testing.assert_allclose(trained(make(Adagrad, **options)), found, rtol=1e-5)


def test_a_sum_that_begins_at_zero_is_refused(make):
    with pytest.raises(ConfigError, match="initial_accumulator_value 0.0: must be above 0"):
        make(Adagrad, initial_accumulator_value=0.0)
    with pytest.raises(ConfigError, match="initial_accumulator_value: -1.0 is out of range"):
        make(Adagrad, initial_accumulator_value=-1.0)
