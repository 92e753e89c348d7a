import json
import os

import pytest

from tf_frame.estimator.exporters import Exporter
from tf_frame.estimator.train_and_eval.checkpoint_evaluator import (
    EVALUATED,
    MISSING_CHECKPOINT,
    NO_NEW_CHECKPOINT,
    CheckpointEvaluator,
    EvalResult,
)
from tf_frame.estimator.train_and_eval.specs import EvalSpec


class FakeEstimator:
    """Has checkpoints that a test names, and notes what is asked of it."""

    def __init__(self, model_dir):
        self.model_dir = str(model_dir)
        self.step = None
        self.calls = []

    def latest_checkpoint(self):
        return None if self.step is None else f"model.ckpt-{self.step}"

    def eval_dir(self, name=None):
        return os.path.join(self.model_dir, f"eval_{name}" if name else "eval")

    def evaluate(self, **arguments):
        self.calls.append(arguments)
        return {"loss": 1.0, "global_step": self.step}


class Noting(Exporter):
    name = None  # Each object has a name of its own.

    def __init__(self, name):
        self.name = name
        self.calls = []

    def export(self, **arguments):
        self.calls.append(arguments)
        return f"{self.name}-{len(self.calls)}"


def input_fn():
    return None


@pytest.fixture
def estimator(tmp_path):
    return FakeEstimator(tmp_path)


def test_each_checkpoint_is_evaluated_once(estimator):
    evaluator = CheckpointEvaluator(estimator, EvalSpec(input_fn), 9)
    assert evaluator.evaluate_and_export() == (EvalResult(MISSING_CHECKPOINT), [])
    estimator.step = 2
    metrics = {"loss": 1.0, "global_step": 2}
    expected = EvalResult(EVALUATED, metrics, "model.ckpt-2")
    assert evaluator.evaluate_and_export() == (expected, [])
    assert evaluator.evaluate_and_export() == (EvalResult(NO_NEW_CHECKPOINT), [])
    estimator.step = 4
    result, _ = evaluator.evaluate_and_export()
    assert result.checkpoint_path == "model.ckpt-4"
    assert [call["checkpoint_path"] for call in estimator.calls] == ["model.ckpt-2", "model.ckpt-4"]


def test_the_estimator_is_told_what_the_spec_says(estimator):
    estimator.step = 2
    spec = EvalSpec(input_fn, steps=7, name="holdout")
    CheckpointEvaluator(estimator, spec, None).evaluate_and_export()
    assert estimator.calls == [
        {
            "input_fn": input_fn,
            "steps": 7,
            "name": "holdout",
            "checkpoint_path": "model.ckpt-2",
            "hooks": (),
        }
    ]


@pytest.mark.parametrize(
    ("max_steps", "finals"), [(4, [False, True, True]), (None, [False, False, False])]
)
def test_exporters_hear_of_every_evaluation_and_of_the_last(estimator, max_steps, finals):
    exporters = [Noting("a"), Noting("b")]
    spec = EvalSpec(input_fn, exporters=exporters)
    evaluator = CheckpointEvaluator(estimator, spec, max_steps)
    exported = []
    for estimator.step in (3, 4, 5):
        exported.append(evaluator.evaluate_and_export()[1])
    assert exported == [["a-1", "b-1"], ["a-2", "b-2"], ["a-3", "b-3"]]
    assert [call["is_the_final_export"] for call in exporters[0].calls] == finals
    assert exporters[1].calls[0] == {
        "estimator": estimator,
        "export_path": os.path.join(estimator.model_dir, "export", "b"),
        "checkpoint_path": "model.ckpt-3",
        "eval_result": {"loss": 1.0, "global_step": 3},
        "is_the_final_export": False,
    }


def test_a_folder_is_finished_once_the_last_step_was_exported(estimator):
    evaluator = CheckpointEvaluator(estimator, EvalSpec(input_fn, name="own"), 4)
    estimator.step = 3
    evaluator.evaluate_and_export()
    assert not evaluator.has_work_left(3)
    assert evaluator.has_work_left(4)
    estimator.step = 4
    evaluator.evaluate_and_export()
    assert not evaluator.has_work_left(4)
    path = os.path.join(estimator.model_dir, "eval_own", "finished.json")
    with open(path) as file:
        assert json.load(file) == {"global_step": 4}
    # Another run of the folder goes on to step 6.
    further = CheckpointEvaluator(estimator, EvalSpec(input_fn, name="own"), 6)
    assert not further.has_work_left(4)
    assert further.has_work_left(6)
    endless = CheckpointEvaluator(estimator, EvalSpec(input_fn, name="other"), None)
    assert not endless.has_work_left(4)


def test_an_export_that_fails_leaves_work(estimator):
    class Failing(Noting):
        def export(self, **arguments):
            raise OSError("full")

    estimator.step = 4
    evaluator = CheckpointEvaluator(estimator, EvalSpec(input_fn, exporters=Failing("a")), 4)
    with pytest.raises(OSError):
        evaluator.evaluate_and_export()
    assert evaluator.has_work_left(4)


def test_it_is_said_every_ten_minutes_that_there_is_nothing_to_evaluate(estimator, caplog):
    now = [100.0]
    evaluator = CheckpointEvaluator(estimator, EvalSpec(input_fn), 4, clock=lambda: now[0])

    def said():
        caplog.clear()
        evaluator.evaluate_and_export()
        return [message.split(". ")[0] for message in caplog.messages]

    missing = "Estimator is not trained yet"
    assert said() == [missing]
    now[0] += 600
    assert said() == []
    now[0] += 1
    assert said() == [missing]
    estimator.step = 2
    assert said() == []
    assert said() == ["No new checkpoint ready for evaluation"]
    assert said() == []
