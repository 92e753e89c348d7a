"""Warm start of variables that live on parameter servers."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.warm_start.warm_start import candidate_variables, plan_warm_start
from tf_frame.config.option_groups import WarmStartOptions
from tf_frame.testing.ports import free_ports


@pytest.fixture(scope="module")
def target():
    """A worker and two parameter servers in this process."""
    worker, *servers = (f"127.0.0.1:{port}" for port in free_ports(3))
    cluster = {"worker": [worker], "ps": servers}
    started = [
        tf.train.Server(cluster, job_name=job, task_index=task)
        for job, task in (("ps", 0), ("ps", 1), ("worker", 0))
    ]
    return started[-1].target


@pytest.mark.process
@pytest.mark.usefixtures("variable_mode")
def test_variables_on_parameter_servers_are_restored_where_they_are(write, target):
    values = {f"v{i}": np.full([3], i + 1, np.float32) for i in range(3)}
    path = write("a", values)
    setter = tf.train.replica_device_setter(ps_tasks=2)
    with tf.Graph().as_default(), tf.device(setter):
        variables = [tf.get_variable(name, [3]) for name in values]
        assert {v.device for v in variables} == {"/job:ps/task:0", "/job:ps/task:1"}
        options = WarmStartOptions(warm_start_from=path)
        plan = plan_warm_start(options, candidate_variables())
        scaffold = tf.train.Scaffold(init_fn=plan.init_fn)
        creator = tf.train.ChiefSessionCreator(scaffold, master=target)
        with tf.train.MonitoredSession(creator) as session:
            for variable in variables:
                np.testing.assert_array_equal(session.run(variable), values[variable.op.name])
