"""The servers of old scripts: parameter servers end once the workers have."""

import threading
import time

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.testing.ports import free_ports
from tf_frame_legacy import server as module
from tf_frame_legacy.server import Server

pytestmark = [pytest.mark.process, pytest.mark.timeout(90)]


@pytest.fixture
def at_exit(monkeypatch):
    """Functions called at the end of this process, in the order of registration."""
    calls = []
    monkeypatch.setattr(module.atexit, "register", calls.append)
    return calls


def servers(*tasks):
    """The servers of two parameter servers and more tasks, all in this process."""
    tasks = [("ps", 0), ("ps", 1), *tasks]
    jobs = {job: [] for job, _ in tasks}
    for (job, _), port in zip(tasks, free_ports(len(tasks)), strict=True):
        jobs[job].append(f"127.0.0.1:{port}")
    spec = tf.train.ClusterSpec(jobs)
    return [Server(spec, job_name=job, task_index=task) for job, task in tasks]


def joined(started):
    threads = [threading.Thread(target=server.join, daemon=True) for server in started[:2]]
    for thread in threads:
        thread.start()
    return threads


@pytest.mark.slow
@pytest.mark.parametrize(
    "tasks",
    [
        pytest.param([("worker", 0), ("worker", 1)], id="workers", marks=pytest.mark.slow),
        pytest.param([("worker", 0), ("master", 0)], id="master"),
    ],
)
def test_parameter_servers_end_after_all_workers(at_exit, tasks):
    threads = joined(servers(*tasks))
    ends = dict(zip(tasks, at_exit, strict=True))  # Only those of the workers.
    chief = ends.pop(next((task for task in tasks if task[0] == "master"), ("worker", 0)))
    ending = threading.Thread(target=chief, daemon=True)
    ending.start()
    time.sleep(1.5)
    assert ending.is_alive() and all(thread.is_alive() for thread in threads)
    (other,) = ends.values()
    other()
    for thread in [ending, *threads]:
        thread.join(10)
        assert not thread.is_alive()


@pytest.mark.slow
def test_a_worker_that_was_killed_is_not_waited_for_long(at_exit, monkeypatch):
    monkeypatch.setattr(module, "_WAIT_SECS", 1.0)
    threads = joined(servers(("worker", 0), ("worker", 1)))
    at_exit[0]()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


def test_a_job_without_parameter_servers_has_nothing_to_end(at_exit):
    (port,) = free_ports(1)
    Server({"worker": [f"127.0.0.1:{port}"]}, job_name="worker", task_index=0)
    assert at_exit == []
