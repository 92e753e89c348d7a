import json
import subprocess
import sys
import threading

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

import forked
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import ConfigError
from tf_frame.graph.update.moving_averages import moving_averages
from tf_frame.graph.update.sync_replicas import synchronous

# What synchronises may wait for ever.
pytestmark = pytest.mark.timeout(60)

CLUSTER = {"sync_replicas": True, "master": "grpc://localhost:1", "num_ps_tasks": 1}


def sgd():
    return tf.train.GradientDescentOptimizer(0.5)


def test_without_sync_replicas_the_optimizer_is_left_as_it_is():
    optimizer = sgd()
    assert synchronous(optimizer, config=RunOptions()) is optimizer


def test_several_clones_of_several_workers_are_refused():
    message = "In Synchronous SGD mode num_clones must be 1. Found num_clones: 2"
    with pytest.raises(ConfigError, match=message):
        RunOptions(
            sync_replicas=True,
            num_clones=2,
            worker_replicas=2,
            num_ps_tasks=1,
            master="grpc://localhost:2222",
        )


def test_a_lone_worker_may_have_several():
    config = RunOptions(sync_replicas=True, num_clones=2, train_batch_size=8)
    assert (config.aggregated_replicas, config.clone_batch_size) == (1, 4)


class Job:
    """The workers of a job in one graph and session, each step made by hand, without threads."""

    def __init__(self, workers, **options):
        options = {**CLUSTER, "worker_replicas": workers, **options}
        if workers == 1:
            options = {**options, "master": "", "num_ps_tasks": 0}
        self.replicas, self.fed, self.steps = [], [], []
        self.step = tf.train.create_global_step()
        self.weights = tf.get_variable("weights", initializer=[1.0, 2.0])
        for task in range(workers):
            config = RunOptions(**options, task=task)
            self.averages = moving_averages(config, self.step)
            replicas = synchronous(sgd(), config=config, averages=self.averages)
            fed = tf.placeholder(tf.float32, [2])
            # As the graphs of the workers name them, which are one here.
            with tf.variable_scope(tf.get_variable_scope(), reuse=tf.AUTO_REUSE):
                self.steps.append(replicas.apply_gradients([(fed, self.weights)], self.step))
            self.replicas.append(replicas)
            self.fed.append(fed)
        self.session = tf.Session()
        self.session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])

    def begin(self):
        chief, *others = self.replicas
        chief.begin_epoch(self.session)
        for each in others:
            each.join(self.session)

    def hand_in(self, worker, gradient):
        """Sends a gradient; returns the thread, which ends when the worker has its token."""
        run, feeds = self.session.run, {self.fed[worker]: gradient}
        thread = threading.Thread(target=run, args=(self.steps[worker], feeds), daemon=True)
        thread.start()
        return thread

    def update(self, **gradients):
        """Makes an update of the gradients of workers, `_0=[1, 2]`; returns weights and step."""
        threads = [self.hand_in(int(name[1:]), given) for name, given in gradients.items()]
        self.replicas[0].update(self.session)
        for thread in threads:
            thread.join(20)
            assert not thread.is_alive()
        return self.state()

    def state(self):
        weights, step = self.session.run([self.weights, self.step])
        return weights.tolist(), int(step)


@pytest.fixture
def job(variable_mode):
    with tf.Graph().as_default():
        jobs = []

        def make(*args, **options):
            jobs.append(Job(*args, **options))
            jobs[-1].begin()
            return jobs[-1]

        yield make
        for each in jobs:
            each.session.close()


def test_an_update_is_made_of_the_mean_gradient_of_all_workers(job):
    both = job(2)
    assert both.update(_0=[1, 2], _1=[3, 2]) == ([0.0, 1.0], 1)
    assert both.update(_0=[0, 0], _1=[2, 4]) == ([-0.5, 0.0], 2)


def test_no_worker_takes_the_token_of_a_slower_one(job):
    both = job(2)
    both.update(_0=[1, 2], _1=[3, 2])
    both.hand_in(0, [2, 2])
    fast = both.hand_in(0, [8, 8])
    fast.join(0.3)
    assert fast.is_alive()
    assert both.session.run(both.replicas[1]._queues[1].size()) == 0
    # Both gradients of the fast worker are not an update: it waits for the token of the first.


