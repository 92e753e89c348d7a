import pytest

from tf_frame import ScheduleContext
from tf_frame.errors import ConfigError
from tf_frame.learning_rates.context import decay_length, steps_in


def context(steps_per_epoch):
    return ScheduleContext(learning_rate=0.1, num_steps=100, steps_per_epoch=steps_per_epoch)


@pytest.mark.parametrize(
    ("epochs", "steps_per_epoch", "expected"),
    [
        # ImageNet with slim's defaults: int(1281167 / 32 * 2), rounded down.
        (2, 1281167 / 32, 80072),
        # The floating-point product is 5.999..., which is not rounded down.
        (0.7, 60 / 7, 6),
        (2, 0.25, 1),
    ],
)
def test_the_steps_of_epochs(epochs, steps_per_epoch, expected):
    assert int(60 / 7 * 0.7) == 5
    assert steps_in(epochs, context(steps_per_epoch)) == expected


def test_steps_win_over_epochs_and_epochs_over_the_length_of_training():
    for steps_per_epoch in (10.0, None):
        assert decay_length(context(steps_per_epoch), steps=7, epochs=2) == 7
    assert decay_length(context(10.0), steps=0, epochs=2) == 20
    assert decay_length(context(10.0), steps=0) == 100


def test_epochs_of_unknown_length_are_an_error_with_the_option_to_set():
    with pytest.raises(ConfigError, match=r"decay_epochs 2: .*unknown; give --schedule.decay_ste"):
        steps_in(2, context(None))
