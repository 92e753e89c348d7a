import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, train_steps
from tf_frame.cluster.find import find_cluster
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.session_config import make_deployment
from tf_frame.plugin import InputInfo
from tf_frame.testing.toy import ToyModel, build_toy_graph


def build(config, *, model=ToyModel, l2=0.0, optimizer="sgd", **how):
    params = ToyModel.Params(l2=l2)
    model = model(params=params, info=InputInfo())
    return build_toy_graph(config, model=model, optimizer=optimizer, **how)


SGD = {"learning_rate": 0.1, "train_batch_size": 8}


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("num_clones", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_clones_on_a_split_batch_take_the_step_of_one_clone(num_clones, l2):
    one, _ = train_steps(build(RunOptions(**SGD), l2=l2))
    several, _ = train_steps(build(RunOptions(**SGD, num_clones=num_clones), l2=l2))
    assert one.keys() == several.keys() == {"global_step", "linear/weights", "linear/biases"}
    for name, value in one.items():
        assert np.abs(value).max() > 0.01
        np.testing.assert_allclose(several[name], value, rtol=0, atol=1e-6)


@pytest.mark.usefixtures("variable_mode")
def test_the_loss_falls_and_the_step_is_read_after_the_update():
    graph = build(RunOptions(**SGD))
    _, runs = train_steps(graph, 30, fetch=(graph.train_op, graph.step_after))
    assert [step for _, step in runs] == [*range(1, 31)]
    assert runs[-1][0] < runs[0][0] / 100


def test_devices_of_clones_without_gpus():
    config = RunOptions(**SGD, num_clones=2)
    train_graph = build(config)
    options = tf.RunOptions(trace_level=tf.RunOptions.SOFTWARE_TRACE)
    metadata = tf.RunMetadata()
    proto = tf.ConfigProto(device_count={"CPU": 2})
    with initialized_session(train_graph.graph, proto) as session:
        session.run(train_graph.train_op, options=options, run_metadata=metadata)
    assert find_devices(metadata, "clone_0/") == {"/device:CPU:0"}
    assert find_devices(metadata, "clone_1/") == {"/device:CPU:1"}
    on_cpu = RunOptions(**SGD, num_clones=2, clone_on_cpu=True)
    deployment = make_deployment(on_cpu, find_cluster(on_cpu))
    train_graph = build(RunOptions(**SGD, num_clones=2), deployment=deployment)
    products = [op for op in train_graph.graph.get_operations() if op.type == "MatMul"]
    assert {op.device for op in products} == {"/device:CPU:0"}


def find_devices(metadata, scope):
    """Devices that the matrix products of a clone ran on, forward and backward."""
    return {
        "/device:" + device.device.rsplit("device:", 1)[1]
        for device in metadata.step_stats.dev_stats
        for node in device.node_stats
        if node.node_name.startswith(scope) and "MatMul(" in node.timeline_label
    }


def test_parameter_servers_hold_the_variables_and_their_slots():
    deployment = DeploymentConfig(num_ps_tasks=2)
    train_graph = build(RunOptions(), optimizer="momentum", deployment=deployment)
    with train_graph.graph.as_default():
        devices = {v.op.name: v.device for v in tf.global_variables()}
    weights = devices["linear/weights"]
    assert all(device.startswith("/job:ps/task:") for device in devices.values())
    assert {weights, devices["linear/biases"]} == {
        f"/job:ps/task:{i}/device:CPU:0" for i in range(2)
    }
    assert devices["linear/weights/Momentum"] == weights


def test_transforms_change_the_update():
    def without_biases(pairs):
        return [(g, v) for g, v in pairs if "biases" not in v.op.name]

    frozen, _ = train_steps(build(RunOptions(**SGD), transforms=[without_biases]), 2)
    assert frozen["linear/biases"] == 0.0
    assert np.abs(frozen["linear/weights"]).max() > 0.01


def test_summaries_are_those_of_the_first_clone_and_the_totals():
    class Summarising(ToyModel):
        def build(self, features, labels, mode):
            output = super().build(features, labels, mode)
            tf.summary.scalar("mine", output.loss)
            return output

    config = RunOptions(train_batch_size=11, num_clones=11, clone_on_cpu=True)
    train_graph = build(config, model=Summarising, l2=0.1)
    _, (summary,) = train_steps(train_graph, fetch=train_graph.summary_op)
    assert sorted(value.tag for value in tf.Summary.FromString(summary).value) == [
        "clone_0/mine",
        "losses/loss",
        "losses/regularization_loss",
        "losses/total_loss",
        "optimizer/learning_rate",
    ]


@pytest.mark.parametrize("l2", [0.0, 0.1])
@pytest.mark.parametrize("num_clones", [1, 2])
def test_operations_have_the_names_of_the_legacy_trainers(num_clones, l2):
    config = RunOptions(train_batch_size=8, num_clones=num_clones)
    train_graph = build_toy_graph(config, values={"model.l2": l2})
    assert train_graph.train_op.op.name == "train_op"
    assert train_graph.total_loss.op.name == "total_loss"
    assert train_graph.learning_rate.op.name == "learning_rate"
    assert train_graph.summary_op.op.name == "summary_op/summary_op"
    assert train_graph.global_step.op.name == "global_step"
    assert train_graph.graph.get_operation_by_name("update_barrier").type == "NoOp"
