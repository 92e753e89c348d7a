"""From run options to the devices of a machine, with and without GPUs; no GPU is needed."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.cluster import Cluster
from tf_frame.cluster.find import find_cluster
from tf_frame.config.run_options import RunOptions, without_effect
from tf_frame.deploy import session_config as module
from tf_frame.deploy.session_config import (
    device_fields,
    device_report,
    inference_session_config,
    make_deployment,
    session_config,
)
from tf_frame.errors import ConfigError
from tf_frame.runs.setup.run_context import RunContext, RunObserver
from tf_frame.runs.training.build import session_proto

CLUSTER = {"master": "grpc://localhost:2222", "num_ps_tasks": 2, "worker_replicas": 3, "task": 1}
OPTIONS = {
    "gpus": (0, 2),
    "gpu_memory_growth": True,
    "gpu_memory_fraction": 0.9,
    "intra_op_threads": 3,
    "inter_op_threads": 2,
}


@pytest.fixture
def machine(monkeypatch):
    """Makes this machine one with so many GPUs, and four cores."""

    def with_gpus(count):
        gpus = [f"/physical_device:GPU:{index}" for index in range(count)]
        monkeypatch.setattr(
            tf.config, "list_physical_devices", lambda kind=None: gpus if kind == "GPU" else []
        )
        details = {"device_name": "NVIDIA T4"}
        monkeypatch.setattr(tf.config.experimental, "get_device_details", lambda gpu: details)
        monkeypatch.setattr(module.os, "sched_getaffinity", lambda pid: {0, 1, 2, 3})

    return with_gpus


def make_both(**options):
    config = RunOptions(train_batch_size=12, **options)
    deployment = make_deployment(config, find_cluster(config))
    return deployment, session_config(config, deployment)


@pytest.mark.parametrize("num_clones", [1, 2, 4])
def test_without_gpus_every_clone_has_a_logical_cpu(machine, num_clones):
    machine(0)
    deployment, proto = make_both(num_clones=num_clones)
    devices = [deployment.clone_device(index) for index in range(num_clones)]
    assert devices == [f"/device:CPU:{index}" for index in range(num_clones)]
    assert proto.device_count["CPU"] == num_clones
    assert not deployment.has_gpu_clones


def test_clones_on_cpu_0(machine):
    machine(0)
    deployment, proto = make_both(num_clones=3, clone_on_cpu=True)
    assert {deployment.clone_device(index) for index in range(3)} == {"/device:CPU:0"}
    assert "CPU" not in proto.device_count


def training_rewrites(of_script=None):
    """Returns the passes of the graph optimizer in a training with a script's configuration."""
    context = RunContext(observer=RunObserver(), cluster=Cluster(), session_config=of_script)
    return session_proto(RunOptions(), context, make_both()[0]).graph_options.rewrite_options


@pytest.mark.parametrize("gpus", [0, 1])
def test_passes_of_the_graph_optimizer(machine, gpus):
    machine(gpus)
    inference = inference_session_config(RunOptions()).graph_options.rewrite_options
    for rewrites in (training_rewrites(), inference):
        assert rewrites.meta_optimizer_iterations == rewrites.ONE
        # TensorFlow's own choice, where GPUs have use for these passes.
        assert rewrites.disable_tfg_optimizer is not bool(gpus)
        memory, layout = rewrites.NO_MEM_OPT, rewrites.OFF
        chosen = (rewrites.memory_optimization, rewrites.layout_optimizer)
        assert chosen == ((0, 0) if gpus else (memory, layout))


def test_a_script_chooses_its_passes(machine):
    machine(0)
    of_script = tf.ConfigProto()
    rewrites = of_script.graph_options.rewrite_options
    rewrites.memory_optimization, rewrites.layout_optimizer = rewrites.MANUAL, rewrites.ON
    assert inference_session_config(RunOptions(), of_script).graph_options.rewrite_options == (
        rewrites
    )
    training = training_rewrites(of_script)
    assert (training.memory_optimization, training.layout_optimizer) == (
        rewrites.MANUAL,
        rewrites.ON,
    )
    of_script = tf.ConfigProto()
    of_script.graph_options.rewrite_options.cpu_layout_conversion = rewrites.NCHW_TO_NHWC
    assert training_rewrites(of_script).layout_optimizer == rewrites.DEFAULT


def test_clones_on_a_machine_with_gpus(machine):
    machine(2)
    deployment, proto = make_both(num_clones=2)
    assert [deployment.clone_device(i) for i in range(2)] == ["/device:GPU:0", "/device:GPU:1"]
    assert "CPU" not in proto.device_count
    assert deployment.has_gpu_clones
    message = r"--num_clones 3, but this machine has 2 GPU.*--num_clones 2 or --clone_on_cpu"
    with pytest.raises(ConfigError, match=message):
        make_both(num_clones=3)
    assert make_both(num_clones=3, clone_on_cpu=True)[0].num_clones == 3


