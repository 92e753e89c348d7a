import logging
import os

import pytest

from tf_frame.errors import CheckpointError
from tf_frame.estimator.exporters import Exporter
from tf_frame.estimator.train_and_eval import continuous_evaluation
from tf_frame.estimator.train_and_eval.checkpoint_evaluation import CheckpointEvaluator
from tf_frame.estimator.train_and_eval.continuous_evaluation import evaluate_continuously
from tf_frame.estimator.train_and_eval.evaluation_listener import ContinuousEvalListener
from tf_frame.estimator.train_and_eval.specs import EvalSpec


class FakeEstimator:
    """Has one checkpoint after the other, and notes which are evaluated."""

    def __init__(self, model_dir, checkpoints):
        self.model_dir = str(model_dir)
        self.checkpoints = iter(checkpoints)
        self.events = []

    def eval_dir(self, name=None):
        return os.path.join(self.model_dir, "eval")

    def latest_checkpoint(self):
        return next(self.checkpoints)

    def evaluate(self, **arguments):
        path = arguments["checkpoint_path"]
        self.events.append(f"evaluate {path}")
        return {"loss": 1.0, "global_step": int(path.rpartition("-")[2])}


def input_fn():
    return None


def evaluator_events(estimator, spec, max_steps=4, continuous_eval_listener=None):
    now = [0.0]

    def sleep(secs):
        estimator.events.append(f"sleep {secs:g}")
        now[0] += secs

    evaluate_continuously(
        CheckpointEvaluator(estimator, spec, max_steps),
        spec,
        max_steps,
        continuous_eval_listener or ContinuousEvalListener(),
        clock=lambda: now[0],
        sleep=sleep,
    )
    return estimator.events


def test_the_evaluator_evaluates_what_is_new_until_the_last_step(tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="tf_frame")
    checkpoints = [None, None, "c-2", "c-2", "c-2", "c-4"]
    estimator = FakeEstimator(tmp_path, checkpoints)
    spec = EvalSpec(input_fn, start_delay_secs=7, throttle_secs=30)
    # While there is nothing new it looks every second, and never without a pause.
    assert evaluator_events(estimator, spec) == [
        "sleep 7",
        "sleep 1",
        "sleep 1",
        "evaluate c-2",
        "sleep 30",
        "sleep 1",
        "sleep 1",
        "evaluate c-4",
    ]
    assert caplog.messages[-1] == "Exiting evaluation, global_step=4 >= train max_steps=4"


def test_the_evaluator_begins_at_once_and_goes_on_at_once_if_one_wants(tmp_path):
    estimator = FakeEstimator(tmp_path, ["c-2", "c-3", "c-3", "c-5"])
    spec = EvalSpec(input_fn, start_delay_secs=0, throttle_secs=0)
    assert evaluator_events(estimator, spec) == [
        "evaluate c-2",
        "evaluate c-3",
        "sleep 1",
        "evaluate c-5",
    ]


def test_the_evaluator_ends_with_the_final_export(tmp_path):
    finals = []

    class Noting(Exporter):
        name = "noting"

        def export(self, is_the_final_export, **arguments):
            finals.append(is_the_final_export)

    estimator = FakeEstimator(tmp_path, ["c-2", "c-4"])
    evaluator_events(estimator, EvalSpec(input_fn, exporters=Noting(), throttle_secs=0))
    assert finals == [False, True]


def test_without_a_last_step_the_evaluator_goes_on_until_its_listener_says_so(tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="tf_frame")

    class Listener(ContinuousEvalListener):
        def __init__(self, befores, afters):
            self.befores, self.afters = befores, afters

        def before_eval(self):
            self.befores -= 1
            return self.befores >= 0

        def after_eval(self, eval_result):
            self.afters -= 1
            return self.afters > 0

    spec = EvalSpec(input_fn, start_delay_secs=0, throttle_secs=0)

    def events(listener):
        estimator = FakeEstimator(tmp_path, ["c-2", "c-4", "c-6"])
        return evaluator_events(estimator, spec, None, continuous_eval_listener=listener)

    assert events(Listener(2, 9)) == ["evaluate c-2", "evaluate c-4"]
    assert caplog.messages[-1] == "Exiting evaluation, as requested by before_eval."
    assert events(Listener(9, 3)) == ["evaluate c-2", "evaluate c-4", "evaluate c-6"]
    assert caplog.messages[-1] == "Exiting evaluation, as requested by after_eval."


@pytest.mark.parametrize("is_there", [False, True])
def test_the_evaluator_passes_over_what_training_has_deleted(
    tmp_path, monkeypatch, caplog, is_there
):
    class Failing(FakeEstimator):
        def evaluate(self, **arguments):
            metrics = super().evaluate(**arguments)
            if metrics["global_step"] == 2:
                raise CheckpointError("gone")
            return metrics

    damages = {"c-2": "" if is_there else "not found"}
    monkeypatch.setattr(continuous_evaluation, "damage_of", damages.get)
    estimator = Failing(tmp_path, ["c-2", "c-4"])
    spec = EvalSpec(input_fn, start_delay_secs=0)
    if is_there:  # It belongs to another model, say.
        with pytest.raises(CheckpointError):
            evaluator_events(estimator, spec)
        return
    assert evaluator_events(estimator, spec) == ["evaluate c-2", "sleep 1", "evaluate c-4"]
    assert caplog.messages == ["passing over c-2, which is gone or damaged by now"]
