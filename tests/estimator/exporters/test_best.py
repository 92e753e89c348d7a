import json
import math

import pytest

from refusals import refusal
from tf_frame.errors import ConfigError
from tf_frame.estimator.exporters.best import BestExporter, KeptExports, loss_smaller
from tf_frame.runs.evaluation.results import write_evaluation


def accuracy_higher(best_eval_result, current_eval_result):
    return current_eval_result["accuracy"] > best_eval_result["accuracy"]


@pytest.fixture
def names(tmp_path):
    """Returns the last digits of the exports that are there."""

    def names(name="best_exporter"):
        folder = tmp_path / "export" / name
        return sorted(int(path.name[-2:]) for path in folder.iterdir() if path.is_dir())

    return names


@pytest.fixture
def evaluated(tmp_path):
    """Writes the event file of an evaluation."""
    return lambda step, folder="eval", prefix="", **metrics: write_evaluation(
        str(tmp_path / folder), metrics, None, step, prefix=prefix
    )


def exported(offer, exporter, *losses):
    """For each loss in turn, whether there was an export."""
    return [offer(exporter, step, loss=loss) is not None for step, loss in enumerate(losses, 1)]


def test_a_model_is_exported_when_it_is_better_than_all_before(offer, estimator):
    exporter = BestExporter(serving_input_receiver_fn=len, assets_extra={"a": "b"}, as_text=True)
    assert exporter.name == "best_exporter"
    assert exported(offer, exporter, 5.0, 7.0, 5.0, 4.0, 4.5) == [True, False, False, True, False]
    assert estimator.exported == [
        (len, {"a": "b"}, True, "model.ckpt-1"),
        (len, {"a": "b"}, True, "model.ckpt-4"),
    ]


def test_a_function_decides_what_is_better(offer):
    exporter = BestExporter("best", compare_fn=accuracy_higher)
    results = [offer(exporter, step, accuracy=a) for step, a in enumerate([0.5, 0.4, 0.6])]
    assert [result is not None for result in results] == [True, False, True]


def test_not_a_number_is_never_better_and_always_beaten(offer):
    exporter = BestExporter()
    exports = exported(offer, exporter, math.nan, math.nan, 3.0, math.nan, 2.0)
    assert exports == [True, False, True, False, True]


@pytest.mark.parametrize(
    ("arguments", "kept"), [({}, 5), ({"exports_to_keep": 2}, 2), ({"exports_to_keep": None}, 7)]
)
def test_the_best_exports_are_kept(offer, names, arguments, kept):
    exporter = BestExporter(**arguments)
    exported(offer, exporter, *range(20, 13, -1))
    assert names() == list(range(8 - kept, 8))


def test_what_is_kept_goes_by_quality_and_not_by_the_clock(offer, names, estimator):
    exporter = BestExporter(exports_to_keep=2)
    estimator.number += 50
    exported(offer, exporter, 5.0, 4.0)
    estimator.number -= 40  # The clock was set back: this is 13, and the best.
    offer(exporter, 3, loss=3.0)
    assert names() == [13, 52]
    offer(exporter, 4, loss=2.0)
    assert names() == [13, 14]


def test_exports_that_nobody_knows_go_first(offer, names, tmp_path):
    (tmp_path / "export/best_exporter/1000000099").mkdir(parents=True)
    exported(offer, BestExporter(exports_to_keep=2), 5.0, 4.0)
    assert names() == [1, 2]


def test_what_was_exported_counts_after_a_restart(offer, names, tmp_path):
    exported(offer, BestExporter(exports_to_keep=2, event_file_pattern=None), 5.0, 4.0)
    again = BestExporter(exports_to_keep=2, event_file_pattern=None)
    assert offer(again, 2, loss=4.0) is None
    assert offer(again, 3, loss=4.5) is None
    assert offer(again, 4, loss=3.0) is not None
    assert names() == [2, 3]
    content = json.loads((tmp_path / "export/best_exporter/.best.json").read_text())
    assert content == {
        "exports": [
            {"export": "1000000001", "metrics": {"global_step": 1.0, "loss": 5.0}},
            {"export": "1000000002", "metrics": {"global_step": 2.0, "loss": 4.0}},
            {"export": "1000000003", "metrics": {"global_step": 4.0, "loss": 3.0}},
        ]
    }


@pytest.mark.parametrize("prefix", ["", "metrics/"])
def test_what_a_killed_run_evaluated_counts_after_a_restart(offer, evaluated, prefix):
    exported(offer, BestExporter(), 5.0)
    evaluated(1, loss=5.0, prefix=prefix)
    # This one was killed before it exported.
    evaluated(9, loss=2.0, prefix=prefix)
    again = BestExporter()
    assert offer(again, 2, loss=3.0) is None
    assert offer(again, 3, loss=1.5) is not None


def test_without_any_export_the_first_model_is_exported_anyhow(offer, evaluated):
    evaluated(9, loss=2.0)
    exporter = BestExporter()
    assert exported(offer, exporter, 4.0, 3.0, 1.0) == [True, False, True]


