"""Attention mechanisms against NumPy."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame_legacy import layers
from tf_frame_legacy.contrib import seq2seq
from tf_frame_legacy.contrib.seq2seq.attention import (
    _BaseAttentionMechanism,
    _maybe_mask_score,
    _prepare_memory,
)

pytestmark = pytest.mark.usefixtures("variable_mode")

random = np.random.RandomState(0)
MEMORY = random.randn(2, 4, 3).astype(np.float32)
QUERY = random.randn(2, 5).astype(np.float32)
PREVIOUS = np.float32([[0.2, 0.5, 0.3, 0.0], [1.0, 0.0, 0.0, 0.0]])
LENGTHS = [3, 4]
VALID = np.arange(4) < np.array(LENGTHS)[:, None]


def softmax(scores):
    exponentials = np.exp(np.where(VALID, scores, -np.inf))
    return exponentials / exponentials.sum(1, keepdims=True)


def sigmoid(scores):
    return 1 / (1 + np.exp(-np.where(VALID, scores, -np.inf)))


def monotonic(p, previous):
    """The recurrence of the paper, value by value."""
    attention = np.zeros_like(p)
    for row in range(len(p)):
        reached = 0.0
        for i in range(p.shape[1]):
            reached = reached * (1 - p[row, i - 1] if i else 1) + previous[row, i]
            attention[row, i] = p[row, i] * reached
    return attention


def attend(mechanism, query=QUERY):
    """Returns the alignments, and the variables by the last part of their names."""
    alignments, state = mechanism(tf.constant(query), tf.constant(PREVIOUS))
    assert state is alignments
    with initialized_session() as session:
        variables = tf.global_variables()
        seeds = np.random.RandomState(1)
        for variable in variables:
            value = np.asarray(seeds.uniform(-1, 1, variable.shape.as_list()), np.float32)
            variable.load(value, session)
        values = session.run([alignments, *variables])
    names = [variable.op.name.replace("/kernel", "") for variable in variables]
    return values[0], dict(zip(names, values[1:], strict=True))


def luong_scores(names, scope, scale=1.0):
    keys = (MEMORY * VALID[..., None]) @ names["memory_layer"]
    return scale * np.einsum("bu,btu->bt", QUERY, keys)


def bahdanau_scores(names, scope, normalize):
    keys = (MEMORY * VALID[..., None]) @ names["memory_layer"]
    hidden = keys + (QUERY @ names[f"{scope}/query_layer"])[:, None]
    v = names[f"{scope}/attention_v"]
    if normalize:
        v = names[f"{scope}/attention_g"] * v / np.sqrt((v**2).sum())
        hidden += names[f"{scope}/attention_b"]
    return (v * np.tanh(hidden)).sum(2)


@pytest.mark.parametrize("scale", [pytest.param(False, marks=pytest.mark.slow), True])
def test_luong(graph, scale):
    alignments, names = attend(seq2seq.LuongAttention(5, MEMORY, LENGTHS, scale=scale))
    factor = names["luong_attention/attention_g"] if scale else 1.0
    expected = softmax(luong_scores(names, "luong_attention", factor))
    np.testing.assert_allclose(alignments, expected, rtol=1e-5)
    assert len(names) == 1 + scale


@pytest.mark.parametrize("normalize", [pytest.param(False, marks=pytest.mark.slow), True])
def test_bahdanau(graph, normalize):
    alignments, names = attend(seq2seq.BahdanauAttention(6, MEMORY, LENGTHS, normalize=normalize))
    expected = softmax(bahdanau_scores(names, "bahdanau_attention", normalize))
    np.testing.assert_allclose(alignments, expected, rtol=1e-5)
    assert len(names) == 3 + 2 * normalize


def test_bahdanau_monotonic(graph):
    mechanism = seq2seq.BahdanauMonotonicAttention(6, MEMORY, LENGTHS, mode="recursive")
    alignments, names = attend(mechanism)
    scope = "bahdanau_monotonic_attention"
    scores = bahdanau_scores(names, scope, False) + names[f"{scope}/attention_score_bias"]
    np.testing.assert_allclose(alignments, monotonic(sigmoid(scores), PREVIOUS), rtol=1e-5)
    first = mechanism.initial_state(2, tf.float32)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(first), [[1, 0, 0, 0]] * 2)


def test_luong_monotonic(graph):
    alignments, names = attend(
        seq2seq.LuongMonotonicAttention(5, MEMORY, LENGTHS, scale=True, mode="hard")
    )
    scope = "luong_monotonic_attention"
    scores = luong_scores(names, scope, names[f"{scope}/attention_g"])
    scores += names[f"{scope}/attention_score_bias"]
    chosen = (np.where(VALID, scores, -np.inf) > 0).astype(float)
    np.testing.assert_allclose(alignments, monotonic(chosen, PREVIOUS), rtol=1e-5)


def test_initial_values_of_variables(graph):
    monotonic = seq2seq.BahdanauMonotonicAttention(4, MEMORY, normalize=True, score_bias_init=-3.0)
    monotonic(tf.constant(QUERY), tf.constant(PREVIOUS))
    seq2seq.LuongAttention(5, MEMORY, scale=True)(tf.constant(QUERY), None)
    with initialized_session() as session:
        values = {v.op.name: session.run(v) for v in tf.global_variables()}
    assert values["bahdanau_monotonic_attention/attention_score_bias"] == -3.0
    assert values["bahdanau_monotonic_attention/attention_g"] == 0.5  # sqrt(1 / 4)
    assert not values["bahdanau_monotonic_attention/attention_b"].any()
    assert values["luong_attention/attention_g"] == 1.0


def test_monotonic_attention_in_all_modes(graph):
    p = random.uniform(0.05, 0.95, (3, 6)).astype(np.float32)
    previous = random.dirichlet(np.ones(6), 3).astype(np.float32)
    hard = np.round(p)
    tensors = [
        seq2seq.monotonic_attention(p, previous, "recursive"),
        seq2seq.monotonic_attention(p, previous, "parallel"),
        seq2seq.monotonic_attention(hard, np.eye(6, dtype=np.float32)[[0, 2, 5]], "hard"),
        seq2seq.safe_cumprod(tf.constant([[0.5, 0.25, 0.0]]), axis=1, exclusive=True),
        seq2seq.hardmax(tf.constant([[1.0, 3.0, 2.0], [-1.0, -2.0, -3.0]])),
    ]
    with tf.Session() as session:
        recursive, parallel, chosen, product, one_hot = session.run(tensors)
    np.testing.assert_allclose(recursive, monotonic(p, previous), rtol=1e-5)
    np.testing.assert_allclose(parallel, monotonic(p, previous), rtol=1e-4)
    np.testing.assert_array_equal(chosen, monotonic(hard, np.eye(6)[[0, 2, 5]]))
    np.testing.assert_allclose(product, [[1.0, 0.5, 0.125]], rtol=1e-6)
    np.testing.assert_array_equal(one_hot, [[0, 1, 0], [1, 0, 0]])
    with pytest.raises(ValueError, match="mode must be"):
        seq2seq.monotonic_attention(p, previous, "soft")


@pytest.mark.slow
def test_noise_has_its_deviation_and_seed(graph):
    def alignments(seed):
        mechanism = seq2seq.LuongMonotonicAttention(
            3, np.zeros([2, 4, 3], np.float32), sigmoid_noise=2.0, sigmoid_noise_seed=seed
        )
        return mechanism(tf.zeros([2, 3]), tf.constant([[1.0, 0, 0, 0]] * 2))[0]

    tensors = [alignments(1), alignments(1), alignments(2), tf.random_normal([2, 4], seed=1)]
    with initialized_session() as session:
        first, again, other, normal = session.run(tensors)
    p = 1 / (1 + np.exp(-2.0 * normal))
    np.testing.assert_allclose(first, monotonic(p, np.eye(4)[[0, 0]]), rtol=1e-4)
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_masks(graph):
    scores = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    lengths = tf.placeholder_with_default([1, 2], [None])
    memory = _prepare_memory({"a": tf.ones([2, 2, 1, 2])}, memory_mask=[[True, False]] * 2)
    masked = _maybe_mask_score(scores, memory_sequence_length=lengths, score_mask_value=-7.0)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(masked), [[1, -7], [3, 4]])
        np.testing.assert_array_equal(session.run(memory["a"])[:, :, 0, 0], [[1, 0], [1, 0]])
        with pytest.raises(tf.errors.InvalidArgumentError, match="greater than zero"):
            session.run(masked, {lengths: [0, 2]})
    with pytest.raises(ValueError, match="same time"):
        _prepare_memory(scores, [1, 2], memory_mask=[[True, False]] * 2)


def test_custom_keys_and_values(graph):
    mechanism = seq2seq.LuongAttention(
        5, MEMORY, custom_key_value_fn=lambda keys, values: (keys * 0.0, values + 1.0)
    )
    alignments, _ = mechanism(tf.constant(QUERY), None)
    with initialized_session() as session:
        np.testing.assert_allclose(session.run(alignments), np.full([2, 4], 0.25))
        np.testing.assert_allclose(session.run(mechanism.values), MEMORY + 1.0)
    assert (mechanism.batch_size, mechanism.alignments_size, mechanism.state_size) == (2, 4, 4)


def test_errors(graph):
    with pytest.raises(ValueError, match="Incompatible or unknown inner dimensions"):
        seq2seq.LuongAttention(4, MEMORY)(tf.constant(QUERY), None)
    with pytest.raises(ValueError, match="fully defined inner dims"):
        seq2seq.LuongAttention(4, tf.placeholder(tf.float32, [2, 3, None]))
    with pytest.raises(TypeError, match="query_layer is not a Layer: function"):
        _BaseAttentionMechanism(lambda x: x, MEMORY, tf.nn.softmax)
    with pytest.raises(TypeError, match="probability_fn must be callable"):
        _BaseAttentionMechanism(layers.Dense(3), MEMORY, "softmax")
