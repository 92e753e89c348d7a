import warnings

import pytest

from tf_frame.checkpoint.warm_start.rules import (
    parse_regex,
    parse_rules,
    rename,
    warn_about_prefixes,
    warn_about_unmatched,
)
from tf_frame.errors import ConfigError, UnmatchedPatternWarning

NAMES = ["MobilenetV2/Conv/weights", "MobilenetV2/Conv_1/weights", "logits/biases"]


MOBILENET = r"MobilenetV2/(.*)=FeatureExtractor/MobilenetV2/\1"


@pytest.mark.parametrize(
    ("name", "rules", "new_name"),
    [
        ("MobilenetV2/Conv/w", [MOBILENET], "FeatureExtractor/MobilenetV2/Conv/w"),
        ("a/w", [r"(?P<scope>\w+)/w=\g<scope>/weights"], "a/weights"),
        # A rule has to match the whole name.
        ("net/MobilenetV2/w", [r"MobilenetV2/(.*)=x/\1"], "net/MobilenetV2/w"),
        ("MobilenetV2/w", ["MobilenetV2=x"], "MobilenetV2/w"),
        # The first rule that matches counts.
        ("a/w", ["b=no", "a/(.*)=first", "(.*)=second"], "first"),
        # Regular expressions may have commas, equals signs, and a flag at the start.
        ("aaa", ["a{2,3}=b"], "b"),
        ("ab", [r"(?=ab)(.*)=\1c"], "abc"),
        ("ABC", ["(?i)abc=x"], "x"),
    ],
)
def test_the_first_rule_that_matches_the_whole_name_gives_the_new_name(name, rules, new_name):
    assert rename(name, parse_rules("--rule", rules)) == new_name


@pytest.mark.parametrize("text", ["MobilenetV2", "=x", "x=", ""])
def test_a_rule_without_both_halves_is_refused(text):
    with pytest.raises(ConfigError, match=rf"^--rule '{text}': expected REGEX=REPLACEMENT, such"):
        parse_rules("--rule", [text])


def test_a_regular_expression_that_is_not_valid_is_refused():
    with pytest.raises(ConfigError, match=r"^--rule '\(a' is not a regular expression: missing \)"):
        parse_rules("--rule", ["(a=b"])
    with pytest.raises(ConfigError, match="--drop '\\[' is not a regular expression"):
        parse_regex("--drop", "[")


@pytest.mark.parametrize("text", [r"(a)=\2", r"(a)=\g<name>", r"(?i)a=\1"])
def test_a_group_that_is_not_there_is_refused_before_any_name_is_tried(text):
    with pytest.raises(ConfigError, match="^--rule .* in "):
        parse_rules("--rule", [text])


def record_warnings(call, *arguments):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*arguments)
    assert all(warning.category is UnmatchedPatternWarning for warning in caught)
    return [str(warning.message) for warning in caught]


def test_a_pattern_without_a_match_is_warned_of_with_the_nearest_name():
    patterns = [(text, parse_regex("--drop", text)) for text in (".*/weights", "MobilenetV2/Conv2")]
    assert record_warnings(warn_about_unmatched, "--drop", patterns, NAMES) == [
        "--drop 'MobilenetV2/Conv2' matches the whole name of none of the 3 variables; "
        "did you mean 'MobilenetV2/Conv'?"
    ]


def test_a_prefix_without_a_match_is_warned_of_with_the_nearest_scope():
    assert record_warnings(warn_about_prefixes, "--x", ["MobilenetV2", "logit/", "qqq"], NAMES) == [
        "none of the 3 variables begins with --x 'logit/'; did you mean 'logits'?",
        "none of the 3 variables begins with --x 'qqq'",
    ]