def test_the_event_of_the_current_evaluation_does_not_count_against_it(offer, evaluated):
    exported(offer, BestExporter(), 5.0)
    evaluated(2, loss=4.0)
    assert offer(BestExporter(), 2, loss=4.0) is not None


def test_event_files_are_where_the_pattern_says(offer, evaluated):
    exported(offer, BestExporter(), 5.0)
    evaluated(9, folder="eval_holdout", loss=2.0)
    holdout = BestExporter(event_file_pattern="eval_holdout/*.tfevents.*")
    assert offer(holdout, 2, loss=3.0) is None
    assert offer(BestExporter(), 2, loss=3.0) is not None
    evaluated(9, loss=2.0)
    assert offer(BestExporter(), 2, loss=2.5) is None
    assert offer(BestExporter(event_file_pattern=None), 2, loss=2.5) is not None


def test_evaluations_that_cannot_be_compared_are_passed_over(offer, evaluated, caplog):
    evaluated(7, other=1.0)
    evaluated(8, loss=4.0)
    evaluated(9, other=1.0)
    exporter = BestExporter()
    assert exported(offer, exporter, 5.0, 4.5, 3.0) == [True, False, True]
    message = "an earlier evaluation cannot be compared: "
    assert [text.startswith(message) for text in caplog.messages] == [True, True]
    exporter = BestExporter("best", compare_fn=accuracy_higher)
    evaluated(10, accuracy=0.5)
    results = [offer(exporter, step, accuracy=a) for step, a in [(11, 0.3), (12, 0.4), (13, 0.6)]]
    assert [result is not None for result in results] == [True, False, True]


def test_a_damaged_record_of_exports_counts_for_nothing(offer, tmp_path, caplog):
    exported(offer, BestExporter(), 5.0)
    (tmp_path / "export/best_exporter/.best.json").write_text('{"exports": 5}')
    assert offer(BestExporter(), 2, loss=6.0) is not None
    assert ".best.json is damaged: " in caplog.text


def test_another_model_has_a_best_of_its_own(offer, estimator, tmp_path):
    exporter = BestExporter()
    offer(exporter, 1, loss=1.0)
    estimator.model_dir = str(tmp_path / "other")
    path = str(tmp_path / "other/export")
    assert exporter.export(estimator, path, "model.ckpt-1", {"loss": 2.0}, False) is not None


def test_a_metric_that_is_missing_is_named_with_those_that_are_there(offer):
    assert refusal(offer, BestExporter("best", compare_fn=accuracy_higher), 1, loss=1.0) == (
        ConfigError,
        "the compare_fn of the exporter best reads the metric 'accuracy', which the evaluation "
        "does not have; it has: global_step, loss",
    )
    assert refusal(offer, BestExporter(), 1, accuracy=1.0) == (
        ValueError,
        "best_eval_result cannot be empty or no loss is found in it. It has: accuracy, global_step",
    )


@pytest.mark.parametrize("number", [0, -2])
def test_at_least_one_best_export_is_kept(number):
    message = f"`exports_to_keep`, if provided, must be a positive number. Got {number}"
    assert refusal(BestExporter, exports_to_keep=number) == (ValueError, message)


def other_arguments(best_eval_result, current_eval_result, other):
    return True


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (None, "`compare_fn` must not be None."),
        (lambda current_eval_result: True, "must include best_eval_result argument."),
        (lambda best_eval_result: True, "must include current_eval_result argument."),
        (other_arguments, "has following not expected args: ['other']"),
    ],
)
def test_a_comparison_takes_two_results(function, message):
    _, error = refusal(BestExporter, compare_fn=function)
    assert error.endswith(message)
    assert function is None or error.startswith(f"compare_fn ({function}) ")


def test_the_record_does_not_grow_with_exports_that_are_gone(offer, tmp_path):
    exported(offer, BestExporter(exports_to_keep=2), *range(20, 10, -1))
    content = json.loads((tmp_path / "export/best_exporter/.best.json").read_text())
    # The third from the end went after this was written.
    assert [entry["export"][-2:] for entry in content["exports"]] == ["08", "09", "10"]


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
    loss = {"loss": 1.0}
    assert refusal(loss_smaller, missing, loss) == (ValueError, f"best_eval_result {text}")
    assert refusal(loss_smaller, loss, missing) == (ValueError, f"current_eval_result {text}")


def test_an_export_that_takes_the_name_of_one_that_was_removed_is_the_best(tmp_path):
    kept = KeptExports(str(tmp_path))
    first, second = "1700000001", "1700000002"
    for name, loss in ((first, 1.0), (second, 0.5)):
        (tmp_path / name).mkdir()
        kept.add(str(tmp_path / name), {"loss": loss})
    kept.add(str(tmp_path / first), {"loss": 0.1})
    assert kept.worst_first() == [second, first]
    assert [metrics["loss"] for metrics in KeptExports(str(tmp_path)).results()] == [0.5, 0.1]
