import pytest

from tf_frame.learning_rates.fixed import Fixed


def test_fixed_is_the_learning_rate_at_every_step(make, rates):
    assert rates(make(Fixed), [0, 1, 1e6]) == pytest.approx([0.1] * 3)
