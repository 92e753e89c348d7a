"""Workers and a parameter server as real processes on loopback."""

import json
import subprocess
import sys

import pytest

from tf_frame.testing.ports import free_ports

pytestmark = pytest.mark.process

SERVER = """
import sys, json
import tensorflow.compat.v1 as tf
cluster, job, task = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
server = tf.train.Server(cluster, job_name=job, task_index=task)
print("up", flush=True)
server.join()
"""


@pytest.fixture
def cluster():
    """Starts one parameter server and two worker servers; yields the workers' targets."""
    ports = free_ports(3)
    hosts = [f"127.0.0.1:{port}" for port in ports]
    spec = json.dumps({"ps": hosts[:1], "worker": hosts[1:]})
    servers = [
        subprocess.Popen(
            [sys.executable, "-c", SERVER, spec, job, str(task)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for job, task in [("ps", 0), ("worker", 0), ("worker", 1)]
    ]
    try:
        assert [server.stdout.readline().strip() for server in servers] == ["up"] * 3
        yield [f"grpc://{host}" for host in hosts[1:]]
    finally:
        for server in servers:
            server.kill()
            server.wait()


def worker(target, task, model_dir, environment, *more):
    words = [
        *("run", "--plugin", "toy", "--model_dir", str(model_dir), "--max_steps", "200"),
        *("--master", target, "--task", str(task), "--worker_replicas", "2"),
        *("--num_ps_tasks", "1", "--learning_rate", "0.01"),
        *more,
    ]
    return subprocess.Popen(
        [sys.executable, "-m", "tf_frame", *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


SYNCHRONOUS = ("--sync_replicas", "--moving_average_decay", "0.5")


@pytest.mark.timeout(240)
@pytest.mark.parametrize("more", [(), SYNCHRONOUS], ids=["asynchronous", "synchronous"])
def test_two_workers_train_together_over_a_parameter_server(
    cluster, tmp_path, toy_environment, more
):
    workers = [worker(cluster[task], task, tmp_path, toy_environment, *more) for task in (0, 1)]
    outputs = [process.communicate(timeout=200)[0] for process in workers]
    assert [process.returncode for process in workers] == [0, 0], "\n".join(outputs)
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["global_step"] >= 200
    assert result["metrics"]["mean_absolute_error"] < 0.5
