"""Evaluations of the checkpoints of a folder as they come."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import CheckpointError
from tf_frame.runs.evaluation.evaluate import evaluate_repeatedly


@pytest.fixture
def training(tmp_path):
    """Saves checkpoints into `tmp_path`; returns their paths."""
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.train.create_global_step()
        saver = tf.train.Saver()
        session.run(tf.global_variables_initializer())

        def save(number):
            session.run(step.assign(number))
            return saver.save(session, str(tmp_path / "model.ckpt"), global_step=number)

        yield save


@pytest.fixture
def evaluate(training):
    """Notes the step of a checkpoint, and saves the next one, ten steps on."""

    def evaluate(path):
        step = int(path.rpartition("-")[2])
        evaluate.steps.append(step)
        training(step + 10)
        return step

    evaluate.steps = []
    return evaluate


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Stands in for the time: nothing may be waited for unless `clock.sleep` is replaced."""

    def sleep(secs):
        raise AssertionError("nothing to wait for")

    clock = SimpleNamespace(now=0.0, sleep=sleep, monotonic=lambda: clock.now)
    monkeypatch.setattr("tf_frame.checkpoint.find.newest.time", clock)
    return clock


@pytest.mark.parametrize(
    ("first", "limits", "steps"),
    [
        (10, {"last_step": 30}, [10, 20, 30]),
        (35, {"last_step": 30}, [35]),
        (10, {"max_evaluations": 2}, [10, 20]),
        (10, {"max_evaluations": 0}, []),
    ],
)
def test_each_new_checkpoint_is_evaluated_until_the_last_step_or_number(
    training, evaluate, tmp_path, first, limits, steps
):
    training(first)
    last = evaluate_repeatedly(evaluate, str(tmp_path), **limits)
    assert (evaluate.steps, last) == (steps, steps[-1] if steps else None)


def test_it_ends_when_none_comes_or_it_is_to_stop(training, evaluate, tmp_path):
    folder = str(tmp_path)
    assert evaluate_repeatedly(evaluate, folder, timeout=0) is None
    asked = []

    def timeout_fn():
        asked.append(1)
        return len(asked) == 2

    assert evaluate_repeatedly(evaluate, folder, timeout=0, timeout_fn=timeout_fn) is None
    assert len(asked) == 2
    training(10)
    assert evaluate_repeatedly(evaluate, folder, stop=lambda: len(evaluate.steps) == 3) == 30


def test_there_are_so_many_seconds_between_two(training, evaluate, tmp_path, clock):
    training(10)

    def sleep(secs):
        clock.now += secs

    clock.sleep = sleep
    evaluate_repeatedly(evaluate, str(tmp_path), min_interval_secs=30, max_evaluations=3)
    assert clock.now == 60


def delete(path):
    for file in Path(path).parent.glob(Path(path).name + ".*"):
        file.unlink()


def test_a_checkpoint_that_is_gone_before_it_is_restored_or_read_is_passed_over(
    training, evaluate, tmp_path, caplog, monkeypatch
):
    training(10)

    def evaluate_late(path):
        if path.endswith("-20"):
            delete(path)
            training(30)
            raise CheckpointError(f"the checkpoint {path} cannot be read")
        return evaluate(path)

    assert evaluate_repeatedly(evaluate_late, str(tmp_path), last_step=30) == 30
    assert evaluate.steps == [10, 30]
    assert "model.ckpt-20, which is gone or damaged by now" in caplog.text
    delete(path := training(40))
    monkeypatch.setattr(
        "tf_frame.runs.evaluation.evaluate.checkpoints_iterator", lambda *a, **k: [path]
    )
    assert evaluate_repeatedly(evaluate, str(tmp_path)) is None
    assert evaluate.steps == [10, 30]


def test_a_checkpoint_of_another_model_is_an_error(training, tmp_path):
    training(10)

    def evaluate(path):
        raise CheckpointError("of another model")

    with pytest.raises(CheckpointError, match="of another model"):
        evaluate_repeatedly(evaluate, str(tmp_path))
