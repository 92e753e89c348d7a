import warnings

import pytest

from tf_frame.errors import ConfigError, UnmatchedPatternWarning
from tf_frame.gradient_transforms.patterns import (
    compile_patterns,
    matches_any,
    similar_names,
    unmatched,
    warn_unmatched,
)

NAMES = [
    "MobilenetV2/Conv/weights",
    "MobilenetV2/Conv/BatchNorm/beta",
    "MobilenetV2/expanded_conv/project/weights",
    "aspp/depthwise_weights",
    "logits/biases",
]


def test_a_pattern_matches_from_the_start_of_a_name_and_need_not_reach_its_end():
    (pattern,) = compile_patterns("freeze", ["logits"])
    assert matches_any([pattern], "logits/biases")
    assert not matches_any([pattern], "decoder/logits/biases")


def test_a_typing_error_gets_a_warning_with_names_that_come_near():
    with pytest.warns(UnmatchedPatternWarning) as caught:
        warn_unmatched("freeze", compile_patterns("freeze", ["MobilnetV2/.*"]), NAMES)
    assert [str(warning.message) for warning in caught] == [
        "freeze: the pattern 'MobilnetV2/.*' matches no variable; similar names: "
        + ", ".join(NAMES[:3])
    ]


def test_each_pattern_that_matches_nothing_gets_a_warning_of_its_own():
    patterns = compile_patterns("multiply", ["aspp/.*", "asp/.*", "decoder/.*"])
    assert [pattern.pattern for pattern in unmatched(patterns, NAMES)] == ["asp/.*", "decoder/.*"]
    with pytest.warns(UnmatchedPatternWarning) as caught:
        warn_unmatched("multiply", patterns, NAMES)
    first, second = (str(warning.message) for warning in caught)
    assert "the pattern 'asp/.*' matches no variable; similar names: aspp/" in first
    assert second == (
        "multiply: the pattern 'decoder/.*' matches no variable; no name is similar; the first of "
        f"5 variables are: {', '.join(NAMES[:3])}"
    )
    with pytest.warns(UnmatchedPatternWarning, match="the first of 0 variables are: none"):
        warn_unmatched("freeze", patterns[:1], [])


def test_patterns_that_match_get_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_unmatched("freeze", compile_patterns("freeze", ["MobilenetV2", ".*biases"]), NAMES)


def test_names_that_share_most_parts_with_a_pattern_come_first():
    # A part counts anywhere in a name.
    assert similar_names("biases", NAMES) == similar_names("LOGITS/.*", NAMES) == ["logits/biases"]
    assert similar_names(r"depthwise\d\.weights", NAMES)[0] == "aspp/depthwise_weights"
    assert similar_names("MobilnetV2/expanded_conv/.*", NAMES)[0] == NAMES[2]
    assert len(similar_names("Mobilenet", NAMES, count=2)) == 2


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("Conv(", r"freeze: the pattern 'Conv\(' is not a regular expression: missing \)"),
        ("*", "the pattern '\\*' is not a regular expression: nothing to repeat"),
        ("", r"freeze: an empty pattern matches every variable; write \.\* for that"),
    ],
)
def test_a_pattern_that_cannot_be_meant_is_an_error(pattern, message):
    with pytest.raises(ConfigError, match=message):
        compile_patterns("freeze", ["fine", pattern])
