import numpy as np
import pytest

from tf_frame.errors import ConfigError
from tf_frame.optimizers.momentum import Momentum


def reference(momentum=0.9, nesterov=False):
    def update(value, gradient, state, step, rate):
        state["sum"] = momentum * state.get("sum", 0) + gradient
        ahead = gradient + momentum * state["sum"]
        return value - rate * (ahead if nesterov else state["sum"])

    return update


@pytest.mark.parametrize("options", [{}, {"momentum": 0.5}, {"use_nesterov": True}])
def test_momentum_keeps_a_decaying_sum(make, trained, expected, variable_mode, options):
    found = expected(reference(options.get("momentum", 0.9), options.get("use_nesterov", False)))
    np.testing.assert_allclose(trained(make(Momentum, **options)), found, rtol=1e-5)


@pytest.mark.parametrize("momentum", [-0.1, 1.1])
def test_a_momentum_out_of_range_is_refused(make, momentum):
    with pytest.raises(ConfigError, match="out of range; allowed: 0 to 1"):
        make(Momentum, momentum=momentum)
