"""Thin-plate spline of control points along the upper and the lower edge, and bilinear sampling.

The spline is the grid generator of arXiv:1603.03915: the map of least bending from the
rectified image to the image that takes fixed points on a frame of the rectified image, c', to the
control points of the image, c. It is linear in c. So all but the product with c is one matrix of
the output's size and the frame, computed here in float64.

Points are x, y as shares of the width and the height. The centre of the first pixel of a row of
`width` is at 0.5 / width, so that control points on the frame give the image itself, or, at another
output size, what bilinear resizing with half-pixel centres gives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from numpy.typing import NDArray

from tf_frame.errors import ConfigError

# Of the published implementations of ASTER, https://doi.org/10.1109/TPAMI.2018.2848939.
MARGINS = (0.05, 0.05)


def frame_points(
    num_control_points: int, margins: tuple[float, float] = MARGINS
) -> NDArray[np.float64]:
    """Returns the fixed points of the rectified image: the upper ones, then the lower ones.

    Args:
      num_control_points: an even number of at least 4.
      margins: from the left and right, and from the upper and lower edge, to the points.

    Returns:
      `[num_control_points, 2]`, each half from left to right.

    Raises:
      ConfigError: an argument is out of range.
    """
    if num_control_points < 4 or num_control_points % 2:
        raise ConfigError(
            f"{num_control_points} control points (--model.control_points): half of them lie above"
            " and half below the word, so give an even number of at least 4"
        )
    if not all(0 <= margin < 0.5 for margin in margins):
        raise ConfigError(
            f"the margins of the control points are {margins}; give shares of width and height"
            " from 0 to less than 0.5"
        )
    margin_x, margin_y = margins
    x = np.linspace(margin_x, 1 - margin_x, num_control_points // 2)
    rows = (np.stack([x, np.full_like(x, y)], axis=1) for y in (margin_y, 1 - margin_y))
    return np.concatenate([*rows])


def spline_matrix(frame: NDArray[Any], points: NDArray[Any]) -> NDArray[np.float64]:
    """Returns the matrix that maps control points to the image of points under the spline.

    Args:
      frame: `[k, 2]`: the fixed points.
      points: `[n, 2]`: the points to map.

    Returns:
      `[n, k]`.
    """
    count = len(frame)
    affine = np.concatenate([np.ones([count, 1]), frame], axis=1)
    system = np.zeros([count + 3, count + 3])
    system[:count] = np.concatenate([affine, _radial(frame, frame)], axis=1)
    # The weights of the radial terms have no affine part.
    system[count:, 3:] = affine.T
    lifted = np.concatenate([np.ones([len(points), 1]), points, _radial(points, frame)], axis=1)
    # The right sides of the last three equations are 0, so that their columns do not matter.
    matrix: NDArray[np.float64] = (lifted @ np.linalg.inv(system))[:, :count]
    return matrix


def sampling_grid(
    control_points: Any,
    output_size: tuple[int, int],
    *,
    margins: tuple[float, float] = MARGINS,
) -> Any:
    """Returns the place in the image of each pixel of the rectified image.

    Args:
      control_points: `[batch, k, 2]` float32, in the order of `frame_points`.
      output_size: height and width of the rectified image.
      margins: as for `frame_points`.

    Returns:
      `[batch, height, width, 2]` float32.
    """
    height, width = output_size
    frame = frame_points(int(control_points.shape[1]), margins)
    x, y = np.meshgrid((np.arange(width) + 0.5) / width, (np.arange(height) + 0.5) / height)
    matrix = spline_matrix(frame, np.stack([x, y], axis=-1).reshape(-1, 2))
    # One product for the whole batch takes half the time of one for each image.
    rows = tf.reshape(tf.transpose(control_points, [2, 0, 1]), [-1, len(frame)])
    places = tf.matmul(rows, tf.constant(matrix.T, tf.float32))
    return tf.transpose(tf.reshape(places, [2, -1, height, width]), [1, 2, 3, 0])


def sample(images: Any, grid: Any) -> Any:
    """Reads images at places between their pixels, bilinearly.

    Places outside are moved to the nearest pixel of the edge; they have no gradient. The result
    has gradients to the images and to the grid.

    Args:
      images: `[batch, height, width, channels]` float32.
      grid: `[batch, rows, columns, 2]` float32: x, y as shares of width and height.

    Returns:
      `[batch, rows, columns, channels]` float32.
    """
    batch, height, width, channels = (
        static or dynamic
        for static, dynamic in zip(
            images.shape.as_list(), tf.unstack(tf.shape(images)), strict=True
        )
    )
    x, y = tf.unstack(grid, axis=-1)
    column, step_right, to_right = _neighbours(x, width)
    row, step_down, to_lower = _neighbours(y, height)
    first = tf.reshape(tf.range(batch) * (height * width), [-1, 1, 1])
    pixel, below = first + row * width + column, step_down * width
    pixels = tf.reshape(images, [-1, channels])

    def mixed(start: Any) -> Any:
        before, after = tf.gather(pixels, start), tf.gather(pixels, start + step_right)
        return before + to_right * (after - before)

    above = mixed(pixel)
    return above + to_lower * (mixed(pixel + below) - above)


def _neighbours(places: Any, size: Any) -> tuple[Any, Any, Any]:
    """Pixel before each place along an axis, the step to the next, and the share of that way."""
    last = size - 1
    places = places * tf.cast(size, tf.float32) - 0.5
    places = tf.minimum(tf.nn.relu(places), tf.cast(last, tf.float32))
    # A place of NaN must give a value of NaN, not an index out of range.
    before = tf.clip_by_value(tf.cast(places, tf.int32), 0, last)
    share = places - tf.cast(before, tf.float32)
    return before, tf.cast(before < last, tf.int32), share[..., tf.newaxis]


def _radial(points: NDArray[Any], centres: NDArray[Any]) -> Any:
    """The terms r^2 ln r of distances, `[n, k]`; 0 at a centre."""
    squared = ((points[:, np.newaxis] - centres) ** 2).sum(axis=2)
    return squared * np.log(np.where(squared > 0, squared, 1)) / 2
