"""Beam search against a search in NumPy, with a cell that looks its logits up by token."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.keras.layers.legacy_rnn import rnn_cell_impl

from sessions import initialized_session
from tf_frame_legacy import layers
from tf_frame_legacy.contrib import seq2seq
from tf_frame_legacy.contrib.seq2seq.beam_search_step import (
    BeamSearchDecoderState,
    _beam_search_step,
    _get_scores,
    _mask_probs,
)

pytestmark = pytest.mark.usefixtures("control_flow_of_v1", "variable_mode")

WORDS, END, STEPS = 5, 0, 4
TABLE = (2 * np.random.RandomState(3).randn(WORDS, WORDS)).astype(np.float32)


class Bigrams(rnn_cell_impl.RNNCell):
    """Logits of the next token for the one-hot last token; the state counts the steps."""

    output_size = WORDS
    state_size = 1

    def call(self, inputs, state):
        return tf.matmul(inputs, tf.constant(TABLE)), state + 1.0


def search(start, width, penalty):
    """Returns tokens and scores of the best sequences, the best `width` kept in each step.

    The end token adds no length to the score in its step, and one in later steps.
    """
    log_probs = TABLE - np.log(np.exp(TABLE).sum(1, keepdims=True))
    beams = [([], 0.0, 0, None)]
    for _ in range(STEPS):
        nexts = []
        for tokens, log_prob, length, _ in beams:
            if END in tokens:
                nexts.append((tokens, log_prob, length, score(log_prob, length, penalty)))
                continue
            for word, more in enumerate(log_probs[tokens[-1] if tokens else start]):
                counted = length + (word != END)
                new_score = score(log_prob + more, counted, penalty)
                nexts.append(([*tokens, word], log_prob + more, length + 1, new_score))
        beams = sorted(nexts, key=lambda beam: -beam[-1])[:width]
    return [tokens + [END] * (STEPS - len(tokens)) for tokens, *_ in beams], [
        beam[-1] for beam in beams
    ]


def score(log_prob, length, penalty):
    return log_prob / ((5 + length) / 6) ** penalty


def decode(width, penalty, starts=(1, 4), **kwargs):
    cell = Bigrams()
    decoder = seq2seq.BeamSearchDecoder(
        cell,
        lambda ids: tf.one_hot(ids, WORDS),
        tf.constant(starts),
        END,
        cell.zero_state(len(starts) * width, tf.float32),
        width,
        length_penalty_weight=penalty,
    )
    return seq2seq.dynamic_decode(decoder, maximum_iterations=STEPS, **kwargs)


@pytest.mark.parametrize(
    ("width", "penalty"), [(4, 1.2), pytest.param(3, 0.0, marks=pytest.mark.slow)]
)
def test_best_sequences(graph, width, penalty):
    outputs, state, _ = decode(width, penalty)
    tensors = [outputs.predicted_ids, outputs.beam_search_decoder_output.scores, state.lengths]
    with tf.Session() as session:
        ids, scores, lengths = session.run(tensors)
    for row, start in enumerate((1, 4)):
        paths, expected = search(start, width, penalty)
        np.testing.assert_array_equal(ids[row].T, paths)
        np.testing.assert_allclose(scores[row, -1], expected, rtol=1e-5)
        ends = [path.index(END) + 1 if END in path else STEPS for path in paths]
        assert list(lengths[row]) == ends


@pytest.mark.slow
def test_the_loop_ends_with_all_beams(graph):
    cell = Bigrams()
    decoder = seq2seq.BeamSearchDecoder(
        cell, lambda ids: tf.one_hot(ids, WORDS), [1], END, cell.zero_state(1, tf.float32), 1
    )
    outputs, state, _ = seq2seq.dynamic_decode(
        decoder, maximum_iterations=100, output_time_major=True
    )
    with tf.Session() as session:
        ids, count = session.run([outputs.predicted_ids, state.cell_state])
    path = list(ids[:, 0, 0])
    last, expected = 1, []
    while last != END and len(expected) < 100:
        last = int(TABLE[last].argmax())
        expected.append(last)
    assert path == expected
    assert count.item() == len(expected)


def test_attention_cell(graph):
    """Static shapes, variables, the order of the alignments; coverage needs attention."""
    batch, width = 2, 3
    memory = tf.placeholder_with_default(
        np.random.RandomState(0).randn(batch, 4, 3).astype(np.float32), [None, None, 3]
    )
    with tf.variable_scope("decoder") as scope:
        mechanism = seq2seq.LuongAttention(
            3,
            seq2seq.tile_batch(memory, width),
            memory_sequence_length=seq2seq.tile_batch(tf.constant([2, 4]), width),
        )
        cell = seq2seq.AttentionWrapper(
            rnn_cell_impl.LSTMCell(3), mechanism, attention_layer_size=3, alignment_history=True
        )
        embedding = tf.get_variable("embedding", [WORDS, 3])
        decoder = seq2seq.BeamSearchDecoder(
            cell,
            embedding,
            tf.fill([tf.shape(memory)[0]], 1),
            END,
            cell.zero_state(tf.shape(memory)[0] * width, tf.float32),
            width,
            output_layer=layers.Dense(WORDS, use_bias=False, name="projection"),
            coverage_penalty_weight=0.2,
        )
        outputs, state, lengths = seq2seq.dynamic_decode(
            decoder, maximum_iterations=STEPS, scope=scope
        )
    assert isinstance(outputs, seq2seq.FinalBeamSearchDecoderOutput)
    assert outputs.predicted_ids.shape.as_list() == [batch, None, width]
    names = {variable.op.name for variable in tf.global_variables()}
    assert names == {
        "decoder/embedding",
        "decoder/memory_layer/kernel",
        "decoder/attention_wrapper/lstm_cell/kernel",
        "decoder/attention_wrapper/lstm_cell/bias",
        "decoder/attention_wrapper/attention_layer/kernel",
        "decoder/projection/kernel",
    }
    with initialized_session() as session:
        values = session.run([outputs, state, lengths])
    history = values[1].cell_state.alignment_history.reshape(-1, batch, width, 4)
    np.testing.assert_allclose(history.sum(3), 1.0, rtol=1e-5)
    assert not history[:, 0, :, 2:].any()
    # Attention is summed while a beam is not finished.
    summed = values[1].accumulated_attention_probs.sum(2)
    np.testing.assert_allclose(summed, values[1].lengths, rtol=1e-5)
    with pytest.raises(ValueError, match=r"must be 0\.0 if no cell is attentional"):
        decoder = seq2seq.BeamSearchDecoder(
            Bigrams(), embedding, [1], END, tf.zeros([2, 1]), 2, coverage_penalty_weight=0.1
        )
        decoder.initialize()


def test_step_values(graph):
    # Values of TensorFlow's beam_search_decoder_test (test_step_with_eos).
    logits = np.full([2, 3, 5], 0.0001, np.float32)
    logits[0, 0, 2:4] = 1.9, 2.1
    logits[0, 1, 3:] = 3.1, 0.9
    logits[1, 0, 1] = 0.5
    logits[1, 1, 2] = 5.7
    logits[1, 2, 2:4] = 1.0, 0.2
    state = BeamSearchDecoderState(
        cell_state=tf.zeros([2, 3]),
        log_probs=tf.nn.log_softmax(tf.ones([2, 3])),
        lengths=tf.constant([[2, 1, 2], [2, 2, 1]], tf.int64),
        finished=tf.constant([[False, True, False], [False, False, True]]),
        accumulated_attention_probs=(),
    )
    step = _beam_search_step(
        time=2,
        logits=tf.constant(logits),
        next_cell_state=state.cell_state,
        beam_state=state,
        batch_size=tf.constant(2),
        beam_width=3,
        end_token=0,
        length_penalty_weight=0.6,
        coverage_penalty_weight=0.0,
    )
    masked = _mask_probs(tf.constant(logits), 0, np.array([[False, True, False]] * 2))
    with tf.Session() as session:
        outputs, next_state = session.run(step)
        rows = session.run(masked)
    assert outputs.parent_ids.tolist() == [[1, 0, 0], [1, 2, 0]]
    assert outputs.predicted_ids.tolist() == [[0, 3, 2], [2, 0, 1]]
    assert next_state.lengths.tolist() == [[1, 3, 3], [3, 1, 3]]
    assert next_state.finished.tolist() == [[True, False, False], [False, True, False]]
    np.testing.assert_array_equal(rows[:, [0, 2]], logits[:, [0, 2]])
    np.testing.assert_array_equal(rows[:, 1], [[0] + [np.finfo(np.float32).min] * 4] * 2)


def test_penalties(graph):
    log_probs = -np.random.RandomState(0).rand(1, 2, 3).astype(np.float32)
    lengths = np.int64([[[1, 2, 3], [4, 5, 6]]])
    coverage = np.float32([[[0.5, 2.0, 0.0], [0.1, 0.2, 0.7]]])
    scores = _get_scores(
        log_probs=tf.constant(log_probs),
        sequence_lengths=tf.constant(lengths),
        length_penalty_weight=0.8,
        coverage_penalty_weight=0.3,
        finished=tf.constant([[True, False]]),
        accumulated_attention_probs=tf.constant(coverage),
    )
    expected = log_probs / ((5 + lengths) / 6) ** 0.8
    expected[0, 0] += 0.3 * np.log(0.5)
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(scores), expected, rtol=1e-5)


def test_errors(graph):
    cell, state = Bigrams(), tf.zeros([4, 1])
    arguments = {"initial_state": state, "beam_width": 2}
    for changed, error, message in [
        ({"start_tokens": 1}, ValueError, "start_tokens must be a vector"),
        ({"end_token": [0]}, ValueError, "end_token must be a scalar"),
        ({"output_layer": tf.nn.relu}, TypeError, "output_layer must be a Layer"),
        ({"cell": tf.nn.relu}, TypeError, "is not an RNNCell"),
        ({"initial_state": tf.zeros([4, 2])}, ValueError, "forgot to create a zero_state"),
    ]:
        given = {
            "cell": cell,
            "embedding": tf.eye(5),
            "start_tokens": [1, 2],
            "end_token": 0,
            **arguments,
            **changed,
        }
        with pytest.raises(error, match=message):
            seq2seq.BeamSearchDecoder(**given)
