"""Tiled batches and paths of beams."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.contrib import seq2seq
from tf_frame_legacy.contrib.seq2seq.beams import gather_tree_from_array


def by_time(rows):
    return np.int32(rows).transpose([1, 0, 2])


def follow(ids, parents, lengths, end_token):
    """Follows each beam back from the end, as the kernel of TensorFlow 1.15 did."""
    beams = np.full(ids.shape, end_token)
    for batch, beam in np.ndindex(*ids.shape[1:]):
        length, at = min(lengths[batch], len(ids)), beam
        for time in reversed(range(length)):
            beams[time, batch, beam] = ids[time, batch, at]
            at = parents[time, batch, at]
        path = list(beams[:, batch, beam])
        if end_token in path:
            beams[path.index(end_token) :, batch, beam] = end_token
    return beams


def test_gather_tree(graph):
    # Values of TensorFlow's beam_search_ops_test, with -1 and 10 as end tokens.
    ids = by_time([[[1, 2, 3], [4, 5, 6], [7, 8, 9], [-1, -1, -1]]])
    parents = by_time([[[0, 0, 0], [0, 1, 1], [2, 1, 2], [-1, -1, -1]]])
    beams = seq2seq.gather_tree(ids, parents, max_sequence_lengths=[3], end_token=10)
    random = np.random.RandomState(0)
    many_ids = random.randint(0, 5, (6, 4, 3)).astype(np.int32)
    many_parents = random.randint(0, 3, (6, 4, 3)).astype(np.int32)
    lengths = np.int32([0, 3, 6, 9])
    many = seq2seq.gather_tree(many_ids, many_parents, lengths, end_token=4)
    wrong = parents.copy()
    wrong[1, 0, 1] = -1
    bad = seq2seq.gather_tree(ids, wrong, [3], end_token=10)
    assert beams.shape.as_list() == [4, 1, 3]
    with tf.Session() as session:
        expected = by_time([[[2, 2, 2], [6, 5, 6], [7, 8, 9], [10, 10, 10]]])
        np.testing.assert_array_equal(session.run(beams), expected)
        np.testing.assert_array_equal(session.run(many), follow(many_ids, many_parents, lengths, 4))
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(bad)


@pytest.mark.slow
def test_gather_tree_from_array(graph):
    random = np.random.RandomState(1)
    array = random.randn(5, 2, 3, 4).astype(np.float32)
    parents = random.randint(0, 3, (5, 2, 3)).astype(np.int32)
    lengths = np.int64([[5, 3, 4], [2, 1, 2]])
    tensors = [
        gather_tree_from_array(tf.constant(array), tf.constant(parents), tf.constant(lengths)),
        gather_tree_from_array(
            tf.constant(array.reshape(5, 6, 4)), tf.constant(parents), tf.constant(lengths)
        ),
    ]
    own = np.tile(np.arange(3), (5, 2, 1))
    order = follow(own, parents, lengths.max(1), end_token=9)
    order = np.where(np.arange(5)[:, None, None] < lengths, order, own)
    expected = np.take_along_axis(array, order[..., None], axis=2)
    with tf.Session() as session:
        apart, merged = session.run(tensors)
    np.testing.assert_array_equal(apart, expected)
    np.testing.assert_array_equal(merged, expected.reshape(5, 6, 4))


def test_tile_batch(graph):
    tensors = {"a": tf.placeholder_with_default([[1, 2], [3, 4]], [None, 2]), "b": tf.constant([5])}
    tiled = seq2seq.tile_batch(tensors, 3)
    with tf.Session() as session:
        values = session.run(tiled)
    np.testing.assert_array_equal(values["a"], [[1, 2]] * 3 + [[3, 4]] * 3)
    np.testing.assert_array_equal(values["b"], [5] * 3)
    assert tiled["a"].shape.as_list() == [None, 2]
    assert tiled["b"].shape.as_list() == [3]
    with pytest.raises(ValueError, match="known rank"):
        seq2seq.tile_batch(tf.constant(1), 2)
