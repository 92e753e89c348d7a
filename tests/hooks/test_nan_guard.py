import logging

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import newest_checkpoint
from tf_frame.errors import NonFiniteError
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.evaluate import EvaluateHook
from tf_frame.hooks.nan_guard import NanGuardHook


def test_the_step_with_a_nan_loss_ends_training_and_is_named(build, train):
    graph = build(nan_at_step=2)
    with pytest.raises(NonFiniteError) as error:
        train(graph, [NanGuardHook(graph.total_loss)], to=9)
    assert str(error.value) == (
        f"the loss is nan at global step 3 (tensor {graph.total_loss.op.name}); the step was not "
        "saved. Lower --learning_rate, look for a division or log of zero, or name the gradient "
        "with --transform check_finite"
    )


@pytest.mark.parametrize(("sign", "value"), [(1, "inf"), (-1, "-inf")])
def test_an_infinite_loss_ends_training(build, train, sign, value):
    graph = build()
    with graph.graph.as_default():
        loss = tf.divide(sign * graph.train_op, 0.0, name="divided")
    said = f"the loss is {value} at .* 1 .tensor divided.;"
    with pytest.raises(NonFiniteError, match=said) as caught:
        train(graph, [NanGuardHook(loss)], to=9)
    assert caught.value.step == 1


@pytest.mark.parametrize("on_nan", ["raise", "stop"])
def test_a_finite_loss_passes(build, train, on_nan):
    graph = build()
    hook = NanGuardHook(graph.train_op, on_nan=on_nan)
    assert train(graph, [hook], to=3) == 3
    assert not hook.diverged
    assert hook.watched is graph.train_op and not hook.cadence


@pytest.mark.usefixtures("variable_mode")
def test_the_checkpoint_before_remains_the_newest(tmp_path, build, train):
    graph = build(nan_at_step=4)
    with pytest.raises(NonFiniteError, match="at global step 5"):
        train(graph, [NanGuardHook(graph.train_op)], to=9, save_every=1)
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-4")
    assert not list(tmp_path.glob("model.ckpt-5*"))


def test_stopping_ends_training_well_and_says_why(build, train, caplog):
    graph = build(nan_at_step=2)
    hook = NanGuardHook(graph.train_op, on_nan="stop")
    with caplog.at_level(logging.ERROR, logger="tf_frame"):
        assert train(graph, [hook], to=9) == 3
    assert hook.diverged
    (record,) = (r for r in caplog.records if r.name == "tf_frame")
    assert record.levelno == logging.ERROR
    assert record.getMessage().startswith(
        "training stops: the loss is nan at global step 3 (tensor train_op); the step was not saved"
    )


def test_a_new_session_has_not_diverged():
    hook = NanGuardHook(None, on_nan="stop")
    hook.diverged = True
    hook.start(None, 7)
    assert not hook.diverged


def test_another_word_is_refused():
    with pytest.raises(ValueError, match="on_nan is 'ignore'; it must be raise or stop"):
        NanGuardHook(None, on_nan="ignore")


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("every_steps", [1, 100])
def test_a_run_that_stops_for_a_nan_leaves_that_step_unsaved(tmp_path, build, train, every_steps):
    graph = build(nan_at_step=4)
    guard = NanGuardHook(graph.train_op, on_nan="stop")
    save = CheckpointHook(
        str(tmp_path), graph.scaffold, every_steps=every_steps, unless=lambda: guard.diverged
    )
    train(graph, [save, guard], to=9)
    newest = 4 if every_steps == 1 else 0
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / f"model.ckpt-{newest}")
    assert not list(tmp_path.glob("model.ckpt-5*"))


def test_a_run_that_stops_for_a_nan_does_not_evaluate_that_step(build, train):
    graph, evaluated = build(nan_at_step=3), []
    guard = NanGuardHook(graph.train_op, on_nan="stop")
    evaluation = EvaluateHook(
        lambda step: evaluated.append(step) or {},
        every_steps=2,
        last_step=9,
        unless=lambda: guard.diverged,
    )
    train(graph, [evaluation, guard], to=9)
    assert evaluated == [2]
