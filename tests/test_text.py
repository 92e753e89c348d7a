import pytest

from tf_frame.text import figure


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
