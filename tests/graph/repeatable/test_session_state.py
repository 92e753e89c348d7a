"""What a session keeps from one evaluation to the next."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.graph.repeatable.session_state import kept_by_session


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize(
    "make, kind",
    [
        (lambda: tf.FIFOQueue(2, tf.float32), "FIFOQueueV2"),
        (lambda: tf.RandomShuffleQueue(4, 1, tf.float32), "RandomShuffleQueueV2"),
        (lambda: tf.PaddingFIFOQueue(4, [tf.float32], [[None]]), "PaddingFIFOQueueV2"),
        (lambda: tf.PriorityQueue(4, [tf.float32], [[]]), "PriorityQueueV2"),
        (lambda: tf.TFRecordReader(), "TFRecordReaderV2"),
        (
            lambda: tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)),
            "OneShotIterator",
        ),
        (
            lambda: tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0),
            "MutableHashTableV2",
        ),
        (
            lambda: tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, 0, -1, -2),
            "MutableDenseHashTableV2",
        ),
        (lambda: tf.ConditionalAccumulator(tf.float32), "ResourceConditionalAccumulator"),
    ],
)
def test_queues_and_the_like_count_wherever_they_are(make, kind):
    make()
    assert kept_by_session([tf.constant(1)]).startswith(f"{kind} '")


def test_what_can_be_set_back_does_not_count(variable_mode):
    dataset = (
        tf.data.Dataset.range(9).shuffle(9).map(lambda x: x + tf.random.uniform([], 0, 9, tf.int64))
    )
    batch = tf.data.make_initializable_iterator(dataset).get_next()
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer([0], [1], tf.int64, tf.int64), default_value=0
    )
    weights = tf.get_variable("w", [3], initializer=tf.random_normal_initializer())
    stateless = tf.random.stateless_uniform([3], seed=[1, 2])
    value, update = tf.metrics.mean(tf.cast(table.lookup(batch), tf.float32) * weights + stateless)
    assert kept_by_session([value, update]) == ""


def draw():
    return tf.random.normal([3])


def draw_in_loop():
    return tf.while_loop(lambda x: x < 3.0, lambda x: x + tf.random.uniform([]), [0.0])


def draw_in_branch_of_branch():
    def branch():
        return tf.cond(tf.constant(True), lambda: tf.random.uniform([]), lambda: 0.0)

    return tf.cond(tf.constant(True), branch, lambda: 0.0)


def draw_in_one_of_several_branches():
    branches = {0: lambda: tf.constant(0.0), 1: lambda: tf.random.uniform([])}
    return tf.compat.v2.switch_case(tf.constant(1), branches, default=lambda: tf.constant(1.0))


@pytest.mark.parametrize(
    "make", [draw, draw_in_loop, draw_in_branch_of_branch, draw_in_one_of_several_branches]
)
@pytest.mark.parametrize("control_flow", ["v1", "v2"])
def test_random_numbers_count_where_they_are_drawn_for_what_is_run(make, control_flow):
    if control_flow == "v1":
        tf.disable_control_flow_v2()
    try:
        drawn = make()
    finally:
        tf.enable_control_flow_v2()
    assert kept_by_session([drawn + 1.0]).startswith("random numbers, Random")
    assert kept_by_session([tf.constant(1)]) == ""


def test_a_resource_of_the_evaluation_counts():
    tf.add_to_collection(tf.GraphKeys.LOCAL_RESOURCES, tf.constant(1))
    assert kept_by_session([tf.constant(1)]) == "a local resource"
