import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.core.framework import dataset_options_pb2

from sessions import run_initialized
from tf_frame.deploy.clones import create_clones
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import variables_placed
from tf_frame.errors import DataError
from tf_frame.graph.inputs.pipeline import make_batches, make_eval_batch
from tf_frame.plugin import Input, InputContext, Mode


class Built(Input):
    """Returns what the test builds from the context."""

    def __init__(self, build):
        super().__init__(params=None)
        self.build = build

    def dataset(self, mode, context):
        self.mode = mode
        return self.build(context)


def counting(start, batch_size):
    """Numbers as features, and their negatives as labels."""
    numbers = tf.data.Dataset.range(start, start + 1000).batch(batch_size)
    return numbers.map(lambda n: (n, -n))


def make(build, deployment, batch_size=2):
    return make_batches(Built(build), Mode.TRAIN, InputContext(batch_size=batch_size), deployment)


def read_batches(build, *, num_clones, runs=1):
    """Builds an input in a graph of its own; returns its batches, run by run."""
    with tf.Graph().as_default():
        batches = make(build, DeploymentConfig(num_clones=num_clones, clone_on_cpu=True))
        with tf.train.MonitoredSession() as session:
            return [session.run(batches) for _ in range(runs)]


def count_from_0(context):
    return counting(0, context.batch_size)


def test_clones_take_turns_and_keep_features_and_labels_together():
    for step, batches in enumerate(read_batches(count_from_0, num_clones=4, runs=20)):
        firsts = [features[0] for features, _ in batches]
        assert firsts == [8 * step, 8 * step + 2, 8 * step + 4, 8 * step + 6]
    for (features, labels), *_ in read_batches(count_from_0, num_clones=1, runs=3):
        np.testing.assert_array_equal(features, -labels)


def test_the_input_lives_on_the_inputs_device_and_prefetches_two_batches_a_clone():
    with tf.Graph().as_default() as graph:
        make(count_from_0, DeploymentConfig(num_clones=2, num_ps_tasks=1))
        (iterator,) = [op for op in graph.get_operations() if op.type == "IteratorV2"]
        assert iterator.device == "/job:worker/device:CPU:0"
    with tf.Graph().as_default() as graph, tf.Session() as session:
        make(count_from_0, DeploymentConfig(num_clones=3, clone_on_cpu=True))
        (prefetch,) = [op for op in graph.get_operations() if op.type == "PrefetchDataset"]
        assert session.run(prefetch.inputs[1]) == 6


def test_an_input_that_yields_no_pair_is_named():
    for build in (
        lambda _: tf.data.Dataset.range(3),
        lambda _: [counting(0, 1), tf.data.Dataset.range(3)],
    ):
        with pytest.raises(DataError, match=r"Built.dataset\(\) returned a data set"):
            read_batches(build, num_clones=1)


@pytest.mark.filterwarnings("ignore:To make it possible to preserve")
@pytest.mark.parametrize(("said", "expected"), [(None, False), (True, True), (False, False)])
def test_autotune_is_off_unless_the_input_decides(said, expected):
    def build(context):
        options = tf.data.Options()
        if said is not None:
            options.autotune.enabled = said
        return count_from_0(context).with_options(options)

    with tf.Graph().as_default() as graph:
        make(build, DeploymentConfig())
        *_, last = [op for op in graph.get_operations() if op.type == "OptionsDataset"]
        options = dataset_options_pb2.Options.FromString(last.get_attr("serialized_options"))
        # An option that nobody set reads as False, too.
        assert options.autotune_options.HasField("enabled")
        assert options.autotune_options.enabled is expected


NO_DATA = {
    "None": None,
    "tuple": (1, 2),
    "iterator": iter([1]),
    "empty list": [],
    "mixed list": [lambda: 0, 1],
}


@pytest.mark.parametrize("returned", NO_DATA.values(), ids=NO_DATA.keys())
@pytest.mark.parametrize("evaluates", [False, True])
def test_an_input_that_returns_no_dataset_is_named(returned, evaluates):
    message = r"^Built\.dataset\(\) returned .*; it must return a tf\.data\.Dataset"
    with tf.Graph().as_default(), pytest.raises(DataError, match=message):
        if evaluates:
            make_eval_batch(Built(lambda _: returned), InputContext(batch_size=1), -1)
        else:
            make(lambda _: returned, DeploymentConfig())


