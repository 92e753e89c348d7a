import re

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError, UnmatchedPatternWarning
from tf_frame.gradient_transforms.multiply import Multiply, multiply_gradients

pytestmark = pytest.mark.usefixtures("graph")


@pytest.fixture
def four_pairs(variable):
    """Gradients 1, 2, 3, 4; the second and fourth belong to biases."""
    names = ["a/weights", "a/biases", "b/weights", "b/biases"]
    return [(tf.constant(1.0 + i), variable(name, [])) for i, name in enumerate(names)]


def make(*factors):
    return Multiply(params=Multiply.Params(factors=factors))


def gradients(pairs):
    return [gradient for gradient, _ in pairs]


def test_gradients_of_names_that_match_are_multiplied(four_pairs, evaluate):
    changed = make(".*/biases=0")(four_pairs)
    assert evaluate(gradients(changed)) == [1.0, 0.0, 3.0, 0.0]
    assert [variable for _, variable in changed] == [variable for _, variable in four_pairs]


def test_a_pattern_matches_from_the_start_of_the_name(four_pairs, evaluate):
    with pytest.warns(UnmatchedPatternWarning, match="multiply: the pattern 'biases' matches no"):
        changed = make("biases=10", "a=10")(four_pairs)
    assert evaluate(gradients(changed)) == [10.0, 20.0, 3.0, 4.0]


def test_several_patterns_that_match_multiply_up(four_pairs, evaluate):
    for factors in (("b/.*=10", ".*/biases=2"), (".*/biases=2", "b/.*=10")):
        assert evaluate(gradients(make(*factors)(four_pairs))) == [1.0, 4.0, 30.0, 80.0]
    assert make("a/biases=2")(four_pairs)[0][0] is four_pairs[0][0]


def test_the_last_equals_sign_divides_and_none_passes(variable, evaluate):
    v = variable("v", [])
    ((gradient, _),) = make("(?=v)v=3")([(tf.constant(2.0), v)])
    assert evaluate(gradient) == 6.0
    assert make("v=2")([(None, v)]) == [(None, v)]


def test_slices_of_a_sparse_gradient_are_multiplied(variable, sparse, evaluate):
    ((gradient, _),) = make("v=0.5")([(sparse(), variable("v"))])
    np.testing.assert_array_equal(evaluate(gradient.values), [[1.5, 2.0], [0.0, 6.0]])


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        *(
            ([item], f"multiply: '{item}' is not REGEX=FACTOR, such as")
            for item in ("logits", "logits=", "logits=much", "logits=nan", "logits=1=x")
        ),
        (["a(=2"], r"the pattern 'a\(' is not a regular expression"),
        (["=2"], "an empty pattern"),
        ([], "multiply: no factor is given; give some like"),
    ],
)
def test_wrong_factors_are_refused(factors, words):
    with pytest.raises(ConfigError, match=words):
        make(*factors)


@pytest.mark.usefixtures("variable_mode")
def test_a_map_takes_variables_and_names_numbers_and_tensors(four_pairs, evaluate):
    first, third = four_pairs[0][1], four_pairs[2][1]
    # The variable wins over its name.
    multipliers = {first: tf.constant(3.0), "a/biases": 5, "b/weights": 10.0, third: 2.0}
    changed = multiply_gradients(four_pairs, multipliers)
    assert evaluate(gradients(changed)) == [3.0, 10.0, 6.0, 4.0]
    assert changed[3] == four_pairs[3]


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
