import pytest

from tf_frame.config.metric_directions import higher_is_better
from tf_frame.errors import ConfigError

RISING = ["accuracy", "top_5_accuracy", "mean_iou", "iou_nucleus", "AUC", "recall/cat"]
RISING += ["precision@0.5"]
FALLING = ["loss", "loss/heads", "mean_absolute_error", "rmse"]


@pytest.mark.parametrize("metric", [*RISING, *FALLING])
def test_the_name_of_a_metric_says_its_direction(metric):
    assert higher_is_better(metric, None, "--mode") is (metric in RISING)


@pytest.mark.parametrize("metric", ["wer", "accuracy_loss", "accurate", ""])
def test_for_other_names_the_mode_is_asked_for_and_decides(metric):
    with pytest.raises(ConfigError, match=f"the name '{metric}' .* --mode max or --mode min"):
        higher_is_better(metric, None, "--mode")
    assert higher_is_better(metric, "max", "--mode") is True
    assert higher_is_better(metric, "min", "--mode") is False


def test_a_mode_wins_over_the_name():
    assert higher_is_better("accuracy", "min", "--mode") is False
