import warnings

import pytest

from tf_frame.errors import ConfigError, UnmatchedPatternWarning
from tf_frame.runs.training.build import unmatched_patterns


def test_each_pattern_without_a_match_is_said_and_warnings_are_shown_as_before_afterwards():
    lines, before = [], warnings.showwarning
    with unmatched_patterns(strict=False, report=lines.append):
        assert warnings.showwarning is not before
        for _ in range(2):
            warnings.warn(UnmatchedPatternWarning("'a' matches no variable"), stacklevel=1)
    assert warnings.showwarning is before
    assert lines == ["warning: 'a' matches no variable"] * 2


def test_strict_makes_an_error_of_it():
    with (
        pytest.raises(ConfigError, match=r"'a' matches no variable \(an error because of --str"),
        unmatched_patterns(strict=True, report=print),
    ):
        warnings.warn(UnmatchedPatternWarning("'a' matches no variable"), stacklevel=1)


@pytest.mark.parametrize("strict", [False, True])
def test_other_warnings_stay_what_they_are(strict):
    lines = []
    with (
        pytest.warns(UserWarning, match="another"),
        unmatched_patterns(strict=strict, report=lines.append),
    ):
        warnings.warn("another", UserWarning, stacklevel=1)
    assert lines == []
