import types

import tensorflow.compat.v1 as tf

from refusals import refusal
from tf_frame.estimator.train_and_eval.stop_at_checkpoint import (
    StopAtCheckpointStepHook,
    make_stop_at_checkpoint_step_hook,
)
from tf_frame.hooks.stock.stop_at_step import StopAtStepHook


def save(folder, step):
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.train.create_global_step().assign(step).op)
        tf.train.Saver().save(session, str(folder / "model.ckpt"), global_step=step)


def estimator(folder, *, is_chief):
    config = types.SimpleNamespace(is_chief=is_chief)
    return types.SimpleNamespace(config=config, model_dir=str(folder))


def run(folder, hook, *, steps, saves=()):
    """Trains; `saves` maps a step to the checkpoint that the chief saves before it."""
    saves = dict(saves)
    with tf.Graph().as_default():
        train_op = tf.train.create_global_step().assign_add(1)
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            done = 0
            while not session.should_stop() and done < steps:
                if done + 1 in saves:
                    save(folder, saves[done + 1])
                session.run(train_op)
                done += 1
    return done


def test_a_worker_waits_for_the_checkpoint_of_the_last_step(tmp_path):
    slept = []
    hook = StopAtCheckpointStepHook(str(tmp_path), 4, 7, sleep=slept.append)
    saves = {1: 0, 5: 3, 7: 4}
    # From step 4 on it looks; that of step 4 is there after step 7.
    assert run(tmp_path, hook, steps=20, saves=saves) == 7
    assert slept == [7, 7, 7]


def test_before_the_last_step_nobody_looks(tmp_path):
    slept = []
    hook = StopAtCheckpointStepHook(str(tmp_path), 4, sleep=slept.append)
    save(tmp_path, 9)
    assert run(tmp_path, hook, steps=20) == 4
    assert slept == []


def test_without_a_checkpoint_training_goes_on(tmp_path):
    slept = []
    hook = StopAtCheckpointStepHook(str(tmp_path / "none"), 2, sleep=slept.append)
    assert run(tmp_path, hook, steps=3) == 3
    assert slept == [30, 30]


def test_a_checkpoint_that_cannot_be_read_now_is_looked_at_again(tmp_path):
    save(tmp_path, 5)
    for path in tmp_path.glob("model.ckpt-5.index"):
        path.write_bytes(b"")
    hook = StopAtCheckpointStepHook(str(tmp_path), 2, sleep=lambda secs: save(tmp_path, 6))
    assert run(tmp_path, hook, steps=9) == 3


def test_the_chief_stops_by_its_own_step(tmp_path):
    hook = make_stop_at_checkpoint_step_hook(estimator(tmp_path, is_chief=True), 3)
    assert type(hook) is StopAtStepHook
    assert run(tmp_path, hook, steps=20) == 3


def test_a_worker_gets_the_folder_and_the_numbers(tmp_path):
    own = estimator(tmp_path, is_chief=False)
    hook = make_stop_at_checkpoint_step_hook(own, 3, wait_after_file_check_secs=0)
    assert type(hook) is StopAtCheckpointStepHook
    assert str(hook.cadence) == "every step from 3 on"
    save(tmp_path, 3)
    assert run(tmp_path, hook, steps=20) == 3


def test_folder_step_and_a_global_step_in_the_graph_are_needed():
    for arguments, message in [
        (("d", None), "last_step must be specified."),
        ((None, 3), "model_dir must be specified."),
    ]:
        assert refusal(StopAtCheckpointStepHook, *arguments) == (ValueError, message)
    with tf.Graph().as_default():
        message = "Global step should be created to use StopAtCheckpointStepHook."
        assert refusal(StopAtCheckpointStepHook("d", 3).begin) == (RuntimeError, message)
