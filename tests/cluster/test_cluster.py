import socket

import pytest

from tf_frame.cluster import Cluster, cluster_of, wait_for_server
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import TfFrameError
from tf_frame.testing.ports import free_ports


@pytest.mark.parametrize(
    ("cluster", "job"),
    [
        (Cluster(), "worker"),
        (Cluster(job="chief/task:0"), "worker"),
        (Cluster(task_id=2, target="grpc://localhost:1"), "worker/task:2"),
        (Cluster(task_id=2, target="grpc://localhost:1", job="worker/task:1"), "worker/task:1"),
    ],
)
def test_the_job_of_a_worker_carries_its_task_where_it_has_a_server(cluster, job):
    assert cluster.worker_job == job


def test_the_first_worker_is_the_chief():
    options = {"master": "grpc://localhost:1", "worker_replicas": 2, "num_ps_tasks": 1}
    assert cluster_of(RunOptions(**options)).is_chief
    assert not cluster_of(RunOptions(task=1, **options)).is_chief


def test_a_server_that_listens_is_not_waited_for():
    said = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        target = f"grpc://127.0.0.1:{server.getsockname()[1]}"
        wait_for_server(target, timeout_secs=0, report=said.append, check=lambda: None)
    assert said == []


def test_a_server_that_comes_later_is_waited_for():
    (port,) = free_ports(1)
    said, servers = [], []

    def come():
        servers.append(socket.create_server(("127.0.0.1", port)))

    try:
        wait_for_server(f"grpc://127.0.0.1:{port}", timeout_secs=60, report=said.append, check=come)
    finally:
        servers[0].close()
    assert said == [f"waiting for the server at grpc://127.0.0.1:{port} ..."]


def test_a_server_that_never_comes_is_an_error():
    (port,) = free_ports(1)
    with pytest.raises(TfFrameError, match=f"no server listens at grpc://127.0.0.1:{port}"):
        wait_for_server(
            f"grpc://127.0.0.1:{port}", timeout_secs=0, report=print, check=lambda: None
        )


def test_waiting_can_be_given_up():
    (port,) = free_ports(1)

    def give_up():
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        wait_for_server(f"grpc://127.0.0.1:{port}", timeout_secs=60, report=print, check=give_up)