def test_tasks_and_remote_workers_have_their_place(machine):
    for count in (0, 1):
        machine(count)
        deployment, proto = make_both(num_clones=2, **CLUSTER)
        devices = [deployment.clone_device(index) for index in range(2)]
        assert devices == [f"/job:worker/task:1/device:GPU:{index}" for index in range(2)]
        assert "CPU" not in proto.device_count
    machine(0)
    deployment, _ = make_both(**CLUSTER)
    assert (deployment.replica_id, deployment.num_replicas, deployment.num_ps_tasks) == (1, 3, 2)
    assert deployment.worker_device == "/job:worker/task:1"
    assert deployment.ps_device == "/job:ps"
    # A parameter server with a higher number than any worker.
    cluster = Cluster(role="ps", task_id=1, num_ps_tasks=2, target="grpc://localhost:1")
    assert make_deployment(RunOptions(), cluster).replica_id == 0
    deployment = make_deployment(RunOptions(), Cluster(num_ps_tasks=2))
    assert deployment.worker_device == "/job:worker"


@pytest.mark.parametrize("asked", [False, True])
def test_operations_without_a_kernel_for_their_device_move(machine, asked):
    machine(0)
    _, proto = make_both(log_device_placement=asked)
    assert proto.allow_soft_placement
    assert proto.log_device_placement is asked


def check(proto):
    assert proto.gpu_options.visible_device_list == "0,2"
    assert proto.gpu_options.allow_growth
    assert proto.gpu_options.per_process_gpu_memory_fraction == 0.9
    assert proto.intra_op_parallelism_threads == 3
    assert proto.inter_op_parallelism_threads == 2


def test_fields_of_options_and_scripts(machine):
    machine(3)
    config = RunOptions(**OPTIONS)
    check(device_fields(config))
    check(session_config(config, make_deployment(config, find_cluster(config))))
    check(inference_session_config(config))
    assert inference_session_config(config).allow_soft_placement
    assert device_fields(RunOptions()) == tf.ConfigProto()
    given = tf.ConfigProto(inter_op_parallelism_threads=9)
    given.gpu_options.visible_device_list = "1"
    proto = inference_session_config(RunOptions(**OPTIONS), given)
    assert proto.inter_op_parallelism_threads == 9
    assert proto.gpu_options.visible_device_list == "1"
    assert proto.intra_op_parallelism_threads == 3
    assert not proto.allow_soft_placement


def test_gpus_are_counted_and_wrong_numbers_refused(machine):
    machine(4)
    config = RunOptions(gpus=(1, 3), num_clones=2)
    deployment = make_deployment(config, find_cluster(config))
    assert [deployment.clone_device(i) for i in (0, 1)] == ["/device:GPU:0", "/device:GPU:1"]
    config = RunOptions(gpus=(1,), num_clones=2)
    with pytest.raises(ConfigError, match=r"--num_clones 2, but --gpus names 1 GPU\(s\); use"):
        make_deployment(config, find_cluster(config))
    machine(2)
    config = RunOptions(gpus=(0, 2))
    with pytest.raises(ConfigError, match=r"--gpus 0,2, but .* 2 GPU\(s\) .* are 0 to 1$"):
        make_deployment(config, find_cluster(config))
    with pytest.raises(ConfigError, match="--gpus 1,1: give each GPU once"):
        RunOptions(gpus=(1, 1))
    machine(0)  # The same command runs on a machine without any.
    assert make_deployment(config, find_cluster(config)).clone_device_type == "CPU"
    config = RunOptions(master="grpc://localhost:1", intra_op_threads=2, gpus=(0,))
    assert without_effect(config, RunOptions()) == [
        "--gpus, --intra_op_threads have no effect with --master, as its server has the devices"
    ]


@pytest.mark.parametrize(
    ("gpus", "options", "text"),
    [
        (0, {}, "no GPU, 4 CPU cores; 1 clone on CPU:0"),
        (0, {"num_clones": 2}, "no GPU, 4 CPU cores; 2 clones on CPU:0, CPU:1"),
        (
            0,
            {"gpus": (0,)},
            "no GPU (--gpus has no effect), 4 CPU cores; 1 clone on CPU:0",
        ),
        (
            2,
            {"num_clones": 2},
            "2 GPUs (NVIDIA T4), 4 CPU cores; 2 clones on GPU:0, GPU:1",
        ),
        (2, {"clone_on_cpu": True}, "2 GPUs (NVIDIA T4), 4 CPU cores; 1 clone on CPU:0"),
        (
            3,
            {"gpus": (2,)},
            "1 GPU (NVIDIA T4) of 3, the numbers 2, 4 CPU cores; 1 clone on GPU:0",
        ),
        (
            0,
            {"master": "grpc://localhost:1"},
            "those of the server grpc://localhost:1; 1 clone on GPU:0",
        ),
    ],
)
def test_a_line_says_what_is_found_and_used(machine, gpus, options, text):
    machine(gpus)
    config = RunOptions(**options)
    deployment = make_deployment(config, find_cluster(config))
    report = device_report(config, deployment, server=config.master)
    assert report == f"devices: {text}"
