import pytest

from tf_frame.errors import ConfigError
from tf_frame.learning_rates.boundaries import check_boundaries, check_rates


def test_increasing_boundaries_pass():
    check_boundaries([1, 2, 30])
    check_boundaries([])


@pytest.mark.parametrize(("boundaries", "wrong"), [((0, 2), 0), ((-3, 2), -3), ((5, 9, 9), 9)])
def test_boundaries_that_do_not_increase_are_refused(boundaries, wrong):
    with pytest.raises(ConfigError, match=f"boundaries .*greater than the one before.*; {wrong} i"):
        check_boundaries(boundaries)


def test_the_number_of_rates_must_fit():
    check_rates([0.1, 0.2], 2, "one per boundary")
    with pytest.raises(ConfigError, match=r"has 2 values \(0.1,0.2\), 3 are needed: one per boun"):
        check_rates([0.1, 0.2], 3, "one per boundary")