def test_a_lone_worker_sends_as_many_gradients_as_an_update_takes(job):
    alone = job(1, replicas_to_aggregate=3)
    threads = [alone.hand_in(0, [value] * 2) for value in (1, 2, 6)]
    alone.replicas[0].update(alone.session)
    for thread in threads:
        thread.join(20)
    assert alone.state() == ([1 - 0.5 * 3, 2 - 0.5 * 3], 1)


def test_a_backup_worker_comes_too_late_and_its_gradient_is_dropped(job):
    three = job(3, replicas_to_aggregate=2)
    assert three.update(_0=[2, 2], _2=[2, 2]) == ([0.0, 1.0], 1)
    late = three.hand_in(1, [100, 100])
    late.join(20)  # Its token is there already.
    assert not late.is_alive()
    assert three.update(_0=[2, 2], _1=[2, 2]) == ([-1.0, 0.0], 2)


def test_what_is_left_of_a_lost_session_is_never_used(job):
    both = job(2)
    both.update(_0=[0, 0], _1=[0, 0])
    left = both.hand_in(1, [100, 100])
    left.join(0.3)
    both.replicas[0].begin_epoch(both.session)
    left.join(20)
    assert not left.is_alive()  # Freed by a token of the new epoch.
    old = both.state()
    assert both.update(_0=[2, 2], _1=[2, 2]) == ([old[0][0] - 1, old[0][1] - 1], old[1] + 1)


def test_workers_that_wait_for_a_token_see_the_end(job):
    both = job(2)
    ended = []

    def wait():
        try:
            both.session.run(both.steps[1], {both.fed[1]: [1, 1]})
        except tf.errors.OutOfRangeError as error:
            ended.append(error)

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    waiting.join(0.3)
    assert waiting.is_alive()
    both.replicas[0].close(both.session)
    waiting.join(20)
    assert len(ended) == 1


def test_the_chief_moves_the_averages_after_the_update(job):
    alone = job(1, moving_average_decay=0.75, moving_average_num_updates=False)
    assert alone.update(_0=[1, 2]) == ([0.5, 1.0], 1)
    average = alone.session.run(alone.averages.average.average(alone.weights))
    np.testing.assert_allclose(average, [0.75 * 1 + 0.25 * 0.5, 0.75 * 2 + 0.25 * 1])


def test_the_chief_moves_the_averages_of_statistics_too():
    with tf.Graph().as_default():
        config = RunOptions(sync_replicas=True, moving_average_decay=0.9)
        kept = [tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.MODEL_VARIABLES]
        tf.get_variable("mean", initializer=1.0, trainable=False, collections=kept)
        weights, step = tf.get_variable("weights", initializer=1.0), tf.train.create_global_step()
        averages = moving_averages(config, step)
        synchronous(sgd(), config=config, averages=averages).apply_gradients(
            [(weights * 2, weights)], step
        )
        names = [variable.op.name for variable in tf.global_variables()]
    assert "mean/ExponentialMovingAverage" in names


def test_sparse_gradients_are_averaged_row_by_row():
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_variable("table", initializer=[[1.0], [1.0], [1.0]])
        replicas = synchronous(sgd(), config=RunOptions(sync_replicas=True))
        step = tf.train.create_global_step()
        gradient = tf.IndexedSlices(tf.constant([[2.0], [4.0]]), tf.constant([0, 2]), [3, 1])
        hand_in = replicas.apply_gradients([(gradient, table)], step)
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        replicas.begin_epoch(session)
        thread = threading.Thread(target=session.run, args=(hand_in,), daemon=True)
        thread.start()
        replicas.update(session)
        thread.join(20)
        assert session.run(table).tolist() == [[0.0], [1.0], [-1.0]]


def graph_of_one_variable(rate=0.5):
    """Returns variable, training operation and hook of a lone worker."""
    step = tf.train.create_global_step()
    weights = tf.get_variable("weights", initializer=1.0)
    config = RunOptions(sync_replicas=True)
    optimizer = synchronous(tf.train.GradientDescentOptimizer(rate), config=config)
    update = optimizer.apply_gradients([(tf.constant(1.0), weights)], step)
    return weights, update, optimizer.session_hook()


