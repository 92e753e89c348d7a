import types

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.estimator.train_and_eval import task_server
from tf_frame.estimator.train_and_eval.task_server import platform_starts_servers, start_server
from tf_frame.testing.ports import free_ports


def config(jobs, **values):
    spec = tf.train.ClusterSpec(jobs)
    return types.SimpleNamespace(
        **{
            "cluster_spec": spec,
            "task_type": "worker",
            "task_id": 0,
            "master": "grpc://127.0.0.1:1",
            "session_config": None,
            "protocol": None,
            **values,
        }
    )


TWO = {"chief": ["127.0.0.1:1"], "worker": ["127.0.0.1:2"]}


def test_a_server_is_started_for_the_task():
    (port,) = free_ports(1)
    # In a cluster of several tasks, a session would wait for all of them.
    server = start_server(config({"worker": [f"127.0.0.1:{port}"]}))
    assert server.target == f"grpc://127.0.0.1:{port}"
    with tf.Graph().as_default():
        total = tf.constant(2) + 3
        with tf.Session(server.target) as session:
            assert session.run(total) == 5


def test_a_server_is_told_of_gpus_and_the_protocol(monkeypatch):
    told = []
    monkeypatch.setattr(task_server.tf.train, "Server", lambda *a, **more: told.append((a, more)))
    session_config = tf.ConfigProto(
        log_device_placement=True, gpu_options=tf.GPUOptions(allow_growth=True)
    )
    own = config(TWO, task_type="chief", session_config=session_config, protocol="grpc+verbs")
    start_server(own)
    ((spec,), more) = told[0]
    assert spec.as_dict() == TWO
    proto = more.pop("config")
    assert proto.gpu_options.allow_growth
    assert not proto.log_device_placement
    assert more == {"job_name": "chief", "task_index": 0, "protocol": "grpc+verbs"}


@pytest.mark.parametrize("task", ["chief", "master", "worker"])
def test_a_task_that_trains_alone_needs_no_server(task):
    assert start_server(config({task: ["127.0.0.1:1"]}, task_type=task, master="")) is None


@pytest.mark.parametrize(
    "values", [{"cluster_spec": tf.train.ClusterSpec({})}, {"task_type": ""}, {"task_id": None}]
)
def test_a_server_needs_to_know_its_task(values):
    with pytest.raises(RuntimeError) as error:
        start_server(config(TWO, **values))
    assert str(error.value) == (
        "Could not start server; be sure to specify cluster_spec, task_type, and task in RunConfig "
        "or set the TF_CONFIG environment variable."
    )


@pytest.mark.parametrize(("jobs", "task"), [(TWO, "worker"), ({"ps": ["127.0.0.1:1"]}, "ps")])
def test_a_server_needs_to_know_its_master(jobs, task):
    with pytest.raises(RuntimeError) as error:
        start_server(config(jobs, task_type=task, master=""))
    assert str(error.value) == (
        "Could not start server; be sure to specify master in RunConfig or set the TF_CONFIG "
        "environment variable."
    )


@pytest.mark.parametrize(
    ("tf_config", "answer"),
    [('{"environment": "google"}', True), ('{"environment": "cloud"}', False), (None, False)],
)
def test_a_platform_may_have_started_the_servers(monkeypatch, caplog, tf_config, answer):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    if tf_config:
        monkeypatch.setenv("TF_CONFIG", tf_config)
    assert platform_starts_servers() is answer
    warning = "TF_CONFIG should not be empty in distributed environment."
    assert caplog.messages == ([] if tf_config else [warning])
