"""Matches of anchors with labelled boxes, by the greatest similarity."""

from __future__ import annotations

import dataclasses
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError

# In place of a row's number: an anchor is background, or is neither an object nor background.
UNMATCHED, IGNORED = -1, -2


@dataclasses.dataclass(frozen=True, kw_only=True)
class ArgmaxMatcher:
    """Matches each anchor with its most similar box, by two thresholds.

    As `ArgMaxMatcher` of the object detection API (tensorflow/models,
    research/object_detection/matchers/argmax_matcher.py), for a batch. Of equal similarities
    the first box or anchor counts.

    Attributes:
      matched_threshold: least similarity of a match.
      unmatched_threshold: anchors below it are background, and those between are ignored;
        None: `matched_threshold`.
      force_match: whether each box is matched with its most similar anchor whatever the
        similarity; of boxes with the same anchor the first one.

    Raises:
      ConfigError: the thresholds are in the wrong order.
    """

    matched_threshold: float = 0.5
    unmatched_threshold: float | None = None
    force_match: bool = True

    def __post_init__(self) -> None:
        if self._unmatched_threshold > self.matched_threshold:
            raise ConfigError(
                f"the threshold of background, {self.unmatched_threshold}, is above that of "
                f"matches, {self.matched_threshold}; choose one at or below it"
            )

    def __call__(self, similarity: Any, valid: Any) -> Any:
        """Returns the row of each anchor's box, `UNMATCHED` or `IGNORED`.

        Args:
          similarity: `[batch, rows, anchors]` float32; there may be no rows.
          valid: `[batch, rows]` bool, False for rows that match nothing.

        Returns:
          `[batch, anchors]` int32.
        """
        # One row that is never valid, so that there is a greatest one.
        lowest = similarity.dtype.min
        similarity = tf.pad(similarity, [[0, 0], [0, 1], [0, 0]], constant_values=lowest)
        valid = tf.pad(valid, [[0, 0], [0, 1]])
        similarity = tf.where_v2(valid[..., tf.newaxis], similarity, lowest)
        greatest = tf.reduce_max(similarity, axis=1)
        matches = tf.argmax(similarity, axis=1, output_type=tf.int32)
        matches = tf.where_v2(greatest >= self.matched_threshold, matches, IGNORED)
        matches = tf.where_v2(greatest < self._unmatched_threshold, UNMATCHED, matches)
        if not self.force_match:
            return matches
        first = _first_rows(similarity, valid)
        return tf.where_v2(first < tf.shape(similarity)[1], first, matches)

    @property
    def _unmatched_threshold(self) -> float:
        if self.unmatched_threshold is None:
            return self.matched_threshold
        return self.unmatched_threshold


def _first_rows(similarity: Any, valid: Any) -> Any:
    """Returns the first valid row that an anchor is most similar to; else a large number."""
    batch, rows, anchors = tf.unstack(tf.shape(similarity))
    favourites = tf.argmax(similarity, axis=2, output_type=tf.int32)
    segments = favourites + anchors * tf.range(batch)[:, tf.newaxis]
    numbers = tf.where_v2(valid, tf.range(rows), tf.int32.max)
    first = tf.math.unsorted_segment_min(numbers, segments, batch * anchors)
    return tf.reshape(first, [batch, anchors])
