"""`training.train` runs the prepared calls of tf-frame's loop, and keeps TensorFlow's order."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.hooks.stock.nan_tensor import NanTensorHook
from tf_frame.hooks.stock.stop_at_step import StopAtStepHook
from tf_frame.testing.session_runs import counted_runs
from tf_frame_legacy import training

from ..runs import square_train_op

pytestmark = [
    pytest.mark.usefixtures("graph", "variable_mode", "control_flow_of_v1"),
    pytest.mark.timeout(60),
]


NOTHING_WRITTEN = ("save_checkpoint_secs", "save_summaries_steps")


def make_train_op():
    return square_train_op(training.create_train_op)


@pytest.fixture
def counted():
    """Counts runs of sessions, and calls of what they prepared."""
    with counted_runs() as count:
        yield count


def test_hooks_with_a_cadence_leave_every_step_a_prepared_call(counted, tmp_path):
    train_op = make_train_op()
    runs = []
    for steps in (10, 40):
        counted.runs = counted.calls = 0
        stop = StopAtStepHook(last_step=steps)
        training.train(train_op, str(tmp_path / str(steps)), hooks=[stop])
        assert counted.calls == steps
        runs.append(counted.runs)
    assert runs[0] == runs[1]  # What opening, saving and closing take, however many steps.


def test_metadata_that_each_step_fills_in_is_not_prepared(counted, tmp_path):
    metadata, stop = tf.RunMetadata(), StopAtStepHook(last_step=3)
    training.train(make_train_op(), str(tmp_path), hooks=[stop], run_metadata=metadata)
    assert counted.calls == 0


def test_hooks_are_called_as_given_whatever_their_phases(tmp_path):
    order = []

    class Phased(Hook):
        def __init__(self, phase):
            super().__init__(Cadence(at_steps=[2]))
            self.phase = phase

        def after_step(self, run_context, run_values, step):
            order.append(self.phase)

    hooks = [Phased(Phase.LOG), Phased(Phase.CHECK), StopAtStepHook(last_step=3)]
    training.train(make_train_op(), str(tmp_path), hooks=hooks)
    assert order == [Phase.LOG, Phase.CHECK]


def test_a_hook_may_watch_another_tensor_than_the_loss(counted, tmp_path):
    train_op = make_train_op()
    with tf.control_dependencies([train_op]):
        after = tf.where(tf.train.get_global_step().read_value() < 7, 1.0, float("nan"))
    hooks = [NanTensorHook(after, fail_on_nan_loss=False), StopAtStepHook(last_step=40)]
    training.train(train_op, str(tmp_path), hooks=hooks, save_summaries_steps=None)
    assert tf.train.load_variable(str(tmp_path), "global_step") == 7
    assert (counted.calls, counted.prepared) == (7, 1)


@pytest.mark.parametrize("finalized", [True, False])
def test_steps_whose_loss_or_number_is_not_known_are_not_prepared(counted, tmp_path, finalized):
    train_op, scaffold = make_train_op(), tf.train.Scaffold()
    if finalized:  # There is no read of the global step after the update, and none can be added.
        tf.get_default_graph().clear_collection("tf_frame/global_step_after_update")
        scaffold.finalize()
        tf.get_default_graph().finalize()
    else:
        train_op = train_op.op
    hooks = [StopAtStepHook(last_step=3)]
    loss = training.train(
        train_op, None, scaffold=scaffold, hooks=hooks, **dict.fromkeys(NOTHING_WRITTEN, None)
    )
    assert (loss is not None) == finalized
    assert counted.calls == 0
