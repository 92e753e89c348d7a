"""The seconds that steps wait for their batches: a slow input, a slow step, no iterator."""

import time

import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf
from tensorflow.python.data.experimental.ops import testing as dataset_testing

from sessions import initialized_session
from tf_frame import ModelOutput
from tf_frame.cluster import Cluster
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.session_config import make_deployment
from tf_frame.graph.graph_edits import switch_branches
from tf_frame.graph.inputs.wait import measure_input_wait
from tf_frame.graph.step_loop import build_step_loop
from tf_frame.testing.toy import ToyInput, ToyModel, build_toy_graph
from variable_modes import variable_mode_fixture

STEPS = 6
SLOW_SECS = 0.04

variable_mode = variable_mode_fixture(on_demand="resource")


class SlowInput(ToyInput):
    """Takes its time for each batch, without Python."""

    def dataset(self, mode, context):
        batches = super().dataset(mode, context)
        return batches.apply(dataset_testing.sleep(int(SLOW_SECS * 1e6)))


class SlowModel(ToyModel):
    """Takes its time for each step."""

    def build(self, features, labels, mode):
        def wait(loss):
            time.sleep(SLOW_SECS)
            return loss

        output = super().build(features, labels, mode)
        slow = tf.numpy_function(wait, [output.loss], tf.float32)
        with tf.control_dependencies([slow]):
            return ModelOutput(loss=tf.identity(output.loss), predictions=output.predictions)


def waiting_share(graph, *, in_loop=False):
    """Trains some steps after a first one; returns the share of their time that was waiting."""
    loop = build_step_loop(graph, steps=STEPS, watched=[graph.train_op]) if in_loop else None
    proto = tf.ConfigProto(device_count={"CPU": len(graph.clones)})
    with initialized_session(graph.graph, proto) as session:
        many = loop and loop.prepare(session)
        session.run(graph.train_op)
        began, waited = time.monotonic(), session.run(graph.input_wait)
        for _ in range(1 if in_loop else STEPS):
            result = many(STEPS) if in_loop else session.run([graph.train_op, graph.step_after])
        secs, waited = time.monotonic() - began, session.run(graph.input_wait) - waited
        assert result[1] == STEPS + 1
    return waited / secs


def toy_graph(model=ToyModel, source=ToyInput, num_clones=1):
    config = RunOptions(train_batch_size=8, learning_rate=0.05, num_clones=num_clones)
    return build_toy_graph(
        config,
        model=model(params=model.Params(), info=None),
        source=source(params=source.Params()),
        deployment=make_deployment(config, Cluster()),
    )


@pytest.mark.parametrize(("num_clones", "in_loop"), [(1, False), (2, True)])
def test_steps_with_a_slow_input_wait_for_it(num_clones, in_loop):
    graph = toy_graph(source=SlowInput, num_clones=num_clones)
    assert waiting_share(graph, in_loop=in_loop) > 0.4


def test_slow_steps_hardly_wait_for_a_quick_input(variable_mode):
    assert waiting_share(toy_graph(model=SlowModel)) < 0.2


def test_without_an_iterator_nothing_is_measured():
    with tf.Graph().as_default():
        assert measure_input_wait(tf.identity(1.0)) is None
        iterator = tf.data.make_one_shot_iterator(tf2.data.Dataset.range(3))
        with switch_branches():  # An operation that does not run has no end.
            batch = tf.cond(tf.constant(False), iterator.get_next, lambda: tf.constant(0, tf.int64))
        assert measure_input_wait(batch) is None
