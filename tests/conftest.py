"""Fixtures that every test may use."""

import json
import os
import subprocess
import sys

import pytest


@pytest.fixture(scope="session", autouse=True)
def graphs_as_built():
    """Sessions of the tests' own processes run graphs as they were built, without optimising them.

    Optimising a graph that is run for a few steps takes longer than all its steps. A session whose
    configuration names a rewrite option optimises as that says, and so does every process that a
    test starts.
    """
    client = sys.modules.get("tensorflow.python.client.pywrap_tf_session")
    if client is None:  # No test of this process imports TensorFlow when it is collected.
        yield
        return
    make_options = client.TF_NewSessionOptions

    def make_options_without_optimising(target=None, config=None):
        if config is not None and not config.graph_options.HasField("rewrite_options"):
            plain = type(config)()
            plain.CopyFrom(config)
            plain.graph_options.rewrite_options.disable_meta_optimizer = True
            config = plain
        return make_options(target=target, config=config)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "TF_NewSessionOptions", make_options_without_optimising)
        yield


@pytest.fixture(scope="session", autouse=True)
def few_operations_of_readiness():
    """What tells a session which variables have no value yet is made of few operations.

    Each monitored session has three of these, and TensorFlow's `boolean_mask` takes 20 operations
    for what `where` and `gather` do in two on a vector.
    """
    variables = sys.modules.get("tensorflow.python.ops.variables")
    if variables is None:
        yield
        return
    import tensorflow.compat.v1 as tf

    report = variables.report_uninitialized_variables

    def report_in_few_operations(var_list=None, name="report_uninitialized_variables"):
        found = tf.global_variables() + tf.local_variables() if var_list is None else var_list
        if not found:
            return report(var_list, name)
        with tf.name_scope(name), tf.device("/cpu:0"):
            names = tf.constant([variable.op.name for variable in found])
            missing = tf.logical_not(tf.stack([tf.is_variable_initialized(v) for v in found]))
            return tf.gather(names, tf.reshape(tf.where(missing), [-1]))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(variables, "report_uninitialized_variables", report_in_few_operations)
        yield


@pytest.fixture
def reference_variables():
    """Reference variables (`VariableV2`) for the length of a test."""
    import tensorflow.compat.v1 as tf

    tf.disable_resource_variables()
    yield
    tf.enable_resource_variables()


@pytest.fixture(params=["resource", "reference"])
def variable_mode(request):
    """Runs a test under resource variables and under reference variables."""
    import tensorflow.compat.v1 as tf

    if request.param == "resource":
        yield request.param
        return
    tf.disable_resource_variables()
    yield request.param
    tf.enable_resource_variables()


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
