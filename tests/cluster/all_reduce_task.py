"""One of two workers that hold the variables and average their gradients; no framework around.

python all_reduce_task.py TASK CHIEF_PORT WORKER_PORT STEPS

Prints a line of JSON for each step, and for the end. With more than 20 steps it goes on slowly, so
that a test can kill the other worker.
"""

import json
import sys
import time

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed
from tf_frame.graph.update.all_reduce import worker_group

ROWS, RATE = 8, 0.3
RANDOM = np.random.RandomState(7)
WORDS = RANDOM.randint(0, 6, (20, ROWS)).astype(np.int32)
FEATURES = RANDOM.randn(20, ROWS, 3).astype(np.float32)
TARGETS = RANDOM.randn(20, ROWS, 2).astype(np.float32)


def model(rows):
    """The loss of some rows of the batch of a step; a partitioned and a sparse variable."""
    step = tf.placeholder(tf.int32, [], name="step")
    words, features, targets = (
        tf.gather(tf.constant(array[:, rows]), step % 20) for array in (WORDS, FEATURES, TARGETS)
    )
    table = tf.get_variable("table", initializer=start([6, 4]))
    kernel = tf.get_variable(
        "kernel",
        [7, 5],
        initializer=tf.random_uniform_initializer(-1, 1, seed=3),
        partitioner=tf.fixed_size_partitioner(2),
    )
    head = tf.get_variable("head", initializer=start([5, 2]))
    hidden = tf.tanh(
        tf.matmul(
            tf.concat([tf.gather(table, words), features], axis=1), tf.convert_to_tensor(kernel)
        )
    )
    return tf.reduce_mean(tf.square(tf.matmul(hidden, head) - targets)), step


def start(shape):
    return np.linspace(-1, 1, int(np.prod(shape))).reshape(shape).astype(np.float32)


def values(session):
    return {v.op.name: session.run(v).tolist() for v in tf.trainable_variables()}


def single(steps):
    """The values of the variables after training with the joint batch in this process."""
    with tf.Graph().as_default():
        loss, step = model(slice(None))
        update = tf.train.GradientDescentOptimizer(RATE).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for number in range(steps):
                session.run(update, {step: number})
            return values(session)


def say(**what):
    print(json.dumps(what), flush=True)


def start_server(task, ports):
    job = ("chief", "worker")[task]
    config = tf.ConfigProto(device_filters=[f"/job:{job}/task:0"])
    config.experimental.collective_group_leader = "/job:chief/replica:0/task:0"
    cluster = {"chief": [f"127.0.0.1:{ports[0]}"], "worker": [f"127.0.0.1:{ports[1]}"]}
    return tf.train.Server(cluster, job_name=job, task_index=0, config=config), config


def main(task, ports, steps):
    server, config = start_server(task, ports)
    deployment = DeploymentConfig(
        num_replicas=2, replica_id=task, all_reduce=True, clone_device_type="CPU"
    )
    with tf.Graph().as_default(), variables_placed(deployment):
        loss, step = model(slice(4 * task, 4 * task + 4))
        flag = tf.get_variable("flag", initializer=[task == 0, True], trainable=False)
        group = worker_group(deployment)
        assert flag.device == "/device:CPU:0"
        optimizer = tf.train.GradientDescentOptimizer(RATE)
        pairs = group.mean_gradients(optimizer.compute_gradients(loss))
        sparse = [v.op.name for g, v in pairs if isinstance(g, tf.IndexedSlices)]
        update = optimizer.apply_gradients(pairs)
        agreed = [group.agreed([task, -task, step]), group.agreed([0.5 + task], by="sum")]
        init = tf.variables_initializer(tf.global_variables() if task == 0 else [])
        spread = group.broadcast(tf.global_variables())
        with tf.Session(server.target, config=config) as session:
            session.run(init)
            session.run(spread)
            say(flag=session.run(flag).tolist(), sparse=sparse, start=values(session))
            for number in range(steps):
                found = session.run([agreed, update], {step: number})[0]
                say(step=number, agreed=[each.tolist() for each in found])
                time.sleep(0.05 if steps > 20 else 0)
            say(end=values(session), expected=single(steps))


if __name__ == "__main__":
    tf.disable_eager_execution()
    number, *rest = map(int, sys.argv[1:])
    try:
        main(number, rest[:2], rest[2])
    except tf.errors.OpError as error:
        say(error=type(error).__name__, message=str(error), at=time.time())
        sys.stdout.flush()
