import numpy as np
import pytest

from tf_frame.optimizers.sgd import SGD

pytestmark = pytest.mark.usefixtures("variable_mode")


def test_sgd_subtracts_the_gradient_times_the_learning_rate(make, trained, expected):
    found = expected(lambda value, gradient, state, step, rate: value - rate * gradient)
    np.testing.assert_allclose(trained(make(SGD)), found, rtol=1e-6)