def test_a_monitored_session_trains_and_ends(variable_mode):
    # Within the time of this test: TensorFlow's own hook takes two minutes to end.
    with tf.Graph().as_default():
        weights, update, hook = graph_of_one_variable()
        with tf.control_dependencies([update]):
            seen = weights.read_value()
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            assert [session.run(seen) for _ in range(3)] == [0.5, 0.0, -0.5]


def test_an_update_that_fails_ends_the_training_with_its_error():
    with tf.Graph().as_default():
        rate = tf.debugging.check_numerics(tf.constant(float("nan")), "a rate that is no number")
        _, update, hook = graph_of_one_variable(rate)
        wrong = pytest.raises(tf.errors.InvalidArgumentError, match="a rate that is no number")
        with wrong, tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run(update)


def test_a_worker_that_ended_closes_the_queues():
    with tf.Graph().as_default():
        _, update, hook = graph_of_one_variable()
        hook.is_over = lambda: True
        # A monitored session ends without an error then, as at the end of the input.
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            while not session.should_stop():
                session.run(update)


# Worker 0 has the gradient [1, 2], worker 1 the gradient [3, 6].
WORKER = """
import sys, json
import tensorflow.compat.v1 as tf
from tf_frame.cluster.find import cluster_of
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.placement import variables_placed
from tf_frame.deploy.session_config import make_deployment
from tf_frame.graph.update.sync_replicas import synchronous
target, task, mode = sys.argv[1], int(sys.argv[2]), sys.argv[3]
if mode == "reference":
    tf.disable_resource_variables()
config = RunOptions(sync_replicas=True, worker_replicas=2, num_ps_tasks=1, master=target, task=task)
cluster = cluster_of(config)
deployment = make_deployment(config, cluster)
with tf.Graph().as_default(), variables_placed(deployment):
    step = tf.train.create_global_step()
    weights = tf.get_variable("weights", initializer=[0.0, 0.0])
    with tf.device(deployment.optimizer_device()):
        gradient = tf.constant([1.0, 2.0]) * (2 * task + 1)
        optimizer = synchronous(tf.train.GradientDescentOptimizer(0.5), config=config)
        update = optimizer.apply_gradients([(gradient, weights)], step)
    with tf.control_dependencies([update]):
        seen = [weights.read_value(), step.read_value()]
    assert all("/job:ps" in v.device for v in tf.global_variables())
    assert [v.device for v in tf.local_variables()] == [deployment.optimizer_device()]
    if cluster.is_chief:
        creator = tf.train.ChiefSessionCreator(master=target)
    else:
        creator = tf.train.WorkerSessionCreator(master=target)
    hooks = [optimizer.session_hook()]
    with tf.train.MonitoredSession(creator, hooks) as session:
        print("ready", flush=True)
        for _ in range(4):
            print(json.dumps([each.tolist() for each in session.run(seen)]), flush=True)
            sys.stdin.readline()
"""


@pytest.mark.process
@pytest.mark.timeout(180)
@pytest.mark.parametrize("mode", ["resource", "reference"])
def test_two_workers_update_by_the_average_of_their_gradients(cluster, mode):
    workers = []
    # Half of the mean gradient [2, 4] in each step, seen alike by both.
    expected = [[[-1.0 * step, -2.0 * step], step] for step in (1, 2, 3, 4)]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    try:
        for task, target in enumerate(cluster):
            command = [sys.executable, "-c", WORKER, target, str(task), mode]
            workers.append(forked.Popen(command, text=True, **pipes))
            # A worker that comes before the variables looks for them again after 30 s.
            assert workers[task].stdout.readline() == "ready\n"
        for of_step in expected:
            assert [json.loads(worker.stdout.readline()) for worker in workers] == [of_step] * 2
            # Neither begins the next step before both have their token: the tokens of an update
            # lie in one queue, and a fast worker could take that of a slow one.
            for worker in workers:
                print(file=worker.stdin, flush=True)
        errors = [worker.communicate(timeout=120)[1] for worker in workers]
        assert [worker.returncode for worker in workers] == [0, 0], errors
    finally:
        for worker in workers:
            worker.kill()
