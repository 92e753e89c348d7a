"""Moving statistics whose changes are computed together, against those of each layer alone."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, train_steps
from tf_frame import layers
from tf_frame.cluster.find import find_cluster
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed
from tf_frame.deploy.session_config import make_deployment
from tf_frame.graph.graph_edits import ancestors, assignments
from tf_frame.graph.step_loop import build_step_loop
from tf_frame.graph.update import train_step
from tf_frame.graph.update.moving_statistics import combine_moving_updates
from tf_frame.testing.toy import ToyModel, build_toy_graph

NUM_LAYERS = 3


class Normalised(ToyModel):
    """The toy model on features that pass through layers of batch norm."""

    options = {"is_training": True}

    def build(self, features, labels, mode):
        for _ in range(NUM_LAYERS):
            features = tf.tanh(layers.batch_norm(features, decay=0.7, **self.options))
        return super().build(features, labels, mode)


class Switched(Normalised):
    """A model that trains batch norm in every second step."""

    @property
    def options(self):
        return {"is_training": tf.equal(tf.train.get_global_step() % 2, 0)}


class Synchronised(Normalised):
    """A model whose clones share their statistics."""

    options = {"is_training": True, "sync": True}


def build(model=Normalised, **options):
    config = RunOptions(learning_rate=0.1, train_batch_size=8, **options)
    return build_toy_graph(
        config,
        model=model(params=ToyModel.Params(), info=None),
        optimizer="momentum",
        deployment=make_deployment(config, find_cluster(config)),
    )


def build_alone(monkeypatch, *args, **options):
    """The graph without combined updates."""
    with monkeypatch.context() as patch:
        patch.setattr(train_step, "combine_moving_updates", lambda *_: None)
        return build(*args, **options)


def values_after(graph, steps=20):
    values, _ = train_steps(graph, steps)
    return {name: value.tobytes() for name, value in values.items()}


def count(graph, type_):
    """Number of operations of a type in the step, in the scopes of moving statistics."""
    return sum(
        op.type == type_ and ("AssignMovingAvg" in op.name or "batch_norm_updates" in op.name)
        for op in ancestors([graph.train_op])
    )


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (Normalised, {}),
        (Switched, {}),
        (Normalised, {"num_clones": 2, "update_ops": "first_clone"}),
        (Synchronised, {"num_clones": 2, "update_ops": "first_clone"}),
    ],
    ids=["one clone", "is_training is a tensor", "two clones", "sync"],
)
def test_variables_have_the_same_bytes(monkeypatch, variable_mode, model, options):
    combined = values_after(build(model, **options))
    assert combined == values_after(build_alone(monkeypatch, model, **options))
    assert sum("moving" in name for name in combined) == 2 * NUM_LAYERS


def test_steps_in_a_loop_have_the_same_bytes(monkeypatch):
    graph = build()
    loop = build_step_loop(graph, steps=20)
    with initialized_session(graph.graph) as session:
        session.run(graph.train_op)
        loop.prepare(session)(19)
        values = session.run({v.op.name: v for v in tf.global_variables()})
    expected = values_after(build_alone(monkeypatch))
    assert {name: value.tobytes() for name, value in values.items()} == expected


@pytest.mark.parametrize(("update_ops", "clones"), [("first_clone", 1), ("all_clones", 2)])
def test_a_clone_computes_one_difference(monkeypatch, update_ops, clones):
    options = {"num_clones": 2, "update_ops": update_ops}
    for graph, differences in (
        (build_alone(monkeypatch, **options), 2 * NUM_LAYERS * clones),
        (build(**options), clones),
    ):
        assert [count(graph, type_) for type_ in ("Sub", "Mul")] == [differences] * 2
        assignments = [count(graph, type_) for type_ in ("AssignSub", "AssignSubVariableOp")]
        assert sum(assignments) == 2 * NUM_LAYERS * clones
        assert len(graph.graph.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2 * NUM_LAYERS * 2


def make_layers(*decays, device=""):
    inputs = tf.constant(np.random.RandomState(0).normal(size=[4, 3]), tf.float32)
    with tf.device(device):
        for decay in decays:
            layers.batch_norm(inputs, decay=decay, is_training=True)


def steps_of_updates():
    """The operations that compute the steps, one list of names for each operation."""
    found = {}
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    combine_moving_updates(updates, "")
    for update in updates:
        found.setdefault(update.op.inputs[1].op.name, []).append(update.op.name)
    return sorted(map(len, found.values()))


def test_updates_of_one_rate_on_one_device_are_together(variable_mode):
    with tf.Graph().as_default():
        make_layers(0.9, 0.9, 0.5)
        make_layers(0.9, 0.9, device="/device:CPU:1")
        # 1 - 0.9 is another number in 32 bits.
        make_layers(tf.constant(0.9))
        assert steps_of_updates() == [2, 2, 4, 4]
    with tf.Graph().as_default():
        rate = tf.placeholder_with_default(0.9, [])
        make_layers(rate, rate, tf.placeholder_with_default(0.9, []))
        assert steps_of_updates() == [2, 4]


def test_each_parameter_server_computes_the_differences_of_its_variables(variable_mode):
    config = DeploymentConfig(num_ps_tasks=2, num_replicas=2)
    with tf.Graph().as_default(), variables_placed(config):
        make_layers(*[0.9] * 4, device=config.clone_device(0))
        combine_moving_updates(tf.get_collection(tf.GraphKeys.UPDATE_OPS), "")
        found = set()
        for variable in tf.global_variables():
            if "moving" in variable.op.name:
                (update,) = [op for op in assignments(variable) if "AssignSub" in op.type]
                product = update.inputs[1].op.inputs[0].op
                old, new = (tensor.op for tensor in product.inputs[0].op.inputs)
                assert {product.device, old.device} == {variable.device}
                assert new.device == config.clone_device(0)
                found.add((variable.device, len(old.inputs) - 1))
    assert found == {(config.ps_task_device(task), 4) for task in range(2)}


def test_updates_that_a_program_orders_stay_alone(variable_mode):
    with tf.Graph().as_default():
        make_layers(0.9, 0.9, 0.9)
        watched, also_read, *_ = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies([watched.op]):
            tf.no_op()
        tf.identity(also_read)
        assert steps_of_updates() == [1, 1, 4]
    with tf.Graph().as_default():
        make_layers(0.9, 0.9)
        with tf.control_dependencies([tf.no_op()]):
            make_layers(0.9)
        assert steps_of_updates() == [1, 1, 4]


def test_exported_graphs_do_not_have_the_parts():
    with tf.Graph().as_default() as graph:
        make_layers(0.9, 0.9)
        collections = tf.train.export_meta_graph(graph=graph).collection_def
    assert not any("moving" in name for name in collections)
