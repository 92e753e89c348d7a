"""A step reports the loss before its update, whatever runs at the same time."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.testing.toy import build_toy_graph
from tf_frame_legacy import model_deploy


def before(op):
    """Returns the operations that run before an operation."""
    operations, queue = set(), [op]
    while queue:
        op = queue.pop()
        new = {*op.control_inputs, *(tensor.op for tensor in op.inputs)} - operations
        operations |= new
        queue += new
    return operations


def updates_in(graph):
    return [op for op in graph.get_operations() if op.type.endswith("ApplyGradientDescent")]


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("num_clones", [1, 2])
def test_gradients_are_applied_after_the_loss_is_computed(num_clones):
    config = RunOptions(train_batch_size=8, num_clones=num_clones)
    train_graph = build_toy_graph(config, optimizer="sgd", values={"model.l2": 0.1})
    applied = updates_in(train_graph.graph)
    assert len(applied) == 2
    assert all(train_graph.total_loss.op in before(op) for op in applied)


@pytest.mark.usefixtures("variable_mode")
def test_synchronous_workers_hand_in_after_the_loss_and_the_chief_computes_none():
    config = RunOptions(train_batch_size=8, sync_replicas=True)
    train_graph = build_toy_graph(config, optimizer="sgd", values={"model.l2": 0.1})
    operations, loss = train_graph.graph.get_operations(), train_graph.total_loss.op
    handed_in = [op for op in operations if "AccumulatorApplyGradient" in op.type]
    applied = updates_in(train_graph.graph)
    assert len(handed_in) == len(applied) == 2
    assert all(loss in before(op) for op in handed_in)
    # The chief applies gradients in addition to its steps, and the loss would take one more batch.
    assert not [op.name for op in applied if loss in before(op)]


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("num_clones", [1, 2])
def test_so_are_those_of_deploy(num_clones):
    def model():
        weights = tf.get_variable("weights", [2], regularizer=tf.nn.l2_loss)
        tf.losses.add_loss(tf.reduce_sum(weights))

    config = model_deploy.DeploymentConfig(num_clones, clone_on_cpu=True)
    with tf.Graph().as_default() as graph:
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        deployed = model_deploy.deploy(config, model, optimizer=optimizer)
        (applied,) = updates_in(graph)
        assert deployed.total_loss.op in before(applied)
