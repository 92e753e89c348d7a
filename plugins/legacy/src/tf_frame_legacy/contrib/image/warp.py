"""Warps of images by dense flows and by control points.

Behaviour of TensorFlow 1.15, contrib/image/python/ops.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

_EPSILON = 1e-10


def dense_image_warp(image: Any, flow: Any, name: str = "dense_image_warp") -> Any:
    """Warps images: the output at `(y, x)` is the input at `(y, x) - flow`, interpolated.

    Args:
      image: `[batch, height, width, channels]`, at least 2 x 2 pixels.
      flow: `[batch, height, width, 2]`, rows and columns in pixels. Places outside of the image get
        the values at its edge.
      name: op name.
    """
    with tf.name_scope(name):
        height, width = tf.shape(image)[1], tf.shape(image)[2]
        grid = tf.stack(tf.meshgrid(tf.range(height), tf.range(width), indexing="ij"), axis=2)
        return _interpolate_bilinear(image, tf.cast(grid, flow.dtype) - flow)


def interpolate_spline(
    train_points: Any,
    train_values: Any,
    query_points: Any,
    order: int,
    regularization_weight: float = 0.0,
    name: str = "interpolate_spline",
) -> Any:
    """Interpolates values at points by a polyharmonic spline and a linear term.

    Args:
      train_points: `[batch, n, d]`, with a static d.
      train_values: `[batch, n, k]`, with a static k.
      query_points: `[batch, m, d]`.
      order: of the spline: 1, or 2 for a thin plate spline ...
      regularization_weight: of the squared weights.
      name: op name.

    Returns:
      `[batch, m, k]`.

    Raises:
      ValueError: d or k is unknown.
    """
    with tf.name_scope(name):
        points, values, queries = map(
            tf.convert_to_tensor, (train_points, train_values, query_points)
        )
        for array, size in ((points, "input points (d)"), (values, "output values (k)")):
            if array.shape.dims[-1].value is None:
                raise ValueError(f"The dimensionality of the {size} must be statically-inferrable.")
        solution = _solve_spline(points, values, order, regularization_weight)
        near = _phi(_squared_distances(queries, points), order)
        return tf.matmul(tf.concat([near, _with_ones(queries)], 2), solution)


def sparse_image_warp(
    image: Any,
    source_control_point_locations: Any,
    dest_control_point_locations: Any,
    interpolation_order: int = 2,
    regularization_weight: float = 0.0,
    num_boundary_points: int = 0,
    name: str = "sparse_image_warp",
) -> tuple[Any, Any]:
    """Warps images so that control points move from their sources to their destinations.

    Args:
      image: `[batch, height, width, channels]`, with a static shape.
      source_control_point_locations: `[batch, points, 2]`, rows and columns in pixels.
      dest_control_point_locations: `[batch, points, 2]`.
      interpolation_order, regularization_weight: see `interpolate_spline`.
      num_boundary_points: number of fixed points at each edge, with one corner.
      name: op name.

    Returns:
      The images, and the flow `[batch, height, width, 2]` of `dense_image_warp`.
    """
    with tf.name_scope(name):
        image, source, destination = map(
            tf.convert_to_tensor,
            (image, source_control_point_locations, dest_control_point_locations),
        )
        flows = destination - source
        batch, height, width, _ = image.shape.as_list()
        if num_boundary_points > 0:
            fixed = _boundary(height, width, num_boundary_points + 1)
            fixed = np.tile(fixed, [batch, 1, 1])
            destination = tf.concat([destination, tf.constant(fixed, destination.dtype)], 1)
            flows = tf.concat([flows, tf.zeros(fixed.shape, flows.dtype)], 1)
        grid = np.indices((height, width)).reshape(1, 2, -1).transpose(0, 2, 1)
        queries = tf.constant(np.tile(grid, [batch, 1, 1]), image.dtype)
        flow = interpolate_spline(
            destination, flows, queries, interpolation_order, regularization_weight
        )
        flow = tf.reshape(flow, [batch, height, width, 2])
        return dense_image_warp(image, flow), flow


def _interpolate_bilinear(image: Any, places: Any) -> Any:
    """Returns values between pixels, `[batch, height, width, channels]`, as `places`."""
    last = tf.shape(image)[1:3] - 2
    floor = tf.clip_by_value(tf.floor(places), 0.0, tf.cast(last, places.dtype))
    share = tf.cast(tf.clip_by_value(places - floor, 0.0, 1.0), image.dtype)
    first = tf.cast(floor, tf.int32)

    def pixels(rows: int, columns: int) -> Any:
        return tf.gather_nd(image, first + tf.constant([rows, columns]), batch_dims=1)

    y, x = share[..., :1], share[..., 1:]
    top, bottom = (pixels(row, 0) + x * (pixels(row, 1) - pixels(row, 0)) for row in (0, 1))
    return top + y * (bottom - top)


def _boundary(height: int, width: int, count: int) -> Any:
    """Returns points `[points, 2]` at the edges, `count` at each, in the order of rows."""
    rows, columns = np.linspace(0, height - 1, count), np.linspace(0, width - 1, count)
    points = np.stack(np.meshgrid(rows, columns, indexing="ij"), -1).reshape(-1, 2)
    return points[((points == 0) | (points == [height - 1, width - 1])).any(axis=1)]


def _solve_spline(points: Any, values: Any, order: int, weight: float) -> Any:
    """Returns the weights of points, coordinates and 1: `[batch, n + d + 1, k]`."""
    near = _phi(_squared_distances(points, points), order)
    if weight > 0:
        near += weight * tf.eye(tf.shape(points)[1], dtype=points.dtype)
    linear = _with_ones(points)
    corner = tf.zeros_like(tf.matmul(linear, linear, transpose_a=True))
    upper = tf.concat([near, linear], 2)
    lower = tf.concat([tf.matrix_transpose(linear), corner], 2)
    rest = tf.zeros([tf.shape(points)[0], points.shape[-1] + 1, values.shape[-1]], points.dtype)
    return tf.linalg.solve(tf.concat([upper, lower], 1), tf.concat([values, rest], 1))


def _phi(squared: Any, order: int) -> Any:
    """Returns the radial basis function of squared distances: `r^order`, or `r^order log r`."""
    safe = tf.maximum(squared, _EPSILON)
    if order in (2, 4):
        return 0.5 * tf.pow(squared, order // 2) * tf.log(safe)
    if order % 2 == 0:
        return 0.5 * tf.pow(safe, 0.5 * order) * tf.log(safe)
    return tf.sqrt(safe) if order == 1 else tf.pow(safe, 0.5 * order)


def _squared_distances(first: Any, second: Any) -> Any:
    lengths = tf.reduce_sum(tf.square(first), 2, keepdims=True)
    others = tf.matrix_transpose(tf.reduce_sum(tf.square(second), 2, keepdims=True))
    return lengths - 2 * tf.matmul(first, second, transpose_b=True) + others


def _with_ones(points: Any) -> Any:
    return tf.concat([points, tf.ones_like(points[..., :1])], 2)
