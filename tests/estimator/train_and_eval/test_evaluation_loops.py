import logging
import types

import pytest

from refusals import refusal
from tf_frame.errors import CheckpointError
from tf_frame.estimator.exporters import Exporter
from tf_frame.estimator.train_and_eval import evaluation_loops
from tf_frame.estimator.train_and_eval.checkpoint_evaluator import (
    EVALUATED,
    NO_NEW_CHECKPOINT,
    CheckpointEvaluator,
    EvalResult,
)
from tf_frame.estimator.train_and_eval.evaluation_loops import (
    EvaluationListener,
    evaluate_continuously,
)
from tf_frame.estimator.train_and_eval.specs import EvalSpec
from tf_frame.hooks.training_clock import training_clock

from .conftest import FakeEstimator


class FakeEvaluator:
    """Notes at which second it was called; an evaluation takes `takes` seconds."""

    def __init__(self, clock, takes=0):
        self.clock = clock
        self.takes = takes
        self.at = []
        self.status = EVALUATED
        self.due = None

    def note_due(self, step):
        self.due = step

    def is_due(self, step):
        return step == self.due

    def evaluate_and_export(self):
        self.at.append(self.clock.now)
        self.clock.now += self.takes
        self.due = None
        if self.status != EVALUATED:
            return EvalResult(self.status), []
        number = len(self.at)
        return EvalResult(EVALUATED, {"global_step": number}, "path"), [number]


class Clock:
    now = 50.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def make(evaluator, *, throttle=0, first=lambda: None):
    evaluator.spec = EvalSpec(input_fn, throttle_secs=throttle)
    evaluator.estimator = types.SimpleNamespace(latest_checkpoint=first)
    made = EvaluationListener(evaluator)
    made.begin()
    return made


def saved_every_ten_secs(listener, steps):
    """Saves steps ten seconds apart, and ends with the last of them."""
    for step in steps:
        listener.before_save(None, step)
        assert not listener.after_save(None, step)
        listener.evaluator.clock.now += 10
    listener.end(None, steps[-1])


def test_what_a_session_goes_on_from_is_not_evaluated(clock, tmp_path):
    import tensorflow.compat.v1 as tf

    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.train.create_global_step()
        session.run(step.initializer)
        session.run(step.assign(4))
        path = tf.train.Saver().save(session, str(tmp_path / "model.ckpt"))
    evaluator = FakeEvaluator(clock)
    # Whether the session is saved once more as it begins, or not.
    saved_every_ten_secs(make(evaluator, first=lambda: path), [4, 6])
    assert evaluator.at == [60]
    saved_every_ten_secs(make(evaluator, first=lambda: path), [6])
    assert len(evaluator.at) == 2
    # Unless a process was killed before it had evaluated it.
    evaluator.due = 4
    make(evaluator, first=lambda: path)
    assert len(evaluator.at) == 3 and evaluator.due is None


def test_the_first_checkpoint_and_one_that_is_saved_again_are_not_evaluated(clock):
    evaluator = FakeEvaluator(clock)
    # As after the loss of a session, which goes on from what was saved last.
    saved_every_ten_secs(make(evaluator), [0, 2, 2, 4])
    assert evaluator.at == [60, 80]


@pytest.mark.parametrize(
    ("throttle", "takes", "at"),
    [
        (10, 0, [50, 60, 70, 80]),
        (11, 0, [50, 70, 90]),
        (100, 0, [50, 90]),
        # Seconds count from the start of an evaluation.
        (11, 5, [50, 65, 80, 95]),
    ],
)
def test_evaluations_are_some_seconds_apart_but_the_last_always_is(clock, throttle, takes, at):
    evaluator = FakeEvaluator(clock, takes)
    saved_every_ten_secs(make(evaluator, throttle=throttle), [1, 2, 3, 4])
    assert evaluator.at == at


def test_a_checkpoint_that_is_left_out_is_logged(clock, caplog):
    caplog.set_level(logging.INFO, logger="tf_frame")
    saved_every_ten_secs(make(FakeEvaluator(clock), throttle=15), [1, 2, 3])
    assert caplog.messages == ["Skip the current checkpoint eval due to throttle secs (15 secs)."]


