import pytest

from tf_frame.runs.records.evaluations import Evaluation, best_evaluation, read_evaluations

SOME = [Evaluation(10, {"loss": 0.5, "mean_iou": 0.7}), Evaluation(20, {"loss": 0.6, "x": 1.0})]


def test_evaluations_are_read_without_the_log_and_rows_cut_off(make_run):
    folder = make_run("run", evaluations=[(10, 0.5, 0.7), (20, 0.6, "")])
    with open(f"{folder}/metrics.csv", "a") as file:
        file.write("30,eval,2026-01-01,0.")
    evaluations = read_evaluations(folder)
    assert evaluations[0] == Evaluation(10, {"loss": 0.5, "mean_iou": 0.7})
    assert evaluations[1] == Evaluation(20, {"loss": 0.6})
    assert read_evaluations("/none") == []


@pytest.mark.parametrize(
    ("metric", "mode", "step"),
    [("loss", None, 10), ("loss", "max", 20), ("mean_iou", None, 10), ("x", "min", 20)],
)
def test_the_best_evaluation(metric, mode, step):
    assert best_evaluation(SOME, metric, mode).step == step


@pytest.mark.parametrize("metric", ["x", "recall"])
def test_no_evaluation_is_best_without_a_direction_or_a_value(metric):
    assert best_evaluation(SOME, metric, None) is None
