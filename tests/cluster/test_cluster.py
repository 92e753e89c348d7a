import contextlib
import socket
import threading

import pytest

from tf_frame.cluster import Cluster, wait_for_servers
from tf_frame.cluster.find import find_cluster
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import TfFrameError
from tf_frame.testing.ports import free_ports


@pytest.mark.parametrize(
    ("cluster", "job", "name"),
    [
        (Cluster(), "worker", "chief-0"),
        (Cluster(job="chief/task:0"), "worker", "chief-0"),
        (Cluster(target="grpc://w:1", job="chief/task:0"), "chief/task:0", "chief-0"),
        (Cluster(task_id=2, target="grpc://w:1"), "worker/task:2", "worker-2"),
        (Cluster(task_id=2, target="grpc://w:1", job="worker/task:1"), "worker/task:1", "worker-1"),
        (Cluster(task_id=1, role="ps"), "worker", "ps-1"),
        (Cluster(role="evaluator"), "worker", "evaluator-0"),
    ],
)
def test_job_and_name_of_a_task(cluster, job, name):
    assert (cluster.worker_job, cluster.task_name) == (job, name)


def test_the_first_worker_is_the_chief():
    options = {"master": "grpc://localhost:1", "worker_replicas": 2, "num_ps_tasks": 1}
    assert find_cluster(RunOptions(**options)).is_chief
    assert not find_cluster(RunOptions(task=1, **options)).is_chief


def wait(port, *, timeout_secs=60, report=print, check=lambda: None):
    addresses = [f"127.0.0.1:{each}" for each in ([port] if isinstance(port, int) else port)]
    wait_for_servers(addresses, timeout_secs=timeout_secs, report=report, check=check)


@contextlib.contextmanager
def server_with(answer, port=0):
    """Yields the port of a server that sends this and waits for the end of each connection."""

    def serve():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = server.accept()
                with connection:
                    connection.sendall(answer)
                    while connection.recv(1000):
                        pass

    with socket.create_server(("127.0.0.1", port)) as server:
        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]


GRPC = bytes.fromhex("000018040000000000") + bytes(24)


def test_servers_that_answer_are_not_waited_for():
    with server_with(GRPC) as port:
        wait(port, timeout_secs=0, report=pytest.fail)


@pytest.mark.parametrize("answer", [b"HTTP/1.0 400 Bad request\r\n", b""])
def test_another_program_at_the_address_is_an_error(answer, monkeypatch):
    """TensorFlow would wait for its answer for ever."""
    monkeypatch.setattr("tf_frame.cluster.cluster._CONNECT_SECS", 0.1)
    with server_with(answer) as port, pytest.raises(TfFrameError) as caught:
        wait(port, timeout_secs=0)
    assert str(caught.value).startswith(
        f"something listens, but no TensorFlow server answers at 127.0.0.1:{port} (waited 0 s)"
    )


def test_a_server_that_comes_later_is_waited_for():
    (port,) = free_ports(1)
    said = []
    with contextlib.ExitStack() as stack:
        wait(port, report=said.append, check=lambda: stack.enter_context(server_with(GRPC, port)))
    assert said == [f"waiting for the server at 127.0.0.1:{port} ..."]


def test_servers_that_never_come_are_an_error_that_names_them_all():
    one, other = free_ports(2)
    with server_with(GRPC) as there:
        ports = [one, there, other]
        named = f"^no server listens at 127.0.0.1:{one}, 127.0.0.1:{other} \\(waited 0 s\\)"
        with pytest.raises(TfFrameError, match=named):
            wait(ports, timeout_secs=0)


def test_waiting_can_be_given_up():
    (port,) = free_ports(1)

    def give_up():
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        wait(port, check=give_up)


JOBS = {"chief": {0: "c:1"}, "worker": {0: "w:1", 1: "v:1"}, "ps": {0: "p:1", 1: "q:1"}}


@pytest.mark.parametrize(
    ("leader", "num_ps", "host"),
    [
        ("chief", 2, "/job:ps/task:0"),
        ("chief", 0, "/job:chief/task:0"),
        ("master", 0, "/job:master/task:0"),
        ("worker", 0, "/job:worker/task:0"),
    ],
)
def test_what_the_tasks_share_is_on_the_first_server_or_the_chief(leader, num_ps, host):
    jobs = {leader: {0: "c:1"}, "worker": {0: "w:1"}}
    assert Cluster(target="grpc://w:1", num_workers=2, num_ps_tasks=num_ps, jobs=jobs).host == host


def test_a_worker_needs_the_parameter_servers_or_without_them_all_others():
    options = {"task_id": 1, "target": "grpc://w:1", "num_workers": 3, "job": "worker/task:0"}
    cluster = Cluster(num_ps_tasks=2, jobs=JOBS, **options)
    assert cluster.addresses() == ["w:1", "p:1", "q:1"]
    assert cluster.peers == ["/job:ps", "/job:worker/task:0"]
    without = {job: tasks for job, tasks in JOBS.items() if job != "ps"}
    assert Cluster(jobs=without, **options).addresses() == ["w:1", "c:1", "v:1"]
