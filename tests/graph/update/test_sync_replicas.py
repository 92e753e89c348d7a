import contextlib
import json
import subprocess
import sys
import threading

import pytest
import tensorflow.compat.v1 as tf

import forked
from sessions import initialized_session
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import ConfigError
from tf_frame.graph.update.moving_averages import moving_averages
from tf_frame.graph.update.sync_replicas import synchronous

# What synchronises may wait for ever.
pytestmark = pytest.mark.timeout(60)

CLUSTER = {"sync_replicas": True, "master": "grpc://localhost:1", "num_ps_tasks": 1}


def sgd():
    return tf.train.GradientDescentOptimizer(0.5)


def test_which_optimizers_are_wrapped():
    optimizer = sgd()
    assert synchronous(optimizer, config=RunOptions()) is optimizer
    message = "In Synchronous SGD mode num_clones must be 1. Found num_clones: 2"
    with pytest.raises(ConfigError, match=message):
        RunOptions(
            sync_replicas=True,
            num_clones=2,
            worker_replicas=2,
            num_ps_tasks=1,
            master="grpc://localhost:2222",
        )
    config = RunOptions(sync_replicas=True, num_clones=2, train_batch_size=8)
    assert (config.aggregated_replicas, config.clone_batch_size) == (1, 4)


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


@pytest.mark.parametrize(
    ("options", "gradients"),
    [
        ({"worker_replicas": 3}, 3),
        ({"worker_replicas": 3, "replicas_to_aggregate": 2}, 2),
        ({"worker_replicas": 2, "replicas_to_aggregate": 5}, 5),
    ],
)
def test_the_average_is_of_one_gradient_per_worker_unless_said_otherwise(options, gradients):
    with tf.Graph().as_default() as graph:
        graph_of_one_variable(RunOptions(**CLUSTER, **options))
        takes = [op for op in graph.get_operations() if "TakeGradient" in op.type]
        # The second one clears what is left of a session that was lost.
        assert [int(tf.get_static_value(take.inputs[1])) for take in takes] == [gradients, 1]


def graph_of_one_variable(config, rate=0.5):
    """Returns variable, training operation and optimizer."""
    step = tf.train.create_global_step()
    weights = tf.get_variable("weights", initializer=1.0)
    optimizer = synchronous(tf.train.GradientDescentOptimizer(rate), config=config)
    update = optimizer.apply_gradients([(tf.constant(1.0), weights)], step)
    return weights, update, optimizer


@contextlib.contextmanager
def begun(**options):
    """Yields session, graph, train op and optimizer of a worker whose chief has begun."""
    with tf.Graph().as_default() as graph:
        _, update, optimizer = graph_of_one_variable(RunOptions(**CLUSTER, **options))
        with initialized_session() as session:
            yield session, graph, update, optimizer


def sizes_of_queues(session, graph):
    sizes = [op.outputs[0] for op in graph.get_operations() if op.type == "QueueSizeV2"]
    by_queue = {size.op.inputs[0].name: size for size in sizes}
    return sorted(session.run(list(by_queue.values())))


@pytest.mark.parametrize(
    ("options", "tokens"),
    [
        # A worker that waits is freed by its token; one that joins drops it.
        ({"worker_replicas": 2}, [0, 1]),
        ({"worker_replicas": 3, "replicas_to_aggregate": 2}, [0, 1, 1]),
    ],
)
def test_a_session_begins_with_a_token_for_each_other_worker(options, tokens):
    with begun(**options) as (session, graph, _, optimizer):
        optimizer.begin_epoch(session)
        assert sizes_of_queues(session, graph) == [1] * len(tokens)
        optimizer.join(session)
        assert sizes_of_queues(session, graph) == tokens


def test_tokens_of_a_shared_queue_and_of_the_chief():
    with begun(worker_replicas=2, replicas_to_aggregate=5) as (session, graph, _, optimizer):
        optimizer.begin_epoch(session)
        with graph.as_default():
            (queue,) = {op.inputs[0] for op in graph.get_operations() if "QueueEnq" in op.type}
            size = tf.raw_ops.QueueSizeV2(handle=queue)
        assert session.run(size) == 3
        optimizer.begin_epoch(session)
        assert session.run(size) == 5
    # It may close the queues at once.
    with begun(worker_replicas=3) as (_, graph, _, optimizer):
        chief, *others = (queue.queue_ref.op.name for queue in optimizer._queues)
        ops = [op for op in graph.get_operations() if op.type == "QueueEnqueueManyV2"]
        by_queue = {op.inputs[0].op.name: op for op in ops if op.control_inputs}
        assert {op.inputs[0].op.name for op in by_queue[chief].control_inputs} == set(others)


