import numpy as np
import pytest

from tf_frame.errors import ConfigError
from tf_frame.optimizers.lamb import Lamb

DECAY = {"weight_decay": 0.5}


def reference(weight_decay=0.01, beta1=0.9, beta2=0.999, epsilon=1e-6, scaled=True):
    """You et al., algorithm 2, with the identity for phi."""

    def update(value, gradient, state, step, rate):
        state["m"] = beta1 * state.get("m", 0) + (1 - beta1) * gradient
        state["v"] = beta2 * state.get("v", 0) + (1 - beta2) * gradient**2
        mean, square = state["m"] / (1 - beta1**step), state["v"] / (1 - beta2**step)
        change = mean / (np.sqrt(square) + epsilon) + weight_decay * value
        norms = np.linalg.norm(value), np.linalg.norm(change)
        ratio = norms[0] / norms[1] if scaled and all(norms) else 1
        return value - rate * ratio * change

    return update


@pytest.mark.parametrize(
    "options", [{}, DECAY, {"beta1": 0.5}, {"beta2": 0.5}, {"epsilon": 1.0}, {"weight_decay": 0}]
)
def test_lamb(make, trained, expected, variable_mode, options):
    found = expected(reference(**options))
    np.testing.assert_allclose(trained(make(Lamb, **options)), found, rtol=1e-4)


def test_sparse_gradients_count_as_zero_elsewhere(make, trained, expected, variable_mode):
    gradients = np.array([[[1, 2], [0, 0], [3, 4]], [[0, 0], [0.5, 1], [0, 0]]], np.float32)
    found = expected(reference(**DECAY), gradients=gradients)
    values = trained(make(Lamb, **DECAY), gradients=gradients, sparse=True)
    np.testing.assert_allclose(values, found, atol=1e-5)


def test_a_variable_that_is_zero_moves_at_the_learning_rate(make, trained, expected):
    start = np.zeros([3, 2], np.float32)
    values = trained(make(Lamb), start=start)
    np.testing.assert_allclose(values, expected(reference(), start=start), rtol=1e-4)
    assert np.abs(values[0]).max() == pytest.approx(0.1, rel=1e-4)


def test_a_step_of_zero_changes_nothing(make, trained):
    gradients = np.zeros([1, 3, 2], np.float32)
    start = np.ones([3, 2], np.float32)
    values = trained(make(Lamb, weight_decay=0), start=start, gradients=gradients)
    np.testing.assert_array_equal(values[0], start)


def test_biases_and_normalisation_are_neither_decayed_nor_scaled(make, trained, expected):
    found = expected(reference(weight_decay=0, scaled=False))
    for name in ("conv/biases", "BatchNorm/gamma"):
        np.testing.assert_allclose(trained(make(Lamb, **DECAY), name=name), found, rtol=1e-4)


def test_what_is_not_scaled_can_be_chosen_on_its_own(make, trained, expected):
    optimizer = make(Lamb, exclude_from_layer_adaptation="conv", **DECAY)
    found = expected(reference(scaled=False, **DECAY))
    np.testing.assert_allclose(trained(optimizer, name="conv/weights"), found, rtol=1e-4)
    nothing = make(Lamb, exclude_from_layer_adaptation="", **DECAY)
    found = expected(reference(weight_decay=0))
    np.testing.assert_allclose(trained(nothing, name="conv/biases"), found, rtol=1e-4)


def test_what_is_not_decayed_can_be_chosen(make, trained, expected):
    optimizer = make(Lamb, exclude_from_weight_decay="conv", **DECAY)
    found = expected(reference(weight_decay=0, scaled=False))
    np.testing.assert_allclose(trained(optimizer, name="conv/weights"), found, rtol=1e-4)


@pytest.mark.parametrize("name", ["exclude_from_weight_decay", "exclude_from_layer_adaptation"])
def test_a_pattern_that_matches_nothing_warns_once(make, trained, name):
    with pytest.warns(UserWarning, match=f"--optimizer.{name}: 'nowhere' matches none") as caught:
        trained(make(Lamb, **{name: "nowhere"}))
    assert len([w for w in caught if "nowhere" in str(w.message)]) == 1


@pytest.mark.parametrize("name", ["exclude_from_weight_decay", "exclude_from_layer_adaptation"])
def test_a_pattern_that_is_no_regular_expression_is_refused(make, name):
    with pytest.raises(ConfigError, match=rf"{name}: '\(' is not a regular expression"):
        make(Lamb, **{name: "("})


@pytest.mark.parametrize("name", ["beta1", "beta2"])
def test_decay_rates_of_one_are_refused(make, name):
    with pytest.raises(ConfigError, match=f"--optimizer.{name} 1.0: must be below 1"):
        make(Lamb, **{name: 1.0})


@pytest.mark.parametrize("name", ["beta1", "beta2", "epsilon", "weight_decay"])
def test_negative_values_are_refused(make, name):
    with pytest.raises(ConfigError, match=f"--optimizer.{name}: -1.0 is out of range"):
        make(Lamb, **{name: -1.0})
