"""Steps of several synchronous workers in one process, each made by hand."""

import threading

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.graph.update.moving_averages import moving_averages
from tf_frame.graph.update.sync_replicas import synchronous

# What synchronises may wait for ever.
pytestmark = pytest.mark.timeout(60)

CLUSTER = {"sync_replicas": True, "master": "grpc://localhost:1", "num_ps_tasks": 1}


def sgd():
    return tf.train.GradientDescentOptimizer(0.5)


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
        chief = self.replicas[0]
        chief.begin_epoch(self.session)
        for replicas in self.replicas:
            replicas.join(self.session)

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
        for made in jobs:
            made.session.close()


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


def test_the_chief_moves_the_averages_after_the_update(job):
    alone = job(1, moving_average_decay=0.75, moving_average_num_updates=False)
    assert alone.update(_0=[1, 2]) == ([0.5, 1], 1)
    average = alone.session.run(alone.averages.average.average(alone.weights))
    assert average.tolist() == [0.75 * 1 + 0.25 * 0.5, 0.75 * 2 + 0.25 * 1]


def test_a_backup_worker_comes_too_late_and_its_gradient_is_dropped(job):
    three = job(3, replicas_to_aggregate=2)
    assert three.update(_0=[2, 2], _2=[2, 2]) == ([0.0, 1.0], 1)
    late = three.hand_in(1, [100, 100])
    late.join(20)  # Its token is there already.
    assert not late.is_alive()
    assert three.update(_0=[2, 2], _1=[2, 2]) == ([-1.0, 0.0], 2)


@pytest.mark.slow
def test_what_is_left_of_a_lost_session_is_never_used(job):
    both = job(2)
    both.update(_0=[0, 0], _1=[0, 0])
    left = both.hand_in(1, [100, 100])
    left.join(0.3)
    both.replicas[0].begin_epoch(both.session)
    left.join(20)
    assert not left.is_alive()  # Freed by a token of the new epoch.
    both.replicas[0].join(both.session)
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


def test_sparse_gradients_are_averaged_row_by_row():
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_variable("table", initializer=[[1.0], [1.0], [1.0]])
        replicas = synchronous(sgd(), config=RunOptions(sync_replicas=True))
        step = tf.train.create_global_step()
        gradient = tf.IndexedSlices(tf.constant([[2.0], [4.0]]), tf.constant([0, 2]), [3, 1])
        hand_in = replicas.apply_gradients([(gradient, table)], step)
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        replicas.begin_epoch(session)
        replicas.join(session)
        thread = threading.Thread(target=session.run, args=(hand_in,), daemon=True)
        thread.start()
        replicas.update(session)
        thread.join(20)
        assert session.run(table).tolist() == [[0.0], [1.0], [-1.0]]