def test_results_are_those_of_the_last_evaluation(clock):
    listener = make(FakeEvaluator(clock))
    assert (listener.eval_result, listener.export_results) == (None, None)
    saved_every_ten_secs(listener, [1, 2])
    assert listener.eval_result.metrics == {"global_step": 2}
    assert listener.export_results == [2]


def test_the_seconds_of_an_evaluation_are_no_seconds_of_training(clock):
    seen = []

    class Looking(FakeEvaluator):
        def evaluate_and_export(self):
            seen.append(training_clock())
            seen.append(training_clock())
            return super().evaluate_and_export()

    saved_every_ten_secs(make(Looking(clock)), [1])
    assert seen[0] == seen[1]


def test_training_without_a_new_checkpoint_is_an_error(clock):
    evaluator = FakeEvaluator(clock)
    evaluator.status = NO_NEW_CHECKPOINT
    message = "There was no new checkpoint after the training. Eval status: no new checkpoint"
    assert refusal(make(evaluator).after_save, None, 1) == (RuntimeError, message)


def input_fn():
    return None


def evaluator_events(estimator, spec, max_steps=4):
    now = [0.0]

    def sleep(secs):
        estimator.events.append(f"sleep {secs:g}")
        now[0] += secs

    evaluator = CheckpointEvaluator(estimator, spec, max_steps, clock=lambda: now[0])
    evaluate_continuously(evaluator, sleep=sleep)
    return estimator.events


def test_the_evaluator_evaluates_and_exports_new_checkpoints_until_the_last_step(tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="tf_frame")
    checkpoints = [None, None, "c-2", "c-2", "c-2", "c-4"]
    estimator, finals = FakeEstimator(None, tmp_path, checkpoints), []

    class Noting(Exporter):
        name = "noting"

        def export(self, is_the_final_export, **arguments):
            finals.append(is_the_final_export)

    spec = EvalSpec(input_fn, exporters=Noting(), start_delay_secs=7, throttle_secs=30)
    # While there is nothing new it looks every second, and never without a pause.
    assert evaluator_events(estimator, spec) == [
        *("sleep 7", "sleep 1", "sleep 1", "evaluate c-2"),
        *("sleep 30", "sleep 1", "sleep 1", "evaluate c-4"),
    ]
    assert finals == [False, True]
    assert caplog.messages[-1] == "Exiting evaluation, global_step=4 >= train max_steps=4"


def test_the_evaluator_begins_at_once_and_goes_on_at_once_if_one_wants(tmp_path):
    estimator = FakeEstimator(None, tmp_path, ["c-2", "c-3", "c-3", "c-5"])
    spec = EvalSpec(input_fn, start_delay_secs=0, throttle_secs=0)
    events = evaluator_events(estimator, spec)
    assert events == ["evaluate c-2", "evaluate c-3", "sleep 1", "evaluate c-5"]


def test_without_a_last_step_the_evaluator_goes_on(tmp_path):
    estimator = FakeEstimator(None, tmp_path, ["c-2", "c-4", "c-6"])
    with pytest.raises(StopIteration):  # There are no more checkpoints to name.
        evaluator_events(
            estimator, EvalSpec(input_fn, start_delay_secs=0, throttle_secs=0), max_steps=None
        )
    assert estimator.events == ["evaluate c-2", "evaluate c-4", "evaluate c-6"]


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
    monkeypatch.setattr(evaluation_loops, "find_damage", damages.get)
    estimator = Failing(None, tmp_path, ["c-2", "c-4"])
    spec = EvalSpec(input_fn, start_delay_secs=0)
    if is_there:  # It belongs to another model, say.
        with pytest.raises(CheckpointError):
            evaluator_events(estimator, spec)
        return
    assert evaluator_events(estimator, spec) == ["evaluate c-2", "sleep 1", "evaluate c-4"]
    assert caplog.messages == ["skipping c-2, which is gone or damaged by now"]
