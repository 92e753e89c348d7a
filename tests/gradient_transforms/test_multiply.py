import re

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError, UnmatchedPatternWarning
from tf_frame.gradient_transforms.multiply import (
    Multiply,
    multiply_gradients,
)

pytestmark = pytest.mark.usefixtures("graph")


@pytest.fixture
def four_pairs(variable):
    """Gradients 1, 2, 3, 4; the second and fourth are those of biases."""
    names = ["a/weights", "a/biases", "b/weights", "b/biases"]
    return [(tf.constant(1.0 + i), variable(name, [])) for i, name in enumerate(names)]


def make(*factors):
    return Multiply(params=Multiply.Params(factors=factors))


def gradients_of(pairs):
    return [gradient for gradient, _ in pairs]


def test_gradients_of_names_that_match_are_multiplied(four_pairs, evaluate):
    changed = make(".*/biases=0")(four_pairs)
    assert evaluate(gradients_of(changed)) == [1.0, 0.0, 3.0, 0.0]
    assert [variable for _, variable in changed] == [variable for _, variable in four_pairs]


def test_a_pattern_matches_from_the_start_of_the_name(four_pairs, evaluate):
    with pytest.warns(UnmatchedPatternWarning, match="multiply: the pattern 'biases' matches no"):
        changed = make("biases=10", "a=10")(four_pairs)
    assert evaluate(gradients_of(changed)) == [10.0, 20.0, 3.0, 4.0]


def test_several_patterns_that_match_multiply_up(four_pairs, evaluate):
    changed = make("b/.*=10", ".*/biases=2")(four_pairs)
    assert evaluate(gradients_of(changed)) == [1.0, 4.0, 30.0, 80.0]
    the_other_way_round = make(".*/biases=2", "b/.*=10")(four_pairs)
    assert evaluate(gradients_of(the_other_way_round)) == [1.0, 4.0, 30.0, 80.0]


def test_a_variable_that_no_pattern_matches_keeps_its_very_gradient(four_pairs):
    assert make("a/biases=2")(four_pairs)[0][0] is four_pairs[0][0]


def test_the_last_equals_sign_divides(variable, evaluate):
    ((gradient, _),) = make("(?=v)v=3")([(tf.constant(2.0), variable("v", []))])
    assert evaluate(gradient) == 6.0


def test_slices_of_a_sparse_gradient_are_multiplied(variable, sparse, evaluate):
    ((gradient, _),) = make("v=0.5")([(sparse(), variable("v"))])
    np.testing.assert_array_equal(evaluate(gradient.values), [[1.5, 2.0], [0.0, 6.0]])


@pytest.mark.parametrize("item", ["logits", "logits=", "logits=much", "logits=nan", "logits=1=x"])
def test_what_is_not_a_regex_and_a_factor_is_refused_before_tensorflow_is_needed(item):
    with pytest.raises(ConfigError, match=f"multiply: '{item}' is not REGEX=FACTOR, such as"):
        make(item)


def test_a_wrong_regex_is_refused():
    with pytest.raises(ConfigError, match=r"the pattern 'a\(' is not a regular expression"):
        make("a(=2")
    with pytest.raises(ConfigError, match="an empty pattern"):
        make("=2")


def test_no_factor_is_refused():
    with pytest.raises(ConfigError, match="multiply: no factor is given; give some like"):
        make()


def test_none_passes(variable):
    pairs = [(None, variable("v"))]
    assert make("v=2")(pairs) == pairs


@pytest.mark.usefixtures("variable_mode")
def test_a_map_takes_variables_and_names_numbers_and_tensors(four_pairs, evaluate):
    multipliers = {four_pairs[0][1]: tf.constant(3.0), "a/biases": 5}
    changed = multiply_gradients(four_pairs, multipliers)
    assert evaluate(gradients_of(changed)) == [3.0, 10.0, 3.0, 4.0]
    assert changed[2] == four_pairs[2]


@pytest.mark.usefixtures("variable_mode")
def test_in_a_map_the_variable_wins_over_its_name(four_pairs, evaluate):
    changed = multiply_gradients(four_pairs, {"b/weights": 10.0, four_pairs[2][1]: 2.0})
    assert evaluate(changed[2][0]) == 6.0


def test_a_map_multiplies_slices(variable, sparse, evaluate):
    ((gradient, _),) = multiply_gradients([(sparse(), variable("v"))], {"v": 2.0})
    assert isinstance(gradient, tf.IndexedSlices)
    np.testing.assert_array_equal(evaluate(gradient.values), [[6.0, 8.0], [0.0, 24.0]])


@pytest.mark.parametrize(
    ("pairs", "multipliers", "message"),
    [
        ((), {}, "`grads_and_vars` must be a list."),
        ([], {}, "`gradient_multipliers` is empty."),
        ([], None, "`gradient_multipliers` is empty."),
        ([], ["v"], "`gradient_multipliers` must be a dict."),
    ],
)
def test_wrong_arguments_are_named_in_order(pairs, multipliers, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        multiply_gradients(pairs, multipliers)


def test_a_variable_without_gradient_cannot_be_asked_for(variable):
    pairs = [(None, variable("v")), (None, variable("w"))]
    with pytest.raises(ValueError, match=r"^Requested multiple of `None` gradient\.$"):
        multiply_gradients(pairs, {"v": 1.0})
    assert multiply_gradients([pairs[1]], {"v": 1.0}) == [pairs[1]]