def test_an_iterator_or_its_tensors_have_advice():
    with tf.Graph().as_default():
        iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.range(9))
        for returned in (iterator, iterator.get_next(), (iterator.get_next(),) * 2):
            with pytest.raises(DataError, match="; return the data set itself, without make_one_"):
                make(lambda _, returned=returned: returned, DeploymentConfig())


def queue_of_numbers(context, capacity=64):
    """A queue of the numbers from 0 and their negatives, filled by a queue runner."""
    numbers = tf.data.make_one_shot_iterator(tf.data.Dataset.range(1000)).get_next()
    queue = tf.FIFOQueue(capacity, [tf.int64, tf.int64], [[], []])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue((numbers, -numbers))]))
    return lambda: queue.dequeue_many(context.batch_size)


@pytest.mark.parametrize("kind", [list, tuple])
def test_several_data_sets_arrive_as_lists_with_batch_sizes_of_their_own(kind):
    def build(context):
        return kind((counting(0, context.batch_size), counting(100, 3)))

    for step, clones in enumerate(read_batches(build, num_clones=2, runs=2)):
        for index, (features, labels) in enumerate(clones):
            small, large = 2 * (2 * step + index), 100 + 3 * (2 * step + index)
            expected = [[small, small + 1], [large, large + 1, large + 2]]
            assert [part.tolist() for part in features] == expected
            assert [(-part).tolist() for part in labels] == expected


def test_lists_of_data_sets_and_queues():
    ((batch,),) = read_batches(lambda context: [counting(0, 1)], num_clones=1)
    features, labels = batch
    assert ([f.tolist() for f in features], [f.tolist() for f in labels]) == ([[0]], [[0]])

    def build(context):
        return [counting(10, 1), queue_of_numbers(context)]

    (((features, labels),),) = read_batches(build, num_clones=1)
    assert [part.tolist() for part in features] == [[10], [0, 1]]
    assert [part.tolist() for part in labels] == [[-10], [0, -1]]


def test_clones_take_batches_from_one_queue_in_turns():
    for step, batches in enumerate(read_batches(queue_of_numbers, num_clones=3, runs=4)):
        assert [features.tolist() for features, _ in batches] == [
            [first, first + 1] for first in range(6 * step, 6 * step + 6, 2)
        ]
        for features, labels in batches:
            np.testing.assert_array_equal(features, -labels)


def test_the_function_is_called_once_per_clone_on_the_inputs_device():
    devices = []

    def build(context):
        def take():
            batch = tf.random.stateless_uniform([2], [1, len(devices)])
            devices.append(batch.device)
            return batch, None

        return take

    with tf.Graph().as_default():
        batches = make(build, DeploymentConfig(num_clones=3, num_ps_tasks=1))
    assert devices == ["/job:worker/device:CPU:0"] * 3
    assert [labels for _, labels in batches] == [None, None, None]


def test_queues_of_tf_train_fill_and_pad():
    def build(context):
        numbers = tf.train.range_input_producer(1000, shuffle=False).dequeue()
        examples = tf.train.batch([numbers, -numbers], context.batch_size, capacity=10)
        queue = tf.FIFOQueue(8, [tf.int32, tf.int32])
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(examples)]))
        return queue.dequeue

    (batches,) = read_batches(build, num_clones=2)
    assert [features.tolist() for features, _ in batches] == [[0, 1], [2, 3]]

    def build(context):
        length = tf.cast(
            tf.data.make_one_shot_iterator(tf.data.Dataset.range(1, 9)).get_next(), tf.int32
        )
        queue = tf.PaddingFIFOQueue(8, [tf.int32, tf.int32], [[None], []])
        enqueue = queue.enqueue((tf.range(length) + 1, length))
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [enqueue]))
        return lambda: queue.dequeue_many(context.batch_size)

    (((features, labels),),) = read_batches(build, num_clones=1)
    assert (features.tolist(), labels.tolist()) == ([[1, 0], [1, 2]], [1, 2])


@pytest.mark.parametrize(
    "batch",
    [None, 1, (1, 2, 3), (1, 2), {"image": 1, "label": 2}],
    ids=["None", "number", "triple", "numbers", "dictionary"],
)
def test_a_function_that_returns_no_pair_of_tensors_is_named(batch):
    message = r"function that Built\.dataset\(\) returned must return tensors as \(features, labels"
    with pytest.raises(DataError, match=message):
        read_batches(lambda _: lambda: batch, num_clones=1)


