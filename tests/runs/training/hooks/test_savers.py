"""Checkpoint hooks that a script brings, and the listener that evaluates what is saved."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.hooks import CheckpointSaverHook
from tf_frame.hooks.training_clock import training_clock
from tf_frame.runs.training.hooks.savers import EvaluateSaved, add_listeners, saver_hooks

CLASSES = [tf.train.CheckpointSaverHook, CheckpointSaverHook]


@pytest.mark.parametrize("cls", CLASSES)
def test_hooks_that_save_are_found_among_others(cls, tmp_path):
    saver = cls(str(tmp_path), save_steps=1)
    assert saver_hooks([tf.train.SessionRunHook(), saver]) == [saver]


@pytest.mark.parametrize("cls", CLASSES)
def test_the_first_of_them_gets_the_listeners_once(cls, tmp_path):
    known, new = tf.train.CheckpointSaverListener(), tf.train.CheckpointSaverListener()
    first = cls(str(tmp_path), save_steps=1, listeners=[known])
    second = cls(str(tmp_path), save_steps=1)
    add_listeners([first, second], [known, new], saves=False)
    assert first._listeners == [known, new]
    assert list(second._listeners) == []


def test_listeners_without_anything_that_saves_are_refused():
    with pytest.raises(ValueError, match="There should be a CheckpointSaverHook to use saving_lis"):
        add_listeners([], [tf.train.CheckpointSaverListener()], saves=False)


def test_nothing_is_to_be_done_without_listeners_or_where_tf_frame_saves():
    add_listeners([], [], saves=False)
    add_listeners([], [tf.train.CheckpointSaverListener()], saves=True)


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
