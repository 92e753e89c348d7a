import pytest

from tf_frame.errors import ConfigError
from tf_frame.learning_rates.step import Step


def test_the_defaults_are_a_tenth_every_two_thousand_steps(make, rates):
    found = rates(make(Step), [0, 1999, 2000, 3999, 4000])
    assert found == pytest.approx([0.1, 0.1, 0.01, 0.01, 0.001])


def test_factor_and_steps_can_be_chosen(make, rates):
    assert rates(make(Step, decay_factor=0.5, decay_steps=3), [2, 3, 6]) == pytest.approx(
        [0.1, 0.05, 0.025]
    )


@pytest.mark.parametrize("options", [{"decay_factor": -0.1}, {"decay_steps": 0}])
def test_values_out_of_range_are_refused(make, options):
    with pytest.raises(ConfigError, match="out of range"):
        make(Step, **options)
