"""Checkpoint hooks that a script brings, and the listener that evaluates what is saved."""

from types import SimpleNamespace

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.hooks import CheckpointSaverHook
from tf_frame.hooks.training_clock import training_clock
from tf_frame.runs.training.hooks.checkpoints import EvaluateSaved, add_listeners, tf_frame_saves

CLASSES = [tf.train.CheckpointSaverHook, CheckpointSaverHook]


def parts(saves_checkpoints=True, listeners=()):
    context = SimpleNamespace(saves_checkpoints=saves_checkpoints, listeners=listeners)
    return SimpleNamespace(context=context)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_hook_that_saves_replaces_that_of_tf_frame(cls, tmp_path):
    listener, saver = tf.train.CheckpointSaverListener(), cls(str(tmp_path), save_steps=1)
    assert not tf_frame_saves(parts(listeners=[listener]), [tf.train.SessionRunHook(), saver])
    assert saver._listeners == [listener]
    assert tf_frame_saves(parts(listeners=[listener]), [tf.train.SessionRunHook()])
    assert not tf_frame_saves(parts(saves_checkpoints=False), [tf.train.SessionRunHook()])


@pytest.mark.parametrize("cls", CLASSES)
def test_the_first_of_them_gets_the_listeners_once(cls, tmp_path):
    known, new = tf.train.CheckpointSaverListener(), tf.train.CheckpointSaverListener()
    first = cls(str(tmp_path), save_steps=1, listeners=[known])
    second = cls(str(tmp_path), save_steps=1)
    add_listeners([first, second], [known, new])
    assert first._listeners == [known, new]
    assert list(second._listeners) == []


def test_listeners_without_anything_that_saves_are_refused():
    add_listeners([], [])
    with pytest.raises(ValueError, match="There should be a CheckpointSaverHook to use saving_lis"):
        add_listeners([], [tf.train.CheckpointSaverListener()])


def test_what_is_saved_between_the_first_and_the_last_step_is_evaluated():
    steps = []
    listener = EvaluateSaved(steps.append, first_step=10, last_step=40)
    for step in (10, 20, 30, 40):
        listener.after_save(None, step)
    assert steps == [20, 30]


def test_the_clock_of_training_stands_still_meanwhile():
    readings = []

    def evaluate(step):
        readings.extend(training_clock() for _ in range(100))

    EvaluateSaved(evaluate, first_step=0, last_step=9).after_save(None, 5)
    assert len(readings) == 100 and len(set(readings)) == 1
