import pytest
import tensorflow.compat.v1 as tf

from tf_frame.hooks.stop_at_step import StopAtStepHook
from tf_frame.session.loop import run_steps


@pytest.mark.usefixtures("variable_mode")
def test_steps_run_until_a_hook_asks_to_stop(build, open_session):
    graph = build()
    with graph.graph.as_default():
        stop = StopAtStepHook(3)
        with open_session(graph, [stop]) as session:
            run_steps(session, graph)
            assert session.should_stop()


def test_steps_run_until_the_input_ends(build, open_session, monkeypatch):
    repeat = tf.data.Dataset.repeat
    monkeypatch.setattr(tf.data.Dataset, "repeat", lambda self: repeat(self, 1))
    graph, counter = build(), Count()
    with graph.graph.as_default():
        with open_session(graph, [counter]) as session:
            run_steps(session, graph)
    assert counter.steps == 64 // 8


class Count(tf.train.SessionRunHook):
    steps = 0

    def after_run(self, run_context, run_values):
        self.steps += 1
