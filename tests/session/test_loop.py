import pytest
import tensorflow.compat.v1 as tf

from tf_frame import Mode
from tf_frame.hooks.stop_at_step import StopAtStepHook
from tf_frame.session.loop import run_steps
from tf_frame.testing.toy import ToyInput


class OnePass(ToyInput):
    """The toy input, once through and no further."""

    def dataset(self, mode, context):
        return super().dataset(Mode.EVAL, context)


class Count(tf.train.SessionRunHook):
    """Counts the steps that were finished."""

    steps = 0

    def after_run(self, run_context, run_values):
        self.steps += 1


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize(("source", "steps"), [(ToyInput, 12), (OnePass, 64 // 8)])
def test_steps_run_until_a_hook_asks_to_stop_or_the_input_ends(build, open_session, source, steps):
    graph, count = build(source=source), Count()
    with graph.graph.as_default(), open_session(graph, [count, StopAtStepHook(12)]) as session:
        run_steps(session, graph)
        assert session.should_stop()
    assert count.steps == steps
