import pytest

from tf_frame.text import figure, readable_count, with_article


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5000"),
        (0.0, "0.0000"),
        (1e-4, "0.0001"),
        (9.9e-5, "9.900e-05"),
        (-3.14159e-7, "-3.142e-07"),
        (1234.5, "1234.5000"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
    ],
)
def test_a_figure_is_never_shown_as_zero_unless_it_is(value, text):
    assert figure(value) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1.0 k"),
        (300_100_000, "300.1 M"),
        (999_960_000, "1.0 G"),
        (7.5e15, "7500.0 T"),
    ],
)
def test_a_count_has_the_unit_that_leaves_at_least_one(count, text):
    assert readable_count(count) == text


def test_an_article_goes_by_the_first_letter():
    assert [with_article(word) for word in ("input", "hook")] == ["an input", "a hook"]
