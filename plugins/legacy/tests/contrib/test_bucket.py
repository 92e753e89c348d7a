"""Buckets of queues, and the strategies of parameter servers, of tf.contrib.training."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib import bucket, device_setter


def batches(lengths, **arguments):
    """The batches of a bucket queue over sequences of these lengths."""
    with tf.Graph().as_default():
        length = tf.train.input_producer(lengths, num_epochs=1, shuffle=False).dequeue()
        found, made = bucket.bucket_by_sequence_length(
            length,
            {"words": tf.fill([length], length), "twice": 2 * length},
            dynamic_pad=True,
            **arguments,
        )
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            results = []
            while True:
                try:
                    results.append(session.run([found, made["words"]]))
                except tf.errors.OutOfRangeError:
                    break
            coordinator.request_stop()
            coordinator.join(threads)
        return made["words"].shape.as_list(), results


def test_batches_have_similar_lengths():
    lengths = [1, 5, 2, 9, 4, 1, 7, 3, 6, 2]
    shape, results = batches(
        lengths, batch_size=2, bucket_boundaries=[3, 6], allow_smaller_final_batch=True
    )
    assert shape == [None, None]
    assert sorted(np.concatenate([found for found, _ in results])) == sorted(lengths)
    for found, words in results:
        assert len({(n >= 3) + (n >= 6) for n in found}) == 1
        assert words.shape == (len(found), max(found))
        assert [list(row[row > 0]) for row in words] == [[n] * n for n in found]
    assert sorted(len(found) for found, _ in results) == [1, 1, 2, 2, 2, 2]


def test_incomplete_batches_are_left_out():
    shape, results = batches([1, 8, 1, 1], batch_size=2, bucket_boundaries=[3])
    assert shape == [2, None]
    assert [list(found) for found, _ in results] == [[1, 1]]


@pytest.mark.parametrize(
    "boundaries, error, message",
    [
        (3, TypeError, "must be a list"),
        ([], ValueError, "must not be empty"),
        ([3, 3], ValueError, "3 before 3"),
        ([1.0, 2], TypeError, "must be integers"),
    ],
)
def test_wrong_boundaries(boundaries, error, message):
    with pytest.raises(error, match=message):
        bucket.bucket_by_sequence_length(1, [tf.constant(1)], 2, boundaries)


def test_strategies(variable_mode):
    greedy = device_setter.GreedyLoadBalancingStrategy(2, device_setter.byte_size_load_fn)
    setter = tf.train.replica_device_setter(ps_tasks=2, ps_strategy=greedy)
    with tf.Graph().as_default(), tf.device(setter):
        variables = [tf.get_variable(f"v{n}", [n]) for n in (5, 1, 2, 3)]
        tasks = [tf.DeviceSpec.from_string(v.device).task for v in variables]
        assert tasks == [0, 1, 1, 1]
        hashed = device_setter.RandomStrategy(3)
        # MD5 sums of `v5_0` and the others, modulo 3, by hand.
        assert [hashed(variable.op) for variable in variables] == [1, 2, 1, 2]


def test_structures_of_a_single_tensor():
    with tf.Graph().as_default():
        word = tf.constant([1, 2])
        number, batch = bucket.bucket([word], 0, 3, 2)
        assert (number.shape.as_list(), batch.shape.as_list()) == ([], [3, 2])
        _, (batch,) = bucket.bucket_by_sequence_length(2, [word], [3, 4], [5])
        assert batch.shape.as_list() == [None, 2]
    with pytest.raises(ValueError, match="must have 2 elements"):
        bucket.bucket([1], 0, [3], 2)
    with pytest.raises(ValueError, match="at least one tensor"):
        bucket.bucket([], 0, 3, 2)
