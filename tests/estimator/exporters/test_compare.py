import math

import pytest

from tf_frame.estimator.exporters.compare import loss_smaller


@pytest.mark.parametrize(
    ("best", "current", "smaller"),
    [
        (2.0, 1.0, True),
        (1.0, 2.0, False),
        (1.0, 1.0, False),
        (math.nan, 1.0, True),
        (1.0, math.nan, False),
        (math.nan, math.nan, False),
        (math.inf, 1.0, True),
    ],
)
def test_a_smaller_loss_is_better(best, current, smaller):
    assert loss_smaller({"loss": best}, {"loss": current}) is smaller


@pytest.mark.parametrize("missing", [{}, None, {"accuracy": 1.0}])
def test_both_results_must_have_a_loss(missing):
    has = "accuracy" if missing else "nothing"
    text = f"cannot be empty or no loss is found in it. It has: {has}"
    with pytest.raises(ValueError) as error:
        loss_smaller(missing, {"loss": 1.0})
    assert str(error.value) == f"best_eval_result {text}"
    with pytest.raises(ValueError) as error:
        loss_smaller({"loss": 1.0}, missing)
    assert str(error.value) == f"current_eval_result {text}"
