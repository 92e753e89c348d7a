import pytest
import tensorflow.compat.v1 as tf

from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.stock.final_ops import FinalOpsHook


@pytest.mark.usefixtures("variable_mode")
def test_the_values_are_those_after_the_last_step(build, train):
    graph = build()
    hook = FinalOpsHook({"step": graph.global_step})
    assert hook.final_ops_values is None
    train(graph, [hook], to=3)
    assert hook.final_ops_values == {"step": 3}


def test_what_it_runs_comes_before_the_last_checkpoint(tmp_path, build, train):
    graph = build()
    with graph.graph.as_default():
        (bias,) = (v for v in tf.trainable_variables() if v.op.name == "linear/biases")
        hook = FinalOpsHook(bias.assign([42.0]))
    save = CheckpointHook(str(tmp_path), graph.scaffold, every_steps=100)
    train(graph, [save, hook], to=2)
    saved = tf.train.load_variable(str(tmp_path / "model.ckpt-2"), "linear/biases")
    assert saved.tolist() == [42.0]


def test_a_run_that_fails_runs_none(build, train):
    graph = build()
    hook = FinalOpsHook(graph.global_step)

    def fail(session):
        raise ValueError("a defect")

    with pytest.raises(ValueError, match="a defect"):
        train(graph, [hook], to=3, each=fail)
    assert hook.final_ops_values is None


def test_no_step_is_wanted_for_it():
    assert not FinalOpsHook(None).cadence
