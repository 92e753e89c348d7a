import math

import pytest

from tf_frame.errors import ConfigError
from tf_frame.learning_rates.one_cycle import OneCycle


@pytest.mark.parametrize(
    ("options", "steps", "expected"),
    [
        (
            {},
            [0, 22.5, 45, 67.5, 90, 95, 100, 200],
            [0.01, 0.055, 0.1, 0.055, 0.01, (0.01 + 1e-4) / 2, 1e-4, 1e-4],
        ),
        (
            {"rise": 0.2, "fall": 0.4, "initial_factor": 0.5, "final_factor": 0.1},
            [0, 10, 20, 40, 60, 80, 100],
            [0.05, 0.075, 0.1, 0.075, 0.05, 0.03, 0.01],
        ),
        ({"decay_steps": 20, "decay_epochs": 9}, [9, 18, 20], [0.1, 0.01, 1e-4]),
        ({"decay_epochs": 2}, [9, 18, 20], [0.1, 0.01, 1e-4]),
        (
            {"shape": "cosine", "rise": 0.4, "fall": 0.6, "initial_factor": 0},
            [0, 10, 20, 40, 70, 100],
            [0, 0.05 * (1 - math.sqrt(0.5)), 0.05, 0.1, 0.05, 0],
        ),
        # Without a rise it begins at the peak, without a fall it drops, and without annihilation
        # it stays at the end of the fall.
        ({"rise": 0, "fall": 0.5}, [0, 25], [0.1, 0.055]),
        ({"rise": 0.5, "fall": 0}, [25, 50], [0.055, 0.01]),
        ({"rise": 0.3, "fall": 0.7}, [100, 500], [0.01, 0.01]),
    ],
)
def test_it_rises_falls_back_as_far_and_ends_in_annihilation(make, rates, options, steps, expected):
    assert rates(make(OneCycle, **options), steps) == pytest.approx(expected, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rise": 0.6}, "rise 0.6 and --schedule.fall 0.45 are shares"),
        ({"shape": "cosin"}, "did you mean 'cosine'.*allowed: linear, cosine"),
        *(
            (options, "out of range")
            for options in [
                *({"rise": 1.1}, {"fall": -0.1}, {"initial_factor": 2}, {"final_factor": -1}),
                *({"decay_steps": -1}, {"decay_epochs": -1}),
            ]
        ),
    ],
)
def test_wrong_options_are_refused(make, options, words):
    with pytest.raises(ConfigError, match=words):
        make(OneCycle, **options)
