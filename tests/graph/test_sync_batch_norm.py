"""Two clones with sync batch norm against one clone with the whole batch."""

import functools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame import layers
from tf_frame.cluster.find import find_cluster
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.clones import create_clones
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.session_config import make_deployment
from tf_frame.errors import TfFrameError
from tf_frame.graph.step_loop import build_step_loop
from tf_frame.graph.sync_batch_norm import share_statistics
from tf_frame.graph.update.gradients import clone_gradients, sum_gradients
from tf_frame.testing.toy import ToyModel, build_toy_graph

INPUTS = np.random.RandomState(0).normal(2, 3, size=[8, 2, 2, 3]).astype(np.float32)
START = np.random.RandomState(1).normal(size=[3, 3]).astype(np.float32)


def network(inputs, **options):
    """Two layers, so that what the second shares follows from what the first does."""
    norm = functools.partial(
        layers.batch_norm, decay=0.5, is_training=True, scale=True, **{"sync": True, **options}
    )
    net = tf.tanh(norm(inputs, scope="first"))
    weights = tf.get_variable("weights", initializer=tf.constant(START))
    return norm(tf.tensordot(net, weights, 1), scope="second")


class Normalised(ToyModel):
    """The toy model on normalised features."""

    options = {}

    def build(self, features, labels, mode):
        return super().build(network(features, **self.options), labels, mode)


class NormalisedAlone(Normalised):
    """Each clone by itself."""

    options = {"sync": False}


def train(model, *, num_clones, in_loop=False):
    """All variables after three steps on batches of eight."""
    config = RunOptions(learning_rate=0.1, train_batch_size=8, num_clones=num_clones)
    graph = build_toy_graph(
        config,
        model=model(params=ToyModel.Params(), info=None),
        optimizer="sgd",
        deployment=make_deployment(config, find_cluster(config)),
    )
    loop = build_step_loop(graph, steps=2) if in_loop else None
    proto = tf.ConfigProto(device_count={"CPU": num_clones})
    with initialized_session(graph.graph, proto) as session:
        for _ in range(1 if in_loop else 3):
            session.run(graph.train_op)
        if in_loop:
            loop.prepare(session)(2)
        return {v.op.name: session.run(v) for v in tf.global_variables()}


@pytest.fixture(scope="module")
def one():
    """Result of training one clone with the whole batch."""
    return train(NormalisedAlone, num_clones=1)


def assert_same(actual, expected, rtol=1e-4, atol=1e-5):
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(actual[name], value, rtol=rtol, atol=atol, err_msg=name)


def test_clones_take_the_steps_of_one_clone_only_with_sync(one, variable_mode):
    assert_same(train(Normalised, num_clones=2), one)
    alone = train(NormalisedAlone, num_clones=2)
    moved = [name for name in one if "moving" in name or "weights" in name]
    assert len(moved) == 6
    for name in moved:
        assert np.abs(alone[name] - one[name]).max() > 1e-3, name


@pytest.mark.slow
def test_steps_in_a_loop_share_the_statistics_too(one):
    assert_same(train(Normalised, num_clones=2, in_loop=True), one)


def build_clones(parts, **options):
    """Clones that each have a part of the inputs, and a sum of squares for a loss."""
    config = DeploymentConfig(len(parts), clone_on_cpu=True)
    parts = iter(parts)

    def model():
        net = network(tf.constant(next(parts)), **options)
        return tf.reduce_sum(tf.square(net - 0.5) * net)

    return create_clones(config, model)


def sum_clone_gradients(clones):
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    return clone_gradients(clones, [clone.outputs for clone in clones], optimizer)


def results(clones, gradients):
    """The loss, gradients by name, and the variables after an update of the statistics."""
    pairs = {v.op.name: gradient for gradient, v in sum_gradients(gradients)}
    with initialized_session() as session:
        loss, by_name = session.run([tf.add_n([clone.outputs for clone in clones]), pairs])
        session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS, clones[-1].scope))
        return {"loss": loss, **by_name, **{v.name: session.run(v) for v in tf.global_variables()}}


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"fused": False}])
def test_parts_of_different_sizes_count_by_their_sizes(options):
    one_and_several = []
    for parts in ([INPUTS], [INPUTS[:1], INPUTS[1:6], INPUTS[6:]]):
        with tf.Graph().as_default():
            clones = build_clones(parts, **options)
            gradients = sum_clone_gradients(clones)
            share_statistics(clones)
            one_and_several.append(results(clones, gradients))
    assert_same(*reversed(one_and_several), rtol=2e-4, atol=2e-4)


@pytest.mark.slow
def test_gradients_that_are_made_later_are_connected_by_a_second_call():
    with tf.Graph().as_default():
        clones = build_clones(np.split(INPUTS, 2))
        gradients = sum_clone_gradients(clones)
        share_statistics(clones)
        later = sum_clone_gradients(clones)
        before = len(tf.get_default_graph().get_operations())
        share_statistics(clones)
        connected = len(tf.get_default_graph().get_operations())
        share_statistics(clones)
        assert len(tf.get_default_graph().get_operations()) == connected
        # One sum: nothing before the first layer is trained.
        assert connected - before == 1
        first, second = results(clones, gradients), results(clones, later)
    assert_same(second, first, rtol=1e-6, atol=0)


def test_gradients_stay_in_their_clone_and_inference_shares_nothing():
    # Else every clone would compute the gradients of all.
    with tf.Graph().as_default() as graph:
        clones = build_clones(np.split(INPUTS, 2))
        share_statistics(clones)
        sum_clone_gradients(clones)
        products = [op for op in graph.get_operations() if op.type == "TanhGrad"]
    assert len(products) == len(clones)
    with tf.Graph().as_default() as graph:
        layers.batch_norm(tf.constant(INPUTS), is_training=False, sync=True)
        kinds = {op.type for op in graph.get_operations()}
    assert "FusedBatchNormV3" in kinds
    assert "IdentityN" not in kinds


def test_clones_with_other_layers_or_gradients_are_refused():
    with tf.Graph().as_default():
        shared = iter([True, False])

        def model():
            return tf.reduce_sum(layers.batch_norm(tf.constant(INPUTS), sync=next(shared)))

        clones = create_clones(DeploymentConfig(2, clone_on_cpu=True), model)
        with pytest.raises(TfFrameError, match=r"same layers; they have \[1, 0\] of them"):
            share_statistics(clones)
    with tf.Graph().as_default():
        clones = build_clones(np.split(INPUTS, 2))
        tf.gradients(clones[0].outputs, tf.trainable_variables())
        with pytest.raises(TfFrameError, match="same gradients of a layer"):
            share_statistics(clones)
