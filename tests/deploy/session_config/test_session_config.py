"""From run options to the devices of a machine, with and without GPUs."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.cluster import Cluster
from tf_frame.cluster.find import find_cluster
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.session_config import make_deployment, session_config
from tf_frame.errors import ConfigError

CLUSTER = {"master": "grpc://localhost:2222", "num_ps_tasks": 2, "worker_replicas": 3, "task": 1}


@pytest.fixture
def machine(monkeypatch):
    """Makes this machine one with so many GPUs."""

    def with_gpus(count):
        gpus = [f"/physical_device:GPU:{index}" for index in range(count)]
        monkeypatch.setattr(
            tf.config, "list_physical_devices", lambda kind=None: gpus if kind == "GPU" else []
        )

    return with_gpus


def deployment_of(**options):
    config = RunOptions(train_batch_size=12, **options)
    deployment = make_deployment(config, find_cluster(config))
    return deployment, session_config(config, deployment)


@pytest.mark.parametrize("num_clones", [1, 2, 4])
def test_without_gpus_every_clone_has_a_logical_cpu(machine, num_clones):
    machine(0)
    deployment, proto = deployment_of(num_clones=num_clones)
    devices = [deployment.clone_device(index) for index in range(num_clones)]
    assert devices == [f"/device:CPU:{index}" for index in range(num_clones)]
    assert proto.device_count["CPU"] == num_clones
    assert not deployment.has_gpu_clones


def test_clones_on_cpu_0_and_passes_of_the_optimizer(machine):
    machine(0)
    deployment, proto = deployment_of(num_clones=3, clone_on_cpu=True)
    assert {deployment.clone_device(index) for index in range(3)} == {"/device:CPU:0"}
    assert "CPU" not in proto.device_count
    machine(0)
    rewrites = deployment_of()[1].graph_options.rewrite_options
    assert rewrites.meta_optimizer_iterations == rewrites.ONE


def test_clones_on_a_machine_with_gpus(machine):
    machine(2)
    deployment, proto = deployment_of(num_clones=2)
    assert [deployment.clone_device(i) for i in range(2)] == ["/device:GPU:0", "/device:GPU:1"]
    assert "CPU" not in proto.device_count
    assert deployment.has_gpu_clones
    machine(2)
    message = r"--num_clones 3, but this machine has 2 GPU.*--num_clones 2 or --clone_on_cpu"
    with pytest.raises(ConfigError, match=message):
        deployment_of(num_clones=3)
    assert deployment_of(num_clones=3, clone_on_cpu=True)[0].num_clones == 3


def test_tasks_and_remote_workers_have_their_place(machine):
    for count in (0, 1):
        machine(count)
        deployment, proto = deployment_of(num_clones=2, **CLUSTER)
        devices = [deployment.clone_device(index) for index in range(2)]
        assert devices == [f"/job:worker/task:1/device:GPU:{index}" for index in range(2)]
        assert "CPU" not in proto.device_count
    machine(0)
    deployment, _ = deployment_of(**CLUSTER)
    assert (deployment.replica_id, deployment.num_replicas, deployment.num_ps_tasks) == (1, 3, 2)
    assert deployment.worker_device == "/job:worker/task:1"
    assert deployment.ps_device == "/job:ps"
    machine(0)
    deployment = make_deployment(RunOptions(), Cluster(num_ps_tasks=2))
    assert deployment.worker_device == "/job:worker"


@pytest.mark.parametrize("asked", [False, True])
def test_operations_without_a_kernel_for_their_device_move(machine, asked):
    machine(0)
    _, proto = deployment_of(log_device_placement=asked)
    assert proto.allow_soft_placement
    assert proto.log_device_placement is asked
