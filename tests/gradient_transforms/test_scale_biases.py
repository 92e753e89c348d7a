import warnings

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError, UnmatchedPatternWarning
from tf_frame.gradient_transforms.scale_biases import ScaleBiases

pytestmark = pytest.mark.usefixtures("graph")


def scale(pairs, **params):
    return ScaleBiases(params=ScaleBiases.Params(**params))(pairs)


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("Conv/biases", 3.0),
        ("dense/bias", 3.0),
        ("Conv/BatchNorm/beta", 3.0),
        ("Conv/BatchNorm/gamma", 1.0),
        ("unbiased/weights", 1.0),
        ("beta/weights", 1.0),
    ],
)
def test_gradients_of_biases_and_of_no_others_are_scaled(name, factor, variable, evaluate):
    pairs = [(tf.ones([]), variable(name, [])), (tf.ones([]), variable("a/biases", []))]
    assert evaluate(scale(pairs, factor=3.0)[0][0]) == factor


def test_a_variable_that_two_patterns_match_is_scaled_once(variable, evaluate):
    pairs = [(tf.ones([]), variable("a/biases", []))]
    assert evaluate(scale(pairs, factor=3.0, patterns=(".*biases", "a/.*"))[0][0]) == 3.0


def test_the_default_doubles_slices_and_warns_of_no_missing_kind_of_bias(
    variable, sparse, evaluate
):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ((gradient, _),) = scale([(sparse(), variable("biases"))])
    np.testing.assert_array_equal(evaluate(gradient.values), [[6.0, 8.0], [0.0, 24.0]])


def test_a_model_without_biases_gets_a_warning_and_keeps_its_gradients(variable):
    pairs = [(tf.ones([]), variable("weights", []))]
    with pytest.warns(UnmatchedPatternWarning, match="scale_biases: the pattern") as caught:
        assert scale(pairs) == pairs
    assert len(caught) == 2


def test_a_pattern_of_the_users_own_that_matches_nothing_gets_a_warning(variable):
    pairs = [(tf.ones([]), variable("biases", []))]
    with pytest.warns(UnmatchedPatternWarning, match="pattern 'offset' matches no") as caught:
        scale(pairs, patterns=("biases", "offset"))
    assert len(caught) == 1


def test_a_wrong_pattern_is_refused():
    with pytest.raises(ConfigError, match="scale_biases: the pattern .* regular expression"):
        ScaleBiases(params=ScaleBiases.Params(patterns=("(",)))
