"""tf.contrib.crf against all sequences of tags, summed or searched one by one."""

import itertools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
from tf_frame_legacy.contrib import crf

RANDOM = np.random.RandomState(0)
TAGS = 3
TRANSITIONS = RANDOM.normal(size=[TAGS, TAGS]).astype(np.float32)


def score(scores, tags, transitions=TRANSITIONS):
    steps = itertools.pairwise(tags)
    return sum(scores[range(len(tags)), tags]) + sum(transitions[step] for step in steps)


def scores_of_all(scores, length):
    all_tags = itertools.product(range(TAGS), repeat=length)
    return {tags: score(scores, list(tags)) for tags in all_tags}


def of_batch(time, lengths, dtype=np.int32):
    inputs = RANDOM.normal(size=[len(lengths), time, TAGS]).astype(np.float32)
    tags = RANDOM.randint(TAGS, size=[len(lengths), time]).astype(dtype)
    return inputs, tags, np.array(lengths, dtype)


def test_scores_that_tensorflow_published():
    """The example of the original's tests, computed by hand."""
    inputs = np.float32([[[4, 5, -3], [3, -1, 3], [-1, 2, 1], [0, 0, 0]]])
    transitions = np.float32([[-3, 5, -2], [3, 4, 1], [1, 2, 1]])
    arguments = np.int32([[1, 2, 1, 0]]), np.int32([3])
    with tf.Graph().as_default(), tf.Session() as session:
        unary = crf.crf_unary_score(*arguments, inputs)
        binary = crf.crf_binary_score(*arguments, transitions)
        both = crf.crf_sequence_score(inputs, *arguments, transitions)
        assert session.run([unary, binary, both]) == [[10.0], [3.0], [13.0]]


@pytest.mark.parametrize(
    ("time", "lengths", "dtype"),
    [(4, [4, 3, 1, 0], np.int32), (1, [1, 1, 0], np.int64)],
)
def test_equals_the_sum_over_all_sequences(time, lengths, dtype):
    inputs, tags, lengths = of_batch(time, lengths, dtype)
    bitmap = RANDOM.uniform(size=inputs.shape) < 0.5
    bitmap[:, :, 0] = True
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.placeholder(v.dtype, [None] * 2 + [TAGS] * (v.ndim == 3)) for v in (inputs, tags)]
        known = [tf.constant(v) for v in (lengths, TRANSITIONS)]
        likelihood, _ = crf.crf_log_likelihood(*fed, *known)
        several = crf.crf_multitag_sequence_score(fed[0], tf.constant(bitmap), *known)
        decoded = crf.crf_decode(fed[0], *known[::-1])
        fetches = [likelihood, several, *decoded]
        fetched = session.run(fetches, dict(zip(fed, (inputs, tags), strict=True)))
    likelihood, several, decoded, best_scores = fetched
    assert decoded.dtype == np.int32
    for row, length in enumerate(lengths):
        if length == 0:
            assert likelihood[row] == 0
            continue
        all_scores = scores_of_all(inputs[row], length)
        norm = np.log(np.sum(np.exp(list(all_scores.values()))))
        expected = all_scores[tuple(tags[row, :length])] - norm
        assert likelihood[row] == pytest.approx(expected, abs=1e-5)
        allowed = [s for t, s in all_scores.items() if bitmap[row, range(length), t].all()]
        assert several[row] == pytest.approx(np.log(np.sum(np.exp(allowed))), abs=1e-5)
        best = max(all_scores, key=all_scores.get)
        assert tuple(decoded[row, :length]) == best
        assert best_scores[row] == pytest.approx(all_scores[best], abs=1e-5)
        viterbi, viterbi_score = crf.viterbi_decode(inputs[row, :length], TRANSITIONS)
        assert tuple(viterbi) == best and viterbi_score == pytest.approx(best_scores[row], abs=1e-5)


def test_transitions_are_a_variable_of_the_scope(graph):
    inputs, tags, lengths = map(tf.constant, of_batch(2, [2, 2]))
    with tf.variable_scope("crf_loss"):
        likelihood, transitions = crf.crf_log_likelihood(inputs, tags, lengths)
    assert [v.op.name for v in tf.trainable_variables()] == ["crf_loss/transitions"]
    assert transitions.shape == [TAGS, TAGS]
    # A transition's gradient is its count less the expected count.
    (gradient,) = run_initialized(tf.gradients(likelihood, transitions))
    assert gradient.any() and gradient.sum() == pytest.approx(0, abs=1e-5)
