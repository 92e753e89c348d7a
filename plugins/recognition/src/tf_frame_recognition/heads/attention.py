"""The head `attention`: decoders that write one character after the other.

Of two decoders, the second writes the word from its last character back; the head takes the word
with the higher log probability per step, with the end as a step. Source: Shi et al., ASTER,
https://doi.org/10.1109/TPAMI.2018.2848939, which weighs both losses by 0.5; loss and weights as in
bgshih/aster, core/loss.py and experiments/demo/config/trainval.prototxt: the sum over the
characters and the end of a word, the mean over the batch.

Variables: `Predictor/Forward/...` and `Predictor/Backward/...`, of `decoder.py`.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import Mode
from tf_frame_recognition.heads.beam_search import beam_search
from tf_frame_recognition.heads.ctc import CtcHead
from tf_frame_recognition.heads.decoded import Decoded, lengths, probability_per_step
from tf_frame_recognition.heads.decoder import Decoder
from tf_frame_recognition.options import BOTH

_FORWARD, _BACKWARD = "Forward", "Backward"


class AttentionHead:
    """Loss and words by attention.

    Args:
      num_classes: number of characters; one more class stands for start and end.
      units: units of the decoders and of their attention.
      beam_width: number of words that are kept from character to character; 1: the best character
        alone (greedy).
      decoders: `forward` or `both`.
      ctc_loss_weight: share of the loss by CTC of the same features, with variables of its own.
        Source: Kim, Hori, Watanabe, https://arxiv.org/abs/1609.06773, equation 8.
      label_smoothing: share of the training loss that draws each step to equal probabilities of
        all classes. Source: Szegedy et al., https://arxiv.org/abs/1512.00567, section 7.
    """

    def __init__(
        self,
        num_classes: int,
        *,
        units: int,
        beam_width: int = 1,
        decoders: str = BOTH,
        ctc_loss_weight: float = 0.0,
        label_smoothing: float = 0.0,
    ) -> None:
        self._ctc = CtcHead(num_classes, label_smoothing=label_smoothing)
        self._ctc_weight, self._smoothing = ctc_loss_weight, label_smoothing
        self._end, self._units, self._beam_width = num_classes, units, beam_width
        self._names = (_FORWARD, _BACKWARD) if decoders == BOTH else (_FORWARD,)

    def loss(self, sequence: Any, text: Any, mode: Mode) -> Any:
        """Returns the mean over the batch of the negative log probability of the words.

        In training, CTC and label smoothing have their shares. Each step is given the true
        characters before it (teacher forcing).

        Args:
          sequence: `[batch, time, features]`.
          text: `[batch, max_length]` int32, -1 behind the end.
          mode: purpose of the graph.
        """
        smoothing = self._smoothing if mode == Mode.TRAIN else 0.0
        losses = [
            self._loss(name, sequence, _in_writing_order(name, text), smoothing)
            for name in self._names
        ]
        loss = tf.add_n(losses) / len(losses)
        if mode != Mode.TRAIN or not self._ctc_weight:
            return loss
        by_ctc = self._ctc.loss(sequence, text, mode)
        return (1 - self._ctc_weight) * loss + self._ctc_weight * by_ctc

    def _loss(self, name: str, sequence: Any, text: Any, smoothing: float) -> Any:
        # The first padding of a word is its end; further padding does not count.
        targets = tf.pad(text, [[0, 0], [0, 1]], constant_values=-1)
        counts = tf.sequence_mask(lengths(text) + 1, tf.shape(targets)[1], tf.float32)
        targets = tf.where_v2(targets >= 0, targets, self._end)
        previous = tf.pad(targets[:, :-1], [[0, 0], [1, 0]], constant_values=self._end)
        logits = self._decoder(name, sequence).logits(previous)
        entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=logits)
        if smoothing:
            even = -tf.reduce_mean(tf.nn.log_softmax(logits), axis=2)
            entropy = (1 - smoothing) * entropy + smoothing * even
        return tf.reduce_mean(tf.reduce_sum(entropy * counts, axis=1))

    def decode(self, sequence: Any, max_length: int) -> Decoded:
        """Reads the words by beam search.

        Args:
          sequence: `[batch, time, features]`.
          max_length: the most characters of a word.
        """
        words = [self._decode(name, sequence, max_length) for name in self._names]
        if len(words) == 1:
            return words[0]
        first, second = words
        is_first = probability_per_step(first) >= probability_per_step(second)
        return Decoded(
            tf.where_v2(is_first[:, tf.newaxis], first.ids, second.ids),
            tf.where_v2(is_first, first.log_probability, second.log_probability),
        )

    def _decode(self, name: str, sequence: Any, max_length: int) -> Decoded:
        width = self._beam_width
        decoder = self._decoder(name, tf.repeat(sequence, width, axis=0))
        words = beam_search(
            decoder.step,
            decoder.initial_state(),
            num_classes=self._end,
            width=width,
            max_length=max_length,
        )
        return words._replace(ids=_in_writing_order(name, words.ids))

    def _decoder(self, name: str, sequence: Any) -> Decoder:
        with tf.variable_scope(f"Predictor/{name}", reuse=tf.AUTO_REUSE):
            return Decoder(sequence, num_classes=self._end, units=self._units)


def _in_writing_order(name: str, text: Any) -> Any:
    """Returns the words as a decoder writes them: the backward decoder reverses each word."""
    return tf.reverse_sequence(text, lengths(text), seq_axis=1) if name == _BACKWARD else text
