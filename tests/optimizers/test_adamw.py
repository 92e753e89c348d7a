import numpy as np
import pytest

from tf_frame.errors import ConfigError
from tf_frame.optimizers.adamw import AdamW

# Small values would hide the decay behind Adam's steps.
DECAY = {"weight_decay": 0.5}


def reference(weight_decay=0.01, beta1=0.9, beta2=0.999, epsilon=1e-8):
    """Loshchilov and Hutter, algorithm 2, with the decay times the learning rate."""

    def update(value, gradient, state, step, rate):
        state["m"] = beta1 * state.get("m", 0) + (1 - beta1) * gradient
        state["v"] = beta2 * state.get("v", 0) + (1 - beta2) * gradient**2
        mean, square = state["m"] / (1 - beta1**step), state["v"] / (1 - beta2**step)
        return value - rate * (mean / (np.sqrt(square) + epsilon) + weight_decay * value)

    return update


@pytest.mark.parametrize(
    "options", [{}, DECAY, {"beta1": 0.5}, {"beta2": 0.5}, {"epsilon": 1.0}, {"weight_decay": 0}]
)
def test_adamw(make, trained, expected, variable_mode, options):
    found = expected(reference(**options))
    np.testing.assert_allclose(trained(make(AdamW, **options)), found, rtol=1e-4)


def test_sparse_gradients_count_as_zero_elsewhere(make, trained, expected, variable_mode):
    gradients = np.array(
        [[[1, 2], [0, 0], [3, 4]], [[0, 0], [0.5, 1], [0, 0]], [[1, 1], [2, -1], [0, 0]]],
        np.float32,
    )
    found = expected(reference(**DECAY), gradients=gradients)
    values = trained(make(AdamW, **DECAY), gradients=gradients, sparse=True)
    np.testing.assert_allclose(values, found, atol=1e-5)


@pytest.mark.parametrize(
    "name", ["conv/biases", "dense/bias", "BatchNorm/gamma", "layer_norm/beta"]
)
def test_biases_and_normalisation_are_not_decayed(make, trained, expected, name):
    found = expected(reference(weight_decay=0))
    np.testing.assert_allclose(trained(make(AdamW, **DECAY), name=name), found, rtol=1e-4)


def test_what_is_not_decayed_can_be_chosen(make, trained, expected):
    optimizer = make(AdamW, exclude_from_weight_decay="^embed.*ing$", **DECAY)
    without, decayed = expected(reference(weight_decay=0)), expected(reference(**DECAY))
    np.testing.assert_allclose(trained(optimizer, name="embed/ding"), without, rtol=1e-4)
    with pytest.warns(UserWarning, match="matches none"):
        np.testing.assert_allclose(trained(optimizer, name="biases"), decayed, rtol=1e-4)


def test_a_pattern_that_is_no_regular_expression_is_refused(make):
    with pytest.raises(ConfigError, match=r"exclude_from_weight_decay: '\(' is not a regular"):
        make(AdamW, exclude_from_weight_decay="(")


@pytest.mark.parametrize("name", ["beta1", "beta2"])
def test_decay_rates_of_one_are_refused(make, name):
    with pytest.raises(ConfigError, match=f"--optimizer.{name} 1.0: must be below 1"):
        make(AdamW, **{name: 1.0})


@pytest.mark.parametrize("name", ["beta1", "beta2", "epsilon", "weight_decay"])
def test_negative_values_are_refused(make, name):
    with pytest.raises(ConfigError, match=f"--optimizer.{name}: -1.0 is out of range"):
        make(AdamW, **{name: -1.0})
