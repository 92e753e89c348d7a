import functools

import numpy as np
import pytest

from slow_cases import slow_but
from tf_frame.errors import ConfigError
from tf_frame.optimizers.adamw import AdamW, Lamb

# Small values would hide the decay behind Adam's steps.
DECAY = {"weight_decay": 0.5}


def adamw(weight_decay=0.01, beta1=0.9, beta2=0.999, epsilon=1e-8, lamb=False):
    """Loshchilov and Hutter, algorithm 2, with the decay times the learning rate.

    With `lamb` You et al., algorithm 2, with the identity for phi.
    """

    def update(value, gradient, state, step, rate):
        state["m"] = beta1 * state.get("m", 0) + (1 - beta1) * gradient
        state["v"] = beta2 * state.get("v", 0) + (1 - beta2) * gradient**2
        mean, square = state["m"] / (1 - beta1**step), state["v"] / (1 - beta2**step)
        change = mean / (np.sqrt(square) + epsilon) + weight_decay * value
        norms = np.linalg.norm(value), np.linalg.norm(change)
        ratio = norms[0] / norms[1] if lamb and all(norms) else 1
        return value - rate * ratio * change

    return update


lamb = functools.partial(adamw, epsilon=1e-6, lamb=True)
each_optimizer = pytest.mark.parametrize(("cls", "reference"), [(AdamW, adamw), (Lamb, lamb)])


@each_optimizer
@pytest.mark.parametrize(
    "options",
    slow_but(
        (0, 1), [{}, DECAY, {"beta1": 0.5}, {"beta2": 0.5}, {"epsilon": 1.0}, {"weight_decay": 0}]
    ),
)
def test_the_update_is_that_of_the_paper(
    make, trained, expected, variable_mode, cls, reference, options
):
    values = trained(make(cls, **options))
    np.testing.assert_allclose(values, expected(reference(**options)), rtol=1e-4)


@each_optimizer
def test_sparse_gradients_count_as_zero_elsewhere(
    make, trained, expected, variable_mode, cls, reference
):
    gradients = np.array(
        [[[1, 2], [0, 0], [3, 4]], [[0, 0], [0.5, 1], [0, 0]], [[1, 1], [2, -1], [0, 0]]],
        np.float32,
    )
    values = trained(make(cls, **DECAY), gradients=gradients, sparse=True)
    np.testing.assert_allclose(
        values, expected(reference(**DECAY), gradients=gradients), rtol=1e-6, atol=1e-5
    )


@pytest.mark.parametrize("cls", [AdamW, Lamb])
@pytest.mark.parametrize(
    "name", ["conv/biases", "dense/bias", "BatchNorm/gamma", "layer_norm/beta"]
)
def test_biases_and_normalisation_are_neither_decayed_nor_scaled(
    make, trained, expected, cls, name
):
    reference = adamw(weight_decay=0)
    values = trained(make(cls, **DECAY), name=name)
    np.testing.assert_allclose(values, expected(reference), rtol=1e-4)


def test_excluded_variables_can_be_chosen(make, trained, expected):
    optimizer = make(AdamW, exclude_from_weight_decay="^embed.*ing$", **DECAY)
    without, decayed = expected(adamw(weight_decay=0)), expected(adamw(**DECAY))
    np.testing.assert_allclose(trained(optimizer, name="embed/ding"), without, rtol=1e-4)
    with pytest.warns(UserWarning, match="matches none"):
        np.testing.assert_allclose(trained(optimizer, name="biases"), decayed, rtol=1e-4)
    # With LAMB these variables are not scaled either, unless they are chosen separately.
    optimizer = make(Lamb, exclude_from_weight_decay="conv", **DECAY)
    np.testing.assert_allclose(trained(optimizer, name="conv/weights"), without, rtol=1e-4)
    optimizer = make(Lamb, exclude_from_layer_adaptation="conv", **DECAY)
    np.testing.assert_allclose(trained(optimizer, name="conv/weights"), decayed, rtol=1e-4)
    optimizer = make(Lamb, exclude_from_layer_adaptation="", **DECAY)
    scaled = expected(lamb(weight_decay=0))
    np.testing.assert_allclose(trained(optimizer, name="conv/biases"), scaled, rtol=1e-4)


def test_a_variable_that_is_zero_moves_at_the_learning_rate(make, trained, expected):
    start = np.zeros([3, 2], np.float32)
    values = trained(make(Lamb), start=start)
    np.testing.assert_allclose(values, expected(lamb(), start=start), rtol=1e-4)
    assert np.abs(values[0]).max() == pytest.approx(0.1, rel=1e-4)


def test_a_step_of_zero_changes_nothing(make, trained):
    gradients = np.zeros([1, 3, 2], np.float32)
    start = np.ones([3, 2], np.float32)
    values = trained(make(Lamb, weight_decay=0), start=start, gradients=gradients)
    np.testing.assert_array_equal(values[0], start)


@pytest.mark.parametrize("name", ["exclude_from_weight_decay", "exclude_from_layer_adaptation"])
def test_a_pattern_that_matches_nothing_warns_once(make, trained, name):
    with pytest.warns(UserWarning, match=f"--optimizer.{name}: 'nowhere' matches none") as caught:
        trained(make(Lamb, **{name: "nowhere"}))
    assert len([w for w in caught if "nowhere" in str(w.message)]) == 1


@pytest.mark.parametrize(
    ("cls", "options", "words"),
    [
        (AdamW, {"exclude_from_weight_decay": "("}, r"_weight_decay: '\(' is not a regular"),
        (Lamb, {"exclude_from_weight_decay": "("}, r"_weight_decay: '\(' is not a regular"),
        (Lamb, {"exclude_from_layer_adaptation": "("}, r"_adaptation: '\(' is not a regular"),
        *(
            (cls, {name: 1.0}, f"--optimizer.{name} 1.0: must be below 1")
            for cls in (AdamW, Lamb)
            for name in ("beta1", "beta2")
        ),
        *(
            (cls, {name: -1.0}, f"--optimizer.{name}: -1.0 is out of range")
            for cls in (AdamW, Lamb)
            for name in ("beta1", "beta2", "epsilon", "weight_decay")
        ),
    ],
)
def test_wrong_options_are_refused(make, cls, options, words):
    with pytest.raises(ConfigError, match=words):
        make(cls, **options)
