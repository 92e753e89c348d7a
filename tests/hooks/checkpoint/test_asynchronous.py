"""Checkpoints that a thread writes while training goes on."""

import threading
from concurrent.futures import Future

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import find_damage, listed_checkpoints, newest_checkpoint
from tf_frame.checkpoint.write.folder import atomic_checkpoint
from tf_frame.errors import CheckpointError
from tf_frame.hooks.base import Phase

from .conftest import names


@pytest.fixture
def gate(monkeypatch):
    """Holds the writing of later checkpoints than the first until `gate.set()`."""
    opened = threading.Event()

    def wait_and_write(prefix, write, *, publish):
        if not prefix.endswith("-0"):
            assert opened.wait(60)
        atomic_checkpoint(prefix, write, publish=publish)

    monkeypatch.setattr("tf_frame.hooks.checkpoint.atomic_checkpoint", wait_and_write)
    yield opened
    opened.set()


def test_training_goes_on_while_a_checkpoint_is_written(tmp_path, asynchronous, build, train, gate):
    graph, newest = build(), []

    def look(session):
        newest.append(newest_checkpoint(str(tmp_path)))
        if len(newest) == 3:
            gate.set()

    train(graph, [asynchronous(graph, every_steps=2)], to=5, each=look)
    # The checkpoint of step 2 is under way after the steps 2 and 3.
    assert newest[1:3] == [str(tmp_path / "model.ckpt-0")] * 2
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-5")


def test_a_save_waits_for_the_one_before(tmp_path, asynchronous, build, train, gate, monkeypatch):
    waited, wait = [], Future.result

    def open_and_wait(self):
        waited.append(listed_checkpoints(str(tmp_path)))
        if len(waited) == 2:
            gate.set()  # The first is for the checkpoint of step 0, which is not held.
        return wait(self)

    monkeypatch.setattr(Future, "result", open_and_wait)
    graph = build()
    hook = asynchronous(graph, every_steps=2)
    train(graph, [hook], to=4)
    assert [path.rsplit("-")[-1] for path in listed_checkpoints(str(tmp_path))] == list("024")
    # Step 4 came to wait for the checkpoint of step 2, which was not complete.
    assert waited[1] == [str(tmp_path / "model.ckpt-0")]


@pytest.mark.usefixtures("variable_mode")
def test_a_checkpoint_that_is_written_later_holds_the_variables_of_its_step(
    tmp_path, asynchronous, build, train, gate
):
    graph, values = build(), []
    with graph.graph.as_default():
        (weights,) = (v for v in tf.trainable_variables() if v.op.name == "linear/weights")
        read = weights.read_value()

    def note(session):
        values.append(session.run_step_fn(lambda step_context: step_context.session.run(read)))
        if len(values) == 3:
            gate.set()

    train(graph, [asynchronous(graph, every_steps=2)], to=3, each=note)
    saved = tf.train.load_variable(str(tmp_path / "model.ckpt-2"), "linear/weights")
    np.testing.assert_array_equal(saved, values[1])
    assert (values[1] != values[2]).all()


def test_an_error_in_training_does_not_lose_the_checkpoint_that_is_being_written(
    tmp_path, asynchronous, build, train, gate
):
    graph = build()
    hook = asynchronous(graph, every_steps=2)

    def fail_after_three(session, steps=[]):  # noqa: B006
        steps.append(1)
        if len(steps) == 3:
            raise ValueError("a defect")

    with pytest.raises(ValueError, match="a defect"):
        train(graph, [hook], to=9, each=fail_after_three)
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-0")
    gate.set()
    hook.close()
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-2")
    assert names(tmp_path) == {"checkpoint", "model.ckpt-0", "model.ckpt-2"}


def test_close_tells_of_a_write_that_failed_and_does_not_hide_the_error_before(
    tmp_path, asynchronous, build, train, fail_at, caplog
):
    graph = build()
    fail_at(2, OSError("full"))
    hook = asynchronous(graph, every_steps=2)

    def fail(session, steps=[]):  # noqa: B006
        steps.append(1)
        if len(steps) == 1:
            hook.wait()
            hook.should_stop = lambda: False  # Else it would be raised at the next step.
        if len(steps) == 2:
            raise ValueError("a defect")

    with pytest.raises(ValueError, match="a defect"):
        train(graph, [hook], to=9, each=fail)
    hook.close()
    assert "the checkpoint of global step 2 could not be written: full" in caplog.text
    hook.close()


def test_a_write_that_failed_is_raised_before_the_next_save(asynchronous, build, train, fail_at):
    graph, steps = build(), []
    fail_at(2, OSError("full"))
    hook = asynchronous(graph, every_steps=2)

    def each(session):
        steps.append(1)
        if hook._pending is not None:
            hook._pending[0].exception()

    with pytest.raises(CheckpointError, match="global step 2 could not be written"):
        train(graph, [hook], to=100, each=each)
    # The loop may look at the write within step 2 or step 3, before the next save.
    assert len(steps) in (1, 2)


def test_a_new_session_waits_for_what_the_lost_one_was_writing(
    tmp_path, asynchronous, build, train, gate
):
    graph, steps = build(), []

    class Lose(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            if steps:
                gate.set()

        def after_run(self, run_context, run_values):
            steps.append(1)
            if len(steps) == 3:
                raise tf.errors.AbortedError(None, None, "lost")

    lose = Lose()
    lose.phase = Phase.TRANSFORM
    train(graph, [asynchronous(graph, every_steps=2), lose], to=6)
    assert [path.rsplit("-")[-1] for path in listed_checkpoints(str(tmp_path))][-1] == "6"
    assert find_damage(str(tmp_path / "model.ckpt-2")) == ""
