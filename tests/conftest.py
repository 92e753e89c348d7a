"""Fixtures that every test may use."""

import json
import os
import subprocess
import sys

import pytest

from variable_modes import variable_mode_fixture


@pytest.fixture
def reference_variables():
    """Reference variables (`VariableV2`) for the length of a test."""
    import tensorflow.compat.v1 as tf

    tf.disable_resource_variables()
    yield
    tf.enable_resource_variables()


variable_mode = variable_mode_fixture()


@pytest.fixture(scope="session")
def toy_environment(tmp_path_factory):
    """Environment of a process that has the plugin `toy` installed."""
    from tf_frame.testing.distributions import write_toy_distribution

    site = tmp_path_factory.mktemp("site")
    write_toy_distribution(site)
    return {**os.environ, "PYTHONPATH": str(site)}


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
    import forked
    from tf_frame.testing.ports import free_ports

    ports = free_ports(3)
    hosts = [f"127.0.0.1:{port}" for port in ports]
    spec = json.dumps({"ps": hosts[:1], "worker": hosts[1:]})
    servers = [
        forked.Popen(
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
