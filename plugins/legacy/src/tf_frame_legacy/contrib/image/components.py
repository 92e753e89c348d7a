"""Connected components of images, and greedy matching of rows to columns.

TensorFlow 2 has no operations for them; these are compositions with the same results.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

_DIRECTIONS = ((0, 1), (0, -1), (1, 0), (-1, 0))


def connected_components(images: Any) -> Any:
    """Numbers the areas of equal values that are connected by edges.

    Args:
      images: `[height, width]` or `[batch, height, width]` of any type; the background is 0, False
        or an empty string.

    Returns:
      int64 of the same shape: 0 for the background, and numbers from 1 on, in the order of the
      first pixels. All images of a batch share the numbers.

    Raises:
      TypeError: another rank.
    """
    with tf.name_scope("connected_components"):
        images = tf.convert_to_tensor(images)
        if images.shape.ndims not in (2, 3):
            raise TypeError(
                f"images should have rank 2 (HW) or 3 (NHW). Static shape is {images.shape}"
            )
        batch = images if images.shape.ndims == 3 else images[None]
        numbers = _consecutive(_roots(batch), tf.not_equal(batch, tf.zeros_like(batch)))
        return numbers if images.shape.ndims == 3 else numbers[0]


def bipartite_match(
    distance_mat: Any, num_valid_rows: Any, top_k: Any = -1, name: str = "bipartite_match"
) -> tuple[Any, Any]:
    """Matches rows to columns, the pair with the smallest distance first.

    Args:
      distance_mat: `[rows, columns]`, float32.
      num_valid_rows: number of rows, from the first, that are matched; a scalar.
      top_k: number of pairs; negative: as many as possible.
      name: op name.

    Returns:
      int32 `[rows]`, the column of each row, and `[columns]`, the row of each column; -1 without.
    """
    with tf.name_scope(name):
        distances = tf.convert_to_tensor(distance_mat, tf.float32)
        rows, columns = tf.unstack(tf.shape(distances))
        valid = tf.cast(tf.reshape(num_valid_rows, []), tf.int32)
        count = tf.minimum(tf.minimum(valid, rows), columns)
        count = tf.where(tf.less(top_k, 0), count, tf.minimum(count, top_k))
        free = tf.broadcast_to((tf.range(rows) < valid)[:, None], [rows, columns])

        def match(step: Any, free: Any, to_column: Any, to_row: Any) -> Any:
            open_distances = tf.where(free, distances, tf.fill([rows, columns], float("inf")))
            place = tf.argmin(tf.reshape(open_distances, [-1]), output_type=tf.int32)
            in_row = tf.equal(tf.range(rows), place // columns)
            in_column = tf.equal(tf.range(columns), place % columns)
            return (
                step + 1,
                free & ~in_row[:, None] & ~in_column,
                tf.where(in_row, tf.fill([rows], place % columns), to_column),
                tf.where(in_column, tf.fill([columns], place // columns), to_row),
            )

        state = (0, free, tf.fill([rows], -1), tf.fill([columns], -1))
        _, _, to_column, to_row = tf.while_loop(
            lambda step, *_: step < count, match, state, back_prop=False
        )
        return to_column, to_row


def _roots(images: Any) -> Any:
    """Returns the first pixel's index for each pixel of a component, `[batch, height, width]`."""
    shape = tf.shape(images, out_type=tf.int64)
    indices = tf.reshape(tf.range(tf.reduce_prod(shape)), shape)
    same = [tf.equal(images, _shifted(images, way)) & _inside(images, way) for way in _DIRECTIONS]

    def spread(roots: Any, _: Any) -> Any:
        smallest = roots
        for way, connected in zip(_DIRECTIONS, same, strict=True):
            smallest = tf.where(connected, tf.minimum(smallest, _shifted(roots, way)), smallest)
        # A root's own root: halves the number of steps again and again.
        smallest = tf.gather(tf.reshape(smallest, [-1]), smallest)
        return smallest, tf.reduce_any(tf.not_equal(smallest, roots))

    return tf.while_loop(lambda _, changed: changed, spread, (indices, True), back_prop=False)[0]


def _shifted(images: Any, way: tuple[int, int]) -> Any:
    return tf.roll(images, way, axis=(1, 2))


def _inside(images: Any, way: tuple[int, int]) -> Any:
    """Returns where a pixel's neighbour is not one from the opposite edge."""
    height, width = tf.shape(images)[1], tf.shape(images)[2]
    rows, columns = tf.range(height)[:, None] - way[0], tf.range(width) - way[1]
    return (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)


def _consecutive(roots: Any, foreground: Any) -> Any:
    """Returns numbers from 1 on, in the order of the roots, and 0 for the background."""
    indices = tf.reshape(tf.range(tf.size(roots, out_type=tf.int64)), tf.shape(roots))
    is_first = tf.reshape(foreground & tf.equal(roots, indices), [-1])
    number = tf.cumsum(tf.cast(is_first, tf.int64))
    return tf.where(foreground, tf.gather(number, roots), tf.zeros_like(roots))
