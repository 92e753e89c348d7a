"""CTC against sums over all sequences of positions."""

import itertools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import Mode
from tf_frame.errors import ConfigError
from tf_frame_recognition.heads.ctc import CtcHead

_CLASSES, _STEPS, _MAX_LENGTH = 2, 5, 3
_TEXT = [[0, 0, 1], [1, -1, -1], [0, 1, -1]]


def _word(path):
    """The word of a sequence of classes, the blank being the last class."""
    return tuple(c for c, _ in itertools.groupby(path) if c != _CLASSES)


def _probabilities(logits):
    """Word -> its probability, of one example."""
    shares = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    words = {}
    for path in itertools.product(range(_CLASSES + 1), repeat=_STEPS):
        probability = np.prod(shares[range(_STEPS), path])
        words[_word(path)] = words.get(_word(path), 0.0) + probability
    return words


@pytest.fixture(scope="module")
def results():
    """Logits, loss, greedy words and those of a beam that keeps all."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        sequence = tf.constant(np.random.RandomState(0).normal(size=[3, _STEPS, 4]) * 3, tf.float32)
        greedy, beam = CtcHead(_CLASSES), CtcHead(_CLASSES, beam_width=200)
        smooth = CtcHead(_CLASSES, label_smoothing=0.2)
        fetches = {
            "loss": greedy.loss(sequence, tf.constant(_TEXT), Mode.TRAIN),
            "smooth": smooth.loss(sequence, tf.constant(_TEXT), Mode.TRAIN),
            "smooth_evaluated": smooth.loss(sequence, tf.constant(_TEXT), Mode.EVAL),
            "greedy": greedy.decode(sequence, _MAX_LENGTH),
            "beam": beam.decode(sequence, _MAX_LENGTH),
        }
        session.run(tf.global_variables_initializer())
        values = session.run([*tf.global_variables(), sequence])
        names = [variable.op.name for variable in tf.global_variables()]
        weights, biases, features = values
        return {"logits": features @ weights + biases, "names": names, **session.run(fetches)}


def test_loss_is_the_mean_of_the_words_negative_log_probabilities(results):
    expected = [
        -np.log(_probabilities(logits)[tuple(c for c in text if c >= 0)])
        for logits, text in zip(results["logits"], _TEXT, strict=True)
    ]
    np.testing.assert_allclose(results["loss"], np.mean(expected), rtol=1e-5)
    # Label smoothing draws to equal probabilities in training alone.
    log_softmax = results["logits"] - np.log(np.exp(results["logits"]).sum(-1, keepdims=True))
    equal = 1 / (_CLASSES + 1)
    divergences = (equal * (np.log(equal) - log_softmax)).sum(axis=(1, 2))
    expected = 0.8 * results["loss"] + 0.2 * divergences.mean()
    np.testing.assert_allclose(results["smooth"], expected, rtol=1e-5)
    assert results["smooth_evaluated"] == results["loss"]


def test_beam_search_finds_the_most_probable_word(results):
    for row, logits in enumerate(results["logits"]):
        words = _probabilities(logits)
        best = max(words, key=words.get)
        ids = results["beam"].ids[row]
        assert tuple(ids[ids >= 0]) == best[:_MAX_LENGTH]
        log_probability = results["beam"].log_probability[row]
        np.testing.assert_allclose(log_probability, np.log(words[best]), rtol=1e-4)


def test_greedy_takes_the_best_class_of_each_position(results):
    shares = results["logits"] - np.log(np.exp(results["logits"]).sum(-1, keepdims=True))
    for path, ids in zip(shares.argmax(-1), results["greedy"].ids, strict=True):
        assert tuple(ids[ids >= 0]) == _word(path)[:_MAX_LENGTH]
    np.testing.assert_allclose(results["greedy"].log_probability, shares.max(-1).sum(-1), rtol=1e-5)
    assert results["names"] == ["Predictor/Ctc/Logits/weights", "Predictor/Ctc/Logits/biases"]


def test_a_sequence_shorter_than_the_longest_word_is_an_error():
    text = tf.TensorSpec([1, 6], tf.int32)
    with pytest.raises(ConfigError, match="5 positions, too few .* of 6 characters; make --input"):
        CtcHead(2).loss(tf.TensorSpec([1, 5, 4]), text, Mode.TRAIN)


@pytest.mark.parametrize(("word", "fits"), [([0, 0, 1, 1], False), ([0, 0, 1, 0], True)])
def test_a_word_needs_a_position_between_equal_neighbours(word, fits):
    with tf.Graph().as_default(), tf.Session() as session:
        loss = CtcHead(2).loss(tf.zeros([1, 5, 4]), tf.constant([word]), Mode.TRAIN)
        session.run(tf.global_variables_initializer())
        if fits:
            assert np.isfinite(session.run(loss))
        else:
            with pytest.raises(tf.errors.InvalidArgumentError, match="more than the 5 positions"):
                session.run(loss)
