import pytest

from tf_frame.errors import ConfigError
from tf_frame.learning_rates.exponential import Exponential, Step


@pytest.mark.parametrize(
    ("cls", "options", "steps", "expected"),
    [
        (Exponential, {}, [0, 19, 20, 39, 40], [0.1, 0.1, 0.094, 0.094, 0.08836]),
        (Exponential, {"decay_steps": 5, "decay_factor": 0.5}, [4, 5, 10], [0.1, 0.05, 0.025]),
        (Exponential, {"decay_epochs": 0.55, "decay_factor": 0.5}, [4, 5], [0.1, 0.05]),
        (
            Exponential,
            {"decay_steps": 2, "decay_factor": 0.25, "staircase": False},
            [1, 2, 3],
            [0.05, 0.025, 0.0125],
        ),
        (
            Exponential,
            {"decay_steps": 1, "decay_factor": 0.5, "min_learning_rate": 0.03},
            [1, 2, 50],
            [0.05, 0.03, 0.03],
        ),
        (Step, {}, [0, 1999, 2000, 3999, 4000], [0.1, 0.1, 0.01, 0.01, 0.001]),
        (Step, {"decay_factor": 0.5, "decay_steps": 3}, [2, 3, 6], [0.1, 0.05, 0.025]),
    ],
)
def test_it_is_multiplied_by_the_factor(make, rates, cls, options, steps, expected):
    assert rates(make(cls, **options), steps) == pytest.approx(expected)


def test_a_decay_needs_steps_or_epochs_of_known_length(make):
    with pytest.raises(ConfigError, match="decay_epochs 2.0: the input does not give"):
        make(Exponential, context={"steps_per_epoch": None})
    with pytest.raises(ConfigError, match="decay_steps and --schedule.decay_epochs are both 0"):
        make(Exponential, decay_epochs=0)


@pytest.mark.parametrize(
    ("cls", "options"),
    [
        *((Exponential, {name: -1}) for name in ("decay_factor", "decay_steps", "decay_epochs")),
        (Exponential, {"min_learning_rate": -1}),
        *((Step, {"decay_factor": -0.1}), (Step, {"decay_steps": 0})),
    ],
)
def test_values_out_of_range_are_refused(make, cls, options):
    with pytest.raises(ConfigError, match="out of range; allowed: [01] or more"):
        make(cls, **options)
