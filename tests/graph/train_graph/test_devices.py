"""Devices of the learning rate, the gradients, the optimizer and the saver."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.graph.graph_edits import ancestors
from tf_frame.optimizers.built_in import SGD
from tf_frame.testing.toy import build_toy_graph


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize(("num_ps_tasks", "job"), [(0, ""), (2, "/job:worker")])
def test_the_optimizer_device_has_the_learning_rate_and_the_sums(num_ps_tasks, job):
    config = RunOptions(num_clones=2, max_steps=50, train_batch_size=8)
    deployment = DeploymentConfig(num_clones=2, num_ps_tasks=num_ps_tasks)
    train_graph = build_toy_graph(config, deployment=deployment, schedule="poly")
    sums = [op for op in train_graph.graph.get_operations() if op.name.endswith("/sum_grads")]
    assert [op.name for op in sums] == ["linear/weights/sum_grads", "linear/biases/sum_grads"]
    found = {op.device for op in [*sums, train_graph.learning_rate.op]}
    assert found == {f"{job}/device:CPU:0"}


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize(("num_ps_tasks", "job"), [(0, ""), (1, "/job:worker")])
@pytest.mark.parametrize("num_clones", [1, 2])
def test_gradients_are_computed_on_the_device_of_their_clone(num_clones, num_ps_tasks, job):
    config = RunOptions(num_clones=num_clones, train_batch_size=8)
    deployment = DeploymentConfig(num_clones=num_clones, num_ps_tasks=num_ps_tasks)
    train_graph = build_toy_graph(config, deployment=deployment)
    products = [op for op in train_graph.graph.get_operations() if op.type == "MatMul"]
    backward = [op for op in products if "gradients" in op.name]
    assert {op.device for op in backward} == {f"{job}/device:GPU:{i}" for i in range(num_clones)}
    with train_graph.graph.as_default():
        on = {v.device for v in tf.trainable_variables()}
    assert on == {"/job:ps/task:0/device:CPU:0" if num_ps_tasks else "/device:CPU:0"}


@pytest.mark.parametrize(("num_ps_tasks", "job"), [(0, ""), (1, "/job:worker")])
def test_optimizers_are_made_on_the_optimizer_device(monkeypatch, num_ps_tasks, job):
    devices = []

    def make(self, learning_rate):
        momentum = tf.constant(0.5)
        devices.append(momentum.device)
        return tf.train.MomentumOptimizer(learning_rate, momentum)

    monkeypatch.setattr(SGD, "__call__", make)
    deployment = DeploymentConfig(num_ps_tasks=num_ps_tasks)
    build_toy_graph(RunOptions(), deployment=deployment, optimizer="sgd")
    assert devices == [f"{job}/device:CPU:0"]


@pytest.mark.parametrize("num_ps_tasks", [0, 1, 2])
def test_several_parameter_servers_each_write_a_part_of_the_checkpoint(num_ps_tasks):
    deployment = DeploymentConfig(num_ps_tasks=num_ps_tasks)
    train_graph = build_toy_graph(RunOptions(), deployment=deployment)
    with train_graph.graph.as_default():
        saver = train_graph.scaffold.saver
        saver.build()
    assert saver.as_saver_def().sharded is (num_ps_tasks > 1)


def collectives(train_graph):
    return [op for op in train_graph.graph.get_operations() if op.type == "CollectiveReduce"]


@pytest.mark.usefixtures("variable_mode")
def test_workers_without_parameter_servers_average_on_their_own_devices():
    cluster = {"worker_replicas": 2, "master": "grpc://localhost:1", "task": 1}
    deployment = DeploymentConfig(num_replicas=2, replica_id=1, all_reduce=True)
    train_graph = build_toy_graph(RunOptions(**cluster), deployment=deployment)
    (reduced,) = collectives(train_graph)
    assert reduced.device == "/device:GPU:0"
    assert reduced in ancestors([train_graph.train_op])
    assert train_graph.run_is_step
    with train_graph.graph.as_default():
        assert {v.device for v in tf.trainable_variables()} == {"/device:CPU:0"}


def test_clones_add_up_their_gradients_between_their_devices_if_asked_to():
    deployment = DeploymentConfig(num_clones=2)
    for reduction, devices in (("sum", []), ("all_reduce", ["/device:GPU:0", "/device:GPU:1"])):
        config = RunOptions(num_clones=2, train_batch_size=8, gradient_reduction=reduction)
        train_graph = build_toy_graph(config, deployment=deployment)
        found = collectives(train_graph)
        assert [op.device for op in found] == devices
        assert set(found) <= set(ancestors([train_graph.train_op]))
