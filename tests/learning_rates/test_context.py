import pytest

from tf_frame import ScheduleContext
from tf_frame.errors import ConfigError
from tf_frame.learning_rates.context import decay_length, steps_in


def context(steps_per_epoch, num_steps=100):
    return ScheduleContext(learning_rate=0.1, num_steps=num_steps, steps_per_epoch=steps_per_epoch)


def test_the_steps_of_epochs_are_rounded_down():
    # ImageNet with slim's defaults: int(1281167 / 32 * 2).
    assert steps_in(2, context(1281167 / 32)) == 80072


def test_a_product_that_is_whole_but_for_rounding_is_not_rounded_down():
    assert int(60 / 7 * 0.7) == 5
    assert steps_in(0.7, context(60 / 7)) == 6


def test_a_decay_takes_at_least_one_step():
    assert steps_in(2, context(0.25)) == 1


def test_steps_win_over_epochs_and_epochs_over_the_length_of_training():
    assert decay_length(context(10.0), steps=7, epochs=2) == 7
    assert decay_length(context(10.0), steps=0, epochs=2) == 20
    assert decay_length(context(10.0), steps=0) == 100


def test_epochs_of_unknown_length_are_an_error_that_says_what_to_give():
    with pytest.raises(ConfigError, match=r"decay_epochs 2: .*unknown; give --schedule.decay_ste"):
        steps_in(2, context(None))


def test_unknown_epochs_do_no_harm_when_steps_are_given():
    assert decay_length(context(None), steps=7, epochs=2) == 7
