"""Attention decoders against NumPy, and beam search against all words."""

import itertools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import Mode
from tf_frame_recognition.heads.attention import AttentionHead
from tf_frame_recognition.heads.ctc import CtcHead

# Three symbols with the end.
_CLASSES, _UNITS, _FEATURES, _MAX_LENGTH = 2, 3, 4, 3
_TEXT = [[0, 1, 1], [1, -1, -1], [0, 1, -1]]


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _log_probability(values, direction, memory, word, smoothing=0.0):
    """Log probability of a word and its end; the equations of the decoder in NumPy.

    With smoothing, a target is all classes with equal shares of it, and one class with the rest.
    """

    def get(name):
        return values[f"Predictor/{direction}/{name}"]

    output = state = np.zeros(_UNITS)
    total, previous = 0.0, _CLASSES
    for target in (*word, _CLASSES):
        query = output @ get("bahdanau_attention/query_layer/kernel")
        energy = np.tanh(memory @ get("memory_layer/kernel") + query)
        scores = np.exp(energy @ get("bahdanau_attention/attention_v"))
        context = (scores / scores.sum()) @ memory
        inputs = np.concatenate([np.eye(_CLASSES + 1)[previous], context, output])
        gates = inputs @ get("lstm_cell/kernel") + get("lstm_cell/bias")
        i, j, f, o = np.split(gates, 4)
        state = _sigmoid(f + 1) * state + _sigmoid(i) * np.tanh(j)
        output = _sigmoid(o) * np.tanh(state)
        logits = output @ get("Logits/weights") + get("Logits/biases")
        log_softmax = logits - np.log(np.exp(logits).sum())
        total += (1 - smoothing) * log_softmax[target] + smoothing * log_softmax.mean()
        previous = target
    return total


def _all_words():
    return [w for n in range(_MAX_LENGTH + 1) for w in itertools.product(range(_CLASSES), repeat=n)]


@pytest.fixture(scope="module")
def results():
    """Variables, features, losses and decoded words."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(5)
        features = np.random.RandomState(1).normal(size=[3, 6, _FEATURES])
        sequence, text = tf.constant(features, tf.float32), tf.constant(_TEXT)

        def head(**options):
            return AttentionHead(_CLASSES, units=_UNITS, **options)

        # Larger weights than the initial ones: words of different probabilities.
        tf.get_variable_scope().set_initializer(tf.random_normal_initializer(stddev=1.5))
        fetches = {
            "forward_loss": head(decoders="forward").loss(sequence, text, Mode.TRAIN),
            "loss": head().loss(sequence, text, Mode.TRAIN),
            "joint": head(ctc_loss_weight=0.25).loss(sequence, text, Mode.TRAIN),
            "evaluated": head(ctc_loss_weight=0.25).loss(sequence, text, Mode.EVAL),
            "smooth": head(label_smoothing=0.2).loss(sequence, text, Mode.TRAIN),
            "smooth_evaluated": head(label_smoothing=0.2).loss(sequence, text, Mode.EVAL),
            "ctc": CtcHead(_CLASSES).loss(sequence, text, Mode.TRAIN),
            "forward": head(decoders="forward", beam_width=20).decode(sequence, _MAX_LENGTH),
            "both": head(beam_width=20).decode(sequence, _MAX_LENGTH),
            "greedy": head(decoders="forward").decode(sequence, _MAX_LENGTH),
        }
        session.run(tf.global_variables_initializer())
        values = {variable.op.name: variable for variable in tf.global_variables()}
        return {**session.run({**fetches, "values": values}), "features": features}


def _mean_loss(results, direction, smoothing=0.0):
    turn = -1 if direction == "Backward" else 1
    words = [tuple(c for c in text if c >= 0)[::turn] for text in _TEXT]
    log_probabilities = [
        _log_probability(results["values"], direction, memory, word, smoothing)
        for memory, word in zip(results["features"], words, strict=True)
    ]
    return -np.mean(log_probabilities)


def test_losses_are_means_of_the_words_negative_log_probabilities(results):
    forward, backward = _mean_loss(results, "Forward"), _mean_loss(results, "Backward")
    np.testing.assert_allclose(results["forward_loss"], forward, rtol=1e-5)
    np.testing.assert_allclose(results["loss"], (forward + backward) / 2, rtol=1e-5)
    # Label smoothing and the loss by CTC have their shares in training alone.
    smooth = [_mean_loss(results, direction, 0.2) for direction in ("Forward", "Backward")]
    np.testing.assert_allclose(results["smooth"], np.mean(smooth), rtol=1e-5)
    assert results["smooth_evaluated"] == results["loss"]
    joint = 0.75 * results["loss"] + 0.25 * results["ctc"]
    np.testing.assert_allclose(results["joint"], joint, rtol=1e-5)
    assert results["evaluated"] == results["loss"]


def _best(results, direction, row):
    memory = results["features"][row]
    words = {w: _log_probability(results["values"], direction, memory, w) for w in _all_words()}
    return words, max(words, key=words.get)


def _read(ids):
    return tuple(ids[ids >= 0])


def test_beam_search_finds_the_most_probable_word_that_ends(results):
    # A word of full length is compared with its end, too.
    for row in range(3):
        words, best = _best(results, "Forward", row)
        assert _read(results["forward"].ids[row]) == best
        log_probability = results["forward"].log_probability[row]
        np.testing.assert_allclose(log_probability, words[best], rtol=1e-4)
    # Greedy search follows the most probable character.
    for row, memory in enumerate(results["features"]):
        word = _read(results["greedy"].ids[row])
        expected = _log_probability(results["values"], "Forward", memory, word)
        np.testing.assert_allclose(results["greedy"].log_probability[row], expected, rtol=1e-4)


def test_the_direction_with_the_higher_probability_per_step_wins(results):
    for row in range(3):
        forward, first = _best(results, "Forward", row)
        backward, last = _best(results, "Backward", row)
        per_step = forward[first] / (len(first) + 1), backward[last] / (len(last) + 1)
        expected = first if per_step[0] >= per_step[1] else last[::-1]
        assert _read(results["both"].ids[row]) == expected


def test_variables(results):
    expected = {
        "memory_layer/kernel",
        "bahdanau_attention/query_layer/kernel",
        "bahdanau_attention/attention_v",
        "lstm_cell/kernel",
        "lstm_cell/bias",
        "Logits/weights",
        "Logits/biases",
    }
    assert {name for name in results["values"] if "/Ctc/" not in name} == {
        f"Predictor/{direction}/{name}"
        for direction in ("Forward", "Backward")
        for name in expected
    }
