import pytest

from tf_frame.checkpoint.newest import newest_checkpoint
from tf_frame.errors import NonFiniteError
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.nan_guard import NanGuardHook


@pytest.mark.usefixtures("variable_mode")
def test_the_step_with_a_nan_loss_ends_training_and_is_named(build, train):
    graph = build(nan_at_step=2)
    with pytest.raises(NonFiniteError, match=r"the loss is nan at global step 3;"):
        train(graph, [NanGuardHook(graph.train_op)], to=9)


def test_an_infinite_loss_ends_training(build, train):
    graph = build()
    with graph.graph.as_default():
        loss = graph.train_op / 0.0
    with pytest.raises(NonFiniteError, match="the loss is inf at"):
        train(graph, [NanGuardHook(loss)], to=9)


def test_a_finite_loss_passes(build, train):
    graph, steps = build(), []
    train(graph, [NanGuardHook(graph.train_op)], to=3, each=lambda _: steps.append(1))
    assert len(steps) == 3


@pytest.mark.usefixtures("variable_mode")
def test_the_checkpoint_before_remains_the_newest(tmp_path, build, train):
    graph = build(nan_at_step=4)
    save = CheckpointHook(str(tmp_path), graph.scaffold, every_steps=1)
    with pytest.raises(NonFiniteError, match="at global step 5"):
        train(graph, [save, NanGuardHook(graph.train_op)], to=9)
    assert newest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-4")
    assert not list(tmp_path.glob("model.ckpt-5*"))
