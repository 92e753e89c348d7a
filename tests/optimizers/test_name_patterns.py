import warnings

import pytest

from tf_frame.errors import ConfigError, UnmatchedPatternWarning
from tf_frame.optimizers.name_patterns import NOT_WEIGHTS, NamePatterns


def test_patterns_are_found_anywhere_in_a_name():
    patterns = NamePatterns(["^logits/", "bias"], option="o")
    assert patterns.match("logits/weights") and patterns.match("conv/biases")
    assert not patterns.match("aux/logits/weights")


def test_a_pattern_without_a_variable_warns_with_an_example():
    patterns = NamePatterns(["conv", "missing"], option="optimizer.exclude")
    with pytest.warns(
        UnmatchedPatternWarning,
        match="--optimizer.exclude: 'missing' matches none of the 2 trained variables, such as co",
    ) as caught:
        patterns.warn_unmatched(["conv1", "conv2"])
    assert len(caught) == 1


def test_the_default_patterns_need_not_match():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NamePatterns(NOT_WEIGHTS, option="o").warn_unmatched(["conv1"])


def test_a_pattern_must_be_a_regular_expression():
    with pytest.raises(ConfigError, match=r"--o: '\[' is not a regular expression: unterminated"):
        NamePatterns(["["], option="o")
