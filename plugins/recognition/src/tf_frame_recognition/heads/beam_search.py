"""Beam search for the word with the highest probability, in the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_recognition.heads.decoded import Decoded

# Logarithm of a probability of 0; sums of it stay finite.
_NEVER = -1e9


def beam_search(
    step: Callable[[Any, Any], tuple[Any, Any]],
    state: Any,
    *,
    num_classes: int,
    width: int,
    max_length: int,
) -> Decoded:
    """Keeps the `width` most probable words from step to step; a width of 1 is greedy.

    Every word ends, also a word of `max_length` characters: a log probability includes the end. The
    search stops as soon as all kept words have ended.

    Args:
      step: takes the previous character, `[batch * width]` int32, `num_classes` for the start, and
        the state; returns logits `[batch * width, num_classes + 1]`, with the end as last class,
        and the next state.
      state: tuple of tensors `[batch * width, ...]`.
      num_classes: number of characters.
      width: number of words to keep.
      max_length: the most characters of a word.
    """
    batch = tf.shape(state[0])[0] // width
    only_end = tf.one_hot(num_classes, num_classes + 1, on_value=0.0, off_value=_NEVER)

    def add_character(number: Any, words: Any, scores: Any, last: Any, state: Any) -> Any:
        logits, state = step(tf.reshape(last, [-1]), state)
        gained = tf.reshape(tf.nn.log_softmax(logits), [batch, width, num_classes + 1])
        gained = tf.where_v2(number < max_length, gained, gained + only_end)
        has_ended = _has_ended(number, last, num_classes)
        gained = tf.where_v2(has_ended[:, :, tf.newaxis], only_end, gained)
        totals = tf.reshape(scores[:, :, tf.newaxis] + gained, [batch, -1])
        scores, chosen = tf.math.top_k(totals, width)
        parents, last = chosen // (num_classes + 1), chosen % (num_classes + 1)
        words = tf.gather(words, parents, batch_dims=1)
        is_position = tf.equal(tf.range(max_length + 1), number)
        words = tf.where_v2(is_position, last[:, :, tf.newaxis], words)
        rows = tf.reshape(parents + width * tf.range(batch)[:, tf.newaxis], [-1])
        return number + 1, words, scores, last, tuple(tf.gather(part, rows) for part in state)

    def goes_on(number: Any, words: Any, scores: Any, last: Any, state: Any) -> Any:
        all_ended = tf.reduce_all(_has_ended(number, last, num_classes))
        return (number <= max_length) & ~all_ended

    words = tf.fill([batch, width, max_length + 1], num_classes)
    first = tf.one_hot(0, width, on_value=0.0, off_value=_NEVER)
    start = (
        tf.constant(0),
        words,
        tf.tile(first[tf.newaxis], [batch, 1]),
        tf.fill([batch, width], num_classes),
        tuple(state),
    )
    _, words, scores, _, _ = tf.while_loop(
        goes_on, add_character, start, shape_invariants=tf.nest.map_structure(_any_batch, start)
    )
    best = tf.ensure_shape(words, [None, width, max_length + 1])[:, 0, :max_length]
    return Decoded(tf.where_v2(tf.equal(best, num_classes), -1, best), scores[:, 0])


def _has_ended(number: Any, last: Any, num_classes: int) -> Any:
    """Returns a mask of the ended words, `[batch, width]`; start and end share a class."""
    return tf.equal(last, num_classes) & (number > 0)


def _any_batch(tensor: Any) -> Any:
    """Returns the shape of a loop's variable, with a batch of any size."""
    return tf.TensorShape([None, *tensor.shape[1:]]) if tensor.shape.rank else tensor.shape
