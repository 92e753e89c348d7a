"""The schedule `cosine`; numbers of hold and warm-up follow object_detection, by hand."""

import math

import pytest

from tf_frame.errors import ConfigError
from tf_frame.learning_rates.cosine import Cosine

QUARTER = 0.05 * (1 + math.sqrt(0.5))


@pytest.mark.parametrize(
    ("options", "steps", "expected"),
    [
        ({}, [0, 25, 50, 100, 500], [0.1, QUARTER, 0.05, 0, 0]),
        ({"end_learning_rate": 0.02}, [0, 50, 100, 101], [0.1, 0.06, 0.02, 0.02]),
        ({"decay_steps": 20, "decay_epochs": 9}, [10, 20, 30], [0.05, 0, 0]),
        ({"decay_epochs": 2}, [10, 20, 30], [0.05, 0, 0]),
        # The API's test of its optimizers holds the rate to the end.
        ({"warmup_steps": 60, "hold_steps": 90}, [30, 60, 100, 101], [0.05, 0.1, 0.1, 0]),
        ({"warmup_steps": 50, "hold_steps": 50}, [25, 99, 100, 101], [0.05, 0.1, 0.1, 0]),
        # Without a warm-up its learning rate may be too high.
        ({"warmup_learning_rate": 0.2}, [0], [0.1]),
        (
            {
                "warmup_steps": 20,
                "warmup_learning_rate": 0.02,
                "hold_steps": 30,
                "decay_steps": 90,
            },
            [0, 5, 19, 20, 50, 60, 70, 90],
            [0.02, 0.04, 0.096, 0.1, 0.1, QUARTER, 0.05, 0],
        ),
    ],
)
def test_warm_up_hold_and_half_a_wave(make, rates, options, steps, expected):
    assert rates(make(Cosine, **options), steps) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"warmup_steps": 101}, "warmup_steps 101 are more than the 100 steps"),
        ({"warmup_steps": 6, "warmup_learning_rate": 0.2}, "rate 0.2 is above --learning_rate 0.1"),
        *(
            ({name: -1}, f"schedule.{name}: -1.* is out of range")
            for name in [
                *("decay_steps", "decay_epochs", "end_learning_rate"),
                *("hold_steps", "warmup_steps", "warmup_learning_rate"),
            ]
        ),
    ],
)
def test_wrong_options_are_refused(make, options, words):
    with pytest.raises(ConfigError, match=words):
        make(Cosine, **options)
