"""The queue of batches made ahead, and the block that runs queues."""

import threading

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.slim.prefetch_queue import prefetch_queue
from tf_frame_legacy.slim.queues import NestedQueueRunnerError, QueueRunners


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def counter(limit):
    """0, 1, 2 ... and then the end of the queue."""
    return tf.train.range_input_producer(limit, num_epochs=1, shuffle=False).dequeue()


def runners():
    return {r.name: r for r in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)}


def test_elements_come_in_order_and_then_the_queue_ends(session):
    number = counter(5)
    first, second = prefetch_queue([number, tf.stack([number, -number])], capacity=3).dequeue()
    session.run(tf.local_variables_initializer())
    with QueueRunners(session):
        for expected in range(5):
            a, b = session.run([first, second])
            assert (a, b.tolist()) == (expected, [expected, -expected])
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(first)


def test_several_threads_lose_nothing(session):
    number = prefetch_queue([counter(40)], num_threads=3).dequeue()
    assert len(runners()["prefetch_queue/fifo_queue"].enqueue_ops) == 3
    session.run(tf.local_variables_initializer())
    with QueueRunners(session):
        assert sorted(session.run(number) for _ in range(40)) == list(range(40))


def test_a_dict_comes_back_as_a_dict(session):
    queue = prefetch_queue({"b": tf.constant(2), "a": tf.constant(1.5)}, name="batches")
    assert queue.names == ["a", "b"]
    assert queue.dtypes == [tf.float32, tf.int32]
    batch = queue.dequeue()
    with QueueRunners(session):
        assert session.run(batch) == {"a": 1.5, "b": 2}


def test_names_capacity_and_summary_are_those_of_old(session):
    prefetch_queue([tf.zeros([2])], capacity=6, shared_name="shared")
    prefetch_queue([tf.zeros([2])], name="more", dynamic_pad=True)
    queue = session.graph.get_operation_by_name("prefetch_queue/fifo_queue")
    assert queue.get_attr("capacity") == 6
    assert queue.get_attr("shared_name") == b"shared"
    assert "more/padding_fifo_queue" in runners()
    tags = [summary.op.name for summary in tf.get_collection(tf.GraphKeys.SUMMARIES)]
    assert tags == ["prefetch_queue/fraction_of_6_full", "more/fraction_of_8_full"]
    assert b"\x00" not in session.run("prefetch_queue/fraction_of_6_full/tags:0")


def test_the_summary_is_the_part_that_is_full(session):
    queue = prefetch_queue([tf.zeros([])], capacity=4)
    (enqueue, *_) = runners()["prefetch_queue/fifo_queue"].enqueue_ops
    for _ in range(3):
        session.run(enqueue)
    (summary,) = tf.get_collection(tf.GraphKeys.SUMMARIES)
    value = tf.Summary.FromString(session.run(summary)).value[0].simple_value
    assert (value, session.run(queue.size())) == (0.75, 3)


def test_unknown_dimensions_want_padding(session):
    ones = tf.ones([counter(3) + 1], tf.int32)
    with pytest.raises(ValueError, match="shape"):
        prefetch_queue([ones])
    rows = prefetch_queue([ones], dynamic_pad=True).dequeue_many(3)
    session.run(tf.local_variables_initializer())
    with QueueRunners(session):
        np.testing.assert_array_equal(session.run(rows), np.tril(np.ones([3, 3])))


def test_queue_runners_end_with_the_block_and_cannot_be_nested(session):
    number = prefetch_queue([tf.constant(1)]).dequeue()
    before = threading.active_count()
    with QueueRunners(session):
        assert session.run(number) == 1
        with pytest.raises(NestedQueueRunnerError, match="QueueRunners cannot be nested"):
            QueueRunners(session).__enter__()
    assert threading.active_count() == before
    # The queue is closed for good; a thread that met that soon enough would end with an error.
    tf.get_default_graph().clear_collection(tf.GraphKeys.QUEUE_RUNNERS)
    # The lock is free again, also after an error in the block.
    with pytest.raises(KeyError), QueueRunners(session):
        raise KeyError
    with QueueRunners(session):
        pass
