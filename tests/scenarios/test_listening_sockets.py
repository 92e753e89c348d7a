"""The servers of a job on this machine are reached from this machine alone."""

import os
import socket
import sys
from pathlib import Path

import pytest

import forked
from job import WORDS, job_environment
from sockets import answers, listening_ports, outer_address
from tf_frame.cluster.status import SERVING, TRAINING, read_statuses
from tf_frame.testing.local_job import wait_for
from tf_frame.testing.ports import free_ports

pytestmark = [
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.timeout(200),
    pytest.mark.skipif(sys.platform != "linux", reason="/proc"),
]
ATTACH = ("--steps", "5", "--tasks", "all", "--timeout_secs", "60")
TASKS = {"chief-0": TRAINING, "worker-0": TRAINING, "ps-0": SERVING}


@pytest.fixture
def outer():
    address = outer_address()
    if address is None:
        pytest.skip("this machine has only loopback")
    return address


@pytest.fixture
def start(tmp_path):
    """Starts a command of tf-frame; kills it after the test."""
    started = []

    def start(*words):
        log, environment = tmp_path / f"log-{len(started)}", job_environment(tmp_path)
        command = [*forked.TF_FRAME, *map(str, words)]
        started.append(forked.start_logged(command, log, env=environment, cwd=tmp_path))
        return started[-1]

    yield start
    for process in started:
        process.terminate()
    for process in started:
        process.wait(60)


def assert_local(ports, outer):
    assert ports
    for port in ports:
        assert answers("127.0.0.1", port), port
        assert not answers(outer, port), port


def states(model_dir):
    return {each.task: each.state for each in read_statuses(str(model_dir))}


def test_a_local_job_and_a_profile_of_it(start, tmp_path, outer):
    model_dir = tmp_path / "run"
    words = (*WORDS, "--max_steps", "100000", "--noevaluate", "--input.sleep_ms", "10")
    job = ("launch", "--num_ps", "1", "--num_workers", "2", "--")
    launcher = start(*job, *words, "--model_dir", model_dir)
    wait_for(lambda: states(model_dir) == TASKS, "training", 100)
    before = listening_ports(launcher.pid)
    assert len(before) == 3
    assert_local(before, outer)

    attach = start("profile", "attach", model_dir, *ATTACH)
    while attach.poll() is None:
        assert listening_ports(attach.pid) == set()
        assert listening_ports(launcher.pid) == before
    assert attach.returncode == 0, Path(tmp_path / "log-1").read_text()


def test_a_job_of_several_machines_listens_at_its_addresses(start, tmp_path, outer):
    """Its tasks, all on this machine here, reach each other at the address of the network card."""
    ps, chief, worker = [f"{outer}:{port}" for port in free_ports(3)]
    words = (*WORDS, "--max_steps", "100000", "--noevaluate", "--input.sleep_ms", "10")
    words = (*words, "--model_dir", tmp_path / "run")
    hosts = ("--ps_hosts", ps, "--worker_hosts", f"{chief},{worker}")
    tasks = [
        start(*words, *hosts, "--job_name", job, "--task", number)
        for job, number in (("ps", 0), ("worker", 0), ("worker", 1))
    ]
    expected = {"chief-0": TRAINING, "worker-1": TRAINING, "ps-0": SERVING}
    wait_for(lambda: states(tmp_path / "run") == expected, "training", 100)
    for task in tasks:
        (port,) = listening_ports(task.pid)
        assert answers(outer, port)
        assert not answers("127.0.0.1", port)


def test_tensorboard(start, tmp_path, outer):
    (port,) = free_ports(1)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "events.out.tfevents.1").touch()
    started = start("tensorboard", tmp_path / "run", "--port", port)
    said = tmp_path / "log-0"
    wait_for(lambda: started.poll() is not None or "http://" in said.read_text(), "its line", 100)
    ports = listening_ports(started.pid)
    assert port in ports, said.read_text()
    assert_local(ports, outer)  # TensorBoard's reader of event files may have another one.


def test_what_listens_for_everybody_is_found(outer):
    """The tests above would fail for an open port."""
    with socket.create_server(("", 0)) as server:
        port = server.getsockname()[1]
        assert port in listening_ports(os.getpid())
        assert answers(outer, port)
