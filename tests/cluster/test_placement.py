"""Variables, slots and tables on real parameter servers, in a process of their own."""

import json
import sys

import pytest

import forked
from tf_frame.testing.ports import free_ports

SCRIPT = """
import json, sys
import tensorflow as tf2
import tensorflow.compat.v1 as tf
from tf_frame.deploy.clones import create_clones
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import Balanced, variable_sizes, variables_placed

mode, *ports = sys.argv[1:]
if mode == "reference":
    tf.disable_resource_variables()
first, second, third = [f"127.0.0.1:{port}" for port in ports]
cluster = {"ps": [first, second], "worker": [third]}
jobs = [("ps", 0), ("ps", 1), ("worker", 0)]
servers = [tf.train.Server(cluster, job_name=job, task_index=task) for job, task in jobs]
config = DeploymentConfig(
    num_clones=2,
    num_ps_tasks=2,
    worker_job_name="worker/task:0",
    clone_device_type="CPU",
    clone_on_cpu=True,
)

def model():
    weights = tf.get_variable("weights", [2], initializer=tf.ones_initializer())
    bias = tf.get_variable("bias", [], initializer=tf.zeros_initializer())
    words = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    static = tf.lookup.StaticHashTable(words, -1)
    table = tf2.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    key = tf.placeholder_with_default(["b"], [1])
    inserted = table.insert(key, tf.constant([5], tf.int64))
    with tf.control_dependencies([inserted]):
        found = table.lookup(key)
    branch = tf.cond(tf.equal(key[0], "b"), lambda: static.lookup(key), lambda: tf.constant([0]))
    return tf.reduce_sum(weights) + bias, static.lookup(key), found, branch

with tf.Graph().as_default(), variables_placed(config, Balanced(config, variable_sizes(model))):
    clones = create_clones(config, model)
    total = tf.add_n([clone.outputs[0] for clone in clones])
    with tf.device(config.optimizer_device()):
        update = tf.train.MomentumOptimizer(0.25, 0.5).minimize(total)
    options = tf.ConfigProto(allow_soft_placement=False)
    with tf.Session(servers[2].target, config=options) as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(update)
        looked_up = session.run([clone.outputs[1:] for clone in clones])
        values = {v.op.name: session.run(v).tolist() for v in tf.global_variables()}
    devices = {v.op.name: v.device for v in tf.global_variables()}
found = [[int(each[0]) for each in clone] for clone in looked_up]
print(json.dumps([devices, values, found]))
"""


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("mode", ["resource", "reference"])
def test_a_step_and_its_tables_run_over_two_parameter_servers(mode):
    command = [sys.executable, "-c", SCRIPT, mode, *map(str, free_ports(3))]
    devices, values, found = json.loads(forked.succeed(command).stdout.splitlines()[-1])
    weights, bias = "/job:ps/task:0/device:CPU:0", "/job:ps/task:1/device:CPU:0"
    assert devices == {
        "weights": weights,
        "bias": bias,
        "weights/Momentum": weights,
        "bias/Momentum": bias,
    }
    # Both clones add 1 to every gradient; the step is a quarter of 2.
    assert values == {
        "weights": [0.5, 0.5],
        "bias": -0.5,
        "weights/Momentum": [2.0, 2.0],
        "bias/Momentum": 2.0,
    }
    assert found == [[2, 5, 2], [2, 5, 2]]
