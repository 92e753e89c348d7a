import pytest

from tf_frame.errors import ConfigError
from tf_frame.learning_rates.poly import Poly, Polynomial


@pytest.mark.parametrize(
    ("cls", "options", "steps", "expected"),
    [
        (Poly, {}, [0, 50, 100, 150], [0.1, 0.1 * 0.5**0.9, 0, 0]),
        (Poly, {"power": 2, "end_learning_rate": 0.02}, [0, 50, 100, 200], [0.1, 0.04, 0.02, 0.02]),
        (Poly, {"power": 1, "decay_steps": 20, "decay_epochs": 9}, [10, 20, 30], [0.05, 0, 0]),
        (Poly, {"power": 1, "decay_epochs": 2}, [10, 20, 30], [0.05, 0, 0]),
        # A cycle starts again over twice the steps.
        (
            Poly,
            {"power": 1, "decay_steps": 10, "cycle": True},
            [5, 10, 15, 20, 25],
            [0.05, 0, 0.025, 0, 0.1 * (1 - 25 / 30)],
        ),
        (Polynomial, {}, [0, 50, 100], [0.1, (0.1 + 1e-4) / 2, 1e-4]),
        (Polynomial, {"decay_epochs": 2}, [10, 20], [0.05005, 1e-4]),
        (Polynomial, {"power": 2, "end_learning_rate": 0, "decay_steps": 10}, [5], [0.025]),
        (Polynomial, {"end_learning_rate": 0, "decay_steps": 10, "cycle": True}, [15], [0.025]),
    ],
)
def test_it_falls_with_the_power_to_the_end_learning_rate(
    make, rates, cls, options, steps, expected
):
    assert rates(make(cls, **options), steps) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("name", ["power", "decay_steps", "decay_epochs", "end_learning_rate"])
def test_values_out_of_range_are_refused(make, name):
    with pytest.raises(ConfigError, match=f"{name}: -1.* out of range; allowed: 0 or more"):
        make(Poly, **{name: -1})