def test_the_same_tensors_for_every_clone_are_refused_but_one_may_be_shared():
    def build(context):
        batch = tf.constant([1.0]), tf.constant([2.0])
        return lambda: batch

    with pytest.raises(DataError, match="the same tensors to every clone"):
        read_batches(build, num_clones=2)
    (((features, _),),) = read_batches(build, num_clones=1)
    assert features.tolist() == [1.0]

    def build(context):
        shared, take = tf.constant([7]), queue_of_numbers(context)
        return lambda: (take()[0], shared)

    (((first, _), (second, _)),) = read_batches(build, num_clones=2)
    assert (first.tolist(), second.tolist()) == ([0, 1], [2, 3])


def test_sparse_features_keep_their_turn():
    def build(context):
        eyes = tf.data.Dataset.range(8).map(
            lambda n: (tf.SparseTensor([[n]], [n], [8]), n), num_parallel_calls=1
        )
        return eyes.batch(1)

    (batches,) = read_batches(build, num_clones=2)
    assert [features.values.tolist() for features, _ in batches] == [[0], [1]]


def test_tables_of_a_pipeline_stay_on_the_inputs_device():
    def build(context):
        words = tf.lookup.KeyValueTensorInitializer(["0", "1"], tf.constant([5, 6], tf.int64))
        table = tf.lookup.StaticHashTable(words, -1)
        tables.append(table.resource_handle)
        return counting(0, 1).map(lambda n, _: (n, table.lookup(tf.as_string(n))))

    tables = []
    config = DeploymentConfig(num_clones=2, clone_on_cpu=True)
    in_cluster = DeploymentConfig(num_ps_tasks=2)
    for deployment in (in_cluster, config):
        with tf.Graph().as_default(), variables_placed(deployment):
            batches = make(build, deployment)
            assert tables[-1].device == deployment.inputs_device()
            if deployment is config:
                assert [labels[0] for _, labels in run_initialized(batches)] == [5, 6]


def test_each_clone_builds_with_a_batch_of_every_member():
    config = DeploymentConfig(num_clones=2, clone_on_cpu=True)
    with tf.Graph().as_default(), variables_placed(config):
        batches = iter(make(lambda _: [counting(0, 1), counting(50, 2)], config))
        clones = create_clones(config, lambda: tf.concat(next(batches)[0], axis=0))
        outputs = run_initialized([clone.outputs for clone in clones])
    assert [output.tolist() for output in outputs] == [[0, 50, 51], [1, 52, 53]]


def evaluated(build, take=-1):
    """Batches of one evaluation, and whether its data is known to be endless."""
    source, batches = Built(build), []
    with tf.Graph().as_default():
        batch = make_eval_batch(source, InputContext(batch_size=2), take)
        assert source.mode == Mode.EVAL
        with tf.train.MonitoredSession() as session:
            endless = session.run(batch[2])
            # Data that never ends is left after ten batches.
            while not session.should_stop() and len(batches) < 10:
                batches.append(session.run(batch[:2]))
    return batches, endless


def few(count):
    return counting(0, 2).take(count)


DATA = {
    "finite": (lambda context: few(3), -1, 3, False),
    "finite, fewer": (lambda context: few(3), 2, 2, False),
    "endless": (lambda context: few(3).repeat(), -1, 10, True),
    "endless, some": (lambda context: few(3).repeat(), 4, 4, False),
    "a list ends with the shortest": (lambda context: [few(3), few(2)], -1, 2, False),
    "a list of one endless": (lambda context: [few(3), few(2).repeat()], -1, 3, False),
    "a list of endless ones": (lambda context: [few(3).repeat(), few(2).repeat()], -1, 10, True),
    "a list, some": (lambda context: [few(3), few(2).repeat()], 1, 1, False),
    # Who runs the steps counts them.
    "queue, some": (lambda context: queue_of_numbers(context), 4, 10, False),
    "queue and data": (lambda context: [few(2), queue_of_numbers(context)], -1, 2, False),
}


@pytest.mark.parametrize("name", DATA)
def test_an_evaluation_takes_as_many_batches_as_there_are(name):
    build, take, expected, is_endless = DATA[name]
    batches, endless = evaluated(build, take)
    assert (len(batches), endless) == (expected, is_endless)


def test_evaluations_of_queues():
    def build(context):
        number = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
        batch = tf.train.batch([number, -number], context.batch_size)
        return lambda: batch

    batches, endless = evaluated(build)
    assert [features.tolist() for features, _ in batches] == [[0, 1], [2, 3], [4, 5]]
    assert not endless
    batches, _ = evaluated(queue_of_numbers, 3)
    for features, labels in batches:
        np.testing.assert_array_equal(features, -labels)