def test_a_gradient_of_a_lost_session_is_never_used():
    with begun(worker_replicas=2, replicas_to_aggregate=1) as (session, graph, update, optimizer):
        optimizer.begin_epoch(session)
        optimizer.join(session)
        with graph.as_default():
            (count,) = {op for op in graph.get_operations() if op.type.endswith("NumAccumulated")}
        sending = threading.Thread(target=session.run, args=(update,), daemon=True)
        sending.start()
        while session.run(count.outputs[0]) == 0:
            pass
        optimizer.begin_epoch(session)
        assert session.run(count.outputs[0]) == 0
        sending.join()  # The token of the new session has freed it.


def test_other_workers_wait_until_the_chief_has_begun():
    with begun(worker_replicas=2, task=1) as (session, _, _, optimizer):
        assert not optimizer.has_begun(session)
        hook, coordinator = optimizer.session_hook(), tf.train.Coordinator()
        coming = threading.Thread(
            target=hook.after_create_session, args=(session, coordinator), daemon=True
        )
        coming.start()
        assert coming.is_alive()
        optimizer.begin_epoch(session)
        coming.join()
        assert optimizer.has_begun(session)


@pytest.mark.parametrize(("task", "threads"), [(0, 2), (1, 0)])
def test_only_the_chief_makes_updates(task, threads):
    with begun(worker_replicas=2, task=task) as (session, _, _, optimizer):
        if task:
            optimizer.begin_epoch(session)
        coordinator = tf.train.Coordinator()
        optimizer.session_hook().after_create_session(session, coordinator)
        names = [thread.name for thread in threading.enumerate()]
        coordinator.request_stop()
        assert names.count("sync_replicas") == threads


@pytest.mark.slow
def test_workers_that_wait_stop_when_another_one_has_ended():
    with begun(worker_replicas=2) as (session, _, update, optimizer):
        hook = optimizer.session_hook(is_over=lambda: True)
        coordinator = tf.train.Coordinator()
        hook.after_create_session(session, coordinator)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(update)
        coordinator.request_stop()


def test_sessions_end_with_the_training_or_its_error(variable_mode):
    # Within the time of this test: TensorFlow's own hook takes two minutes to end.
    with tf.Graph().as_default():
        weights, update, optimizer = graph_of_one_variable(RunOptions(sync_replicas=True))
        with tf.control_dependencies([update]):
            seen = weights.read_value()
        with tf.train.MonitoredSession(hooks=[optimizer.session_hook()]) as session:
            assert [session.run(seen) for _ in range(3)] == [0.5, 0.0, -0.5]
    with tf.Graph().as_default():
        rate = tf.debugging.check_numerics(tf.constant(float("nan")), "a rate that is no number")
        _, update, optimizer = graph_of_one_variable(RunOptions(sync_replicas=True), rate)
        hook = optimizer.session_hook()
        wrong = pytest.raises(tf.errors.InvalidArgumentError, match="a rate that is no number")
        with wrong, tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run(update)


@pytest.mark.slow
def test_a_worker_that_ended_closes_the_queues():
    with tf.Graph().as_default():
        _, update, optimizer = graph_of_one_variable(RunOptions(sync_replicas=True))
        hook = optimizer.session_hook(is_over=lambda: True)
        # A monitored session ends without an error then, as at the end of the input.
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            while not session.should_stop():
                session.run(update)


# Worker 0 has the gradient [1, 2], worker 1 the gradient [3, 6].
WORKER = """
import sys, json
import tensorflow.compat.v1 as tf
from tf_frame.cluster.find import find_cluster
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.placement import variables_placed
from tf_frame.deploy.session_config import make_deployment
from tf_frame.graph.update.sync_replicas import synchronous
target, task, mode = sys.argv[1], int(sys.argv[2]), sys.argv[3]
if mode == "reference":
    tf.disable_resource_variables()
config = RunOptions(sync_replicas=True, worker_replicas=2, num_ps_tasks=1, master=target, task=task)
cluster = find_cluster(config)
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
    assert {v.device for v in tf.local_variables()} == {deployment.optimizer_device()}
    if cluster.is_chief:
        creator = tf.train.ChiefSessionCreator(master=target)
    else:
        creator = tf.train.WorkerSessionCreator(master=target)
    hooks = [optimizer.session_hook()]
    with tf.train.MonitoredSession(creator, hooks) as session:
        print("ready", flush=True)
        for _ in range(4):
            print(json.dumps([each.tolist() for each in session.run(seen)]), flush=True)
"""


@pytest.mark.process
@pytest.mark.timeout(180)
@pytest.mark.parametrize("mode", ["resource", pytest.param("reference", marks=pytest.mark.slow)])
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
        errors = [worker.communicate(timeout=120)[1] for worker in workers]
        assert [worker.returncode for worker in workers] == [0, 0], errors
    finally:
        for worker in workers:
            worker.kill()
