"""Streaming metrics of recognised words: word accuracy and edit distance, also by length.

The protocols of published figures differ: most ignore case and leave out punctuation, so that
`Don't` and `dont` are the same word.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import ClassMetric
from tf_frame_recognition.labels import comparable


def recognition_metrics(
    predicted_text: Any,
    labels_text: Any,
    *,
    label_map: Any,
    case_sensitive: bool,
    punctuation: bool,
    max_length: int,
) -> dict[str, tuple[Any, Any]]:
    """Compares words over the batches of an evaluation.

    Args:
      predicted_text: `[batch]` string, UTF-8.
      labels_text: `[batch, n]` int32: ids of the characters, -1 behind the end.
      label_map: the `tf_frame_recognition.labels.LabelMap` of the ids.
      case_sensitive: whether `A` and `a` differ.
      punctuation: whether characters other than letters and digits are compared; else they are
        dropped from both words.
      max_length: characters of the longest label.

    Returns:
      `word_accuracy`, the share of the words without an error; `edit_distance`, the mean over the
      words of `normalised_distance`; and for each length N of labels from 1 to `max_length`
      `word_accuracy_length_N`, `edit_distance_length_N` and `words_length_N`, the number of words;
      all three are NaN without such a label. A length counts the compared characters. Every metric
      is a (value, update op) pair.
    """
    predicted, truth = (
        comparable(text, case_sensitive=case_sensitive, punctuation=punctuation)
        for text in (predicted_text, label_map.strings(labels_text))
    )
    total, update = _totals(predicted, truth, max_length)
    count, right, distance = tf.unstack(total, axis=1)
    sums = {"word_accuracy": right, "edit_distance": distance}
    number = tf.reduce_sum(count)
    values = {name: tf.div_no_nan(tf.reduce_sum(part), number) for name, part in sums.items()}
    columns = {name: part / count for name, part in sums.items()}
    distances = columns["edit_distance"]
    columns["words"] = tf.where(tf.is_nan(distances), distances, count)
    for kind, column in columns.items():
        for length in range(1, max_length + 1):
            values[ClassMetric(kind, f"length_{length}", "length")] = column[length]
    return {name: (tf.cast(value, tf.float32), update) for name, value in values.items()}


def normalised_distance(predicted: Any, truth: Any) -> Any:
    """Returns edit distances as shares of the longer word: 0 for equal words, at most 1.

    Args:
      predicted: `[batch]` string, UTF-8.
      truth: the same shape.

    Returns:
      `[batch]` float32: the fewest insertions, deletions and replacements of a character that
      make one word of the other, divided by the characters of the longer word (at least 1).
    """
    characters = [tf.strings.unicode_decode(text, "UTF-8") for text in (predicted, truth)]
    distance = tf.edit_distance(*(codes.to_sparse() for codes in characters), normalize=False)
    lengths = [codes.row_lengths() for codes in characters]
    longer = tf.maximum(tf.maximum(*lengths), 1)
    return distance / tf.cast(longer, tf.float32)


def _totals(predicted: Any, truth: Any, max_length: int) -> tuple[Any, Any]:
    """Returns sums of words, correct words and distance by length, and the update."""
    total = tf.get_variable(
        "words_by_length",
        shape=[max_length + 1, 3],
        dtype=tf.float64,
        initializer=tf.zeros_initializer(),
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES],
    )
    right = tf.cast(tf.equal(predicted, truth), tf.float32)
    rows = tf.stack([tf.ones_like(right), right, normalised_distance(predicted, truth)], axis=1)
    length = tf.strings.length(truth, unit="UTF8_CHAR")
    batch = tf.math.unsorted_segment_sum(tf.cast(rows, tf.float64), length, max_length + 1)
    return tf.convert_to_tensor(total), tf.assign_add(total, batch)
