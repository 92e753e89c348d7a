"""The head `ctc`: connectionist temporal classification.

Each position of the sequence is a character or the blank. Repeated characters are one, blanks are
left out; the probability of a word is the sum over all sequences of positions that read so. Source:
Graves et al., Connectionist Temporal Classification, ICML 2006. The blank is the last class.

Variables: `Predictor/Ctc/Logits/weights` and `biases`.
"""

from __future__ import annotations

import math
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import Mode, layers
from tf_frame.errors import ConfigError
from tf_frame_recognition.heads.decoded import Decoded, lengths


class CtcHead:
    """Loss and words by CTC.

    Args:
      num_classes: number of characters, without the blank.
      beam_width: number of words to keep from position to position; 1: the best class of each
        position (greedy).
      label_smoothing: share of the training loss that draws each position to equal probabilities
        of all classes. Source: Kim et al., https://arxiv.org/abs/1711.02212.
    """

    def __init__(
        self, num_classes: int, *, beam_width: int = 1, label_smoothing: float = 0.0
    ) -> None:
        self._blank, self._beam_width = num_classes, beam_width
        self._smoothing = label_smoothing

    def loss(self, sequence: Any, text: Any, mode: Mode) -> Any:
        """Returns the mean over the batch of the negative log probability of the words.

        In training, label smoothing has its share.

        Args:
          sequence: `[batch, time, features]`.
          text: `[batch, max_length]` int32, -1 behind the end.
          mode: purpose of the graph.

        Raises:
          ConfigError: the sequence is shorter than `max_length`.
          tf.errors.InvalidArgumentError: at run time: a word needs more positions than there are,
            one for each character and one between equal neighbours.
        """
        steps = int(sequence.shape[1])
        _check_positions(steps, text.shape[1])
        with tf.control_dependencies([_enough_positions(steps, text)]):
            text = tf.identity(text)
        labels = tf.sparse.from_dense(text + 1)
        labels = tf.SparseTensor(labels.indices, labels.values - 1, labels.dense_shape)
        logits = self._logits(sequence)
        loss = tf.reduce_mean(tf.nn.ctc_loss(labels, logits, self._steps(sequence)))
        if mode != Mode.TRAIN or not self._smoothing:
            return loss
        return (1 - self._smoothing) * loss + self._smoothing * _from_uniform(logits)

    def decode(self, sequence: Any, max_length: int) -> Decoded:
        """Reads the words.

        Args:
          sequence: `[batch, time, features]`.
          max_length: the most characters of a word.

        Returns:
          The words; greedy decoding has the probability of the best class of each position.
        """
        logits = self._logits(sequence)
        if self._beam_width == 1:
            return self._greedy(logits, max_length)
        (best, *_), scores = tf.nn.ctc_beam_search_decoder_v2(
            logits, self._steps(sequence), beam_width=self._beam_width, top_paths=1
        )
        ids = tf.cast(tf.sparse.to_dense(best, default_value=-1), tf.int32)
        missing = [[0, 0], [0, max_length]]
        ids = tf.pad(ids, missing, constant_values=-1)[:, :max_length]
        return Decoded(tf.ensure_shape(ids, [None, max_length]), scores[:, 0])

    def _greedy(self, logits: Any, max_length: int) -> Decoded:
        """Decodes with ops that every export format has."""
        probabilities = tf.transpose(tf.nn.log_softmax(logits), [1, 0, 2])
        best = tf.argmax(probabilities, axis=2, output_type=tf.int32)
        before = tf.pad(best, [[0, 0], [1, 0]], constant_values=-1)[:, :-1]
        is_new = tf.not_equal(best, before) & tf.not_equal(best, self._blank)
        position = tf.cumsum(tf.cast(is_new, tf.int32), axis=1) - 1
        # [batch, time, max_length]: whether this position is the character of the word.
        selects = is_new[:, :, tf.newaxis] & tf.equal(position[:, :, tf.newaxis], range(max_length))
        ids = tf.reduce_sum(tf.cast(selects, tf.int32) * (best[:, :, tf.newaxis] + 1), axis=1) - 1
        return Decoded(ids, tf.reduce_sum(tf.reduce_max(probabilities, axis=2), axis=1))

    def _logits(self, sequence: Any) -> Any:
        """Returns `[time, batch, classes and blank]`."""
        with tf.variable_scope("Predictor/Ctc", reuse=tf.AUTO_REUSE):
            logits = layers.fully_connected(
                sequence, self._blank + 1, activation_fn=None, scope="Logits"
            )
        return tf.transpose(logits, [1, 0, 2])

    def _steps(self, sequence: Any) -> Any:
        return tf.fill([tf.shape(sequence)[0]], sequence.shape[1])


def _from_uniform(logits: Any) -> Any:
    """Returns the Kullback-Leibler divergence of the probabilities from equal ones.

    The sum over the positions, the mean over the batch.

    Args:
      logits: `[time, batch, classes]`.
    """
    divergence = -tf.reduce_mean(tf.nn.log_softmax(logits), axis=2) - math.log(logits.shape[2])
    return tf.reduce_mean(tf.reduce_sum(divergence, axis=0))


def _check_positions(steps: int, max_length: int | None) -> None:
    if max_length is not None and steps < max_length:
        raise ConfigError(
            f"the images give {steps} positions, too few for CTC to write a word of {max_length} "
            "characters; make --input.image_size wider or --input.max_length less, or use "
            "--model.head attention with --model.ctc_loss_weight 0"
        )


def _enough_positions(steps: int, text: Any) -> Any:
    """Returns an op that fails where a word of the batch needs more positions."""
    repeated = tf.equal(text[:, 1:], text[:, :-1]) & (text[:, 1:] >= 0)
    needed = lengths(text) + tf.reduce_sum(tf.cast(repeated, tf.int32), axis=1)
    message = (
        f"a word needs more than the {steps} positions that the images give, one for each character"
        " and one between equal neighbours; make --input.image_size wider or --input.max_length "
        "less, or use --model.head attention with --model.ctc_loss_weight 0"
    )
    return tf.debugging.assert_less_equal(needed, steps, message=message)
