"""Averages the network's probabilities over scales, mirror images and windows of an image.

Scales and mirror images follow `predict_labels_multi_scale` in deeplab/model.py of
tensorflow/models: a side of n pixels becomes (n - 1) * scale + 1; softmax at the size of the
image; the mean of all. Resizing follows `--model.align_corners`, always on there.

Windows overlap and lie within the image. The network sees one window after the other, so that
memory holds one window and the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_deeplab.blocks import scaled_size
from tf_frame_deeplab.heads import SEMANTIC
from tf_frame_deeplab.network import upsample

Maps = dict[str, Any]
# Scale of the image, and True for a mirrored image.
_View = tuple[float, bool]
_PLAIN: _View = (1.0, False)
# Keeps the logarithm of a probability of 0 finite.
_TINY = 1e-20


def averaged_logits(
    network: Callable[[Any], Mapping[str, Any]], images: Any, *, like: Any, params: Any
) -> Maps:
    """Runs the network on all views of images; its variables are made once.

    Args:
      network: from `[batch, height, width, 3]` to head -> logits of any height and width.
      images: `[batch, height, width, 3]`.
      like: a tensor with the height and width of the result, `[batch, height, width, ...]`.
      params: `tf_frame_deeplab.model.Params`.

    Returns:
      Head -> `[batch, height, width, channels]`. `semantic` has the logarithms of the average
      probabilities as logits. Values of other heads depend on scale and direction, so they come
      from the plain image alone.
    """
    flips = (False, True) if params.add_flipped_images else (False,)
    views = [(scale, flipped) for scale in params.eval_scales for flipped in flips]
    by_view: dict[_View, Maps] = {}

    def run(view: _View) -> Maps:
        if view not in by_view:
            with tf.variable_scope(tf.get_variable_scope(), reuse=bool(by_view)):
                by_view[view] = _run_view(network, images, view, like, params)
        return by_view[view]

    probabilities = [run(view)[SEMANTIC] for view in views]
    mean = tf.add_n(probabilities) / len(probabilities)
    plain = run(_PLAIN) if len(by_view[views[0]]) > 1 else {}
    return {**plain, SEMANTIC: tf.log(mean + _TINY)}


def _run_view(network: Any, images: Any, view: _View, like: Any, params: Any) -> Maps:
    """Returns the outputs for a view at the size of `like`: probabilities, and other logits."""
    scale, flipped = view
    if scale != 1:
        size = scaled_size(layers.spatial_size(images), scale)
        images = layers.resize_bilinear(images, size, align_corners=params.align_corners)
    if flipped:
        images = tf.reverse(images, [2])
    logits = _run_windows(network, images, params) if params.sliding_window else network(images)
    if flipped:
        logits = {head: tf.reverse(tensor, [2]) for head, tensor in logits.items()}
    return _with_probabilities(_resized(logits, like, params))


def _run_windows(network: Any, images: Any, params: Any) -> Maps:
    """Returns logits of the size of the images, for `semantic` of the average probabilities."""

    def run_window(window: Any) -> Maps:
        return _with_probabilities(_resized(network(window), window, params))

    maps = windowed(run_window, images, params.sliding_window, params.window_overlap)
    return {**maps, SEMANTIC: tf.log(maps[SEMANTIC] + _TINY)}


def _resized(maps: Mapping[str, Any], like: Any, params: Any) -> Maps:
    return {
        head: upsample(tensor, like=like, align_corners=params.align_corners)
        for head, tensor in maps.items()
    }


def _with_probabilities(logits: Maps) -> Maps:
    return {**logits, SEMANTIC: tf.nn.softmax(logits[SEMANTIC])}


def windowed(
    compute: Callable[[Any], Maps], images: Any, window: int, overlap: float
) -> dict[str, Any]:
    """Computes maps of images window by window, and averages them where windows overlap.

    Args:
      compute: from `[batch, rows, columns, 3]` to name -> `[batch, rows, columns, channels]`.
      images: `[batch, height, width, 3]`.
      window: rows and columns of a window; smaller images have smaller windows.
      overlap: least share of a window that the next window covers as well.

    Returns:
      Name -> `[batch, height, width, channels]`.
    """
    height, width = tf.unstack(tf.shape(images)[1:3])
    rows, columns = tf.minimum(window, height), tf.minimum(window, width)
    tops, lefts = window_starts(height, window, overlap), window_starts(width, window, overlap)

    def compute_window(number: Any) -> Maps:
        y, x = tops[number // tf.size(lefts)], lefts[number % tf.size(lefts)]
        maps = compute(images[:, y : y + rows, x : x + columns])
        margins = [[0, 0], [y, height - y - rows], [x, width - x - columns], [0, 0]]
        padded = {name: tf.pad(tensor, margins) for name, tensor in maps.items()}
        for name, tensor in padded.items():
            # A loop needs the same static shape from every window.
            tensor.set_shape([*images.shape[:3], maps[name].shape[3]])
        return padded

    def add(number: Any, sums: Maps) -> tuple[Any, Maps]:
        with tf.variable_scope(tf.get_variable_scope(), reuse=True):
            maps = compute_window(number)
        return number + 1, {name: total + maps[name] for name, total in sums.items()}

    # The first window is outside of the loop, because a loop cannot make variables.
    _, sums = tf.while_loop(
        lambda number, _: number < tf.size(tops) * tf.size(lefts),
        add,
        [tf.constant(1), compute_window(tf.constant(0))],
        parallel_iterations=1,
        back_prop=False,
    )
    down, across = _coverage(tops, rows, height), _coverage(lefts, columns, width)
    count = down[:, tf.newaxis, tf.newaxis] * across[:, tf.newaxis]
    return {name: total / count for name, total in sums.items()}


def window_starts(size: Any, window: int, overlap: float) -> Any:
    """Returns the first pixels of evenly spread windows along a side; the last ends with the image.

    Args:
      size: scalar int32, pixels of the side.
      window: pixels of a window.
      overlap: least share of a window that the next window covers as well.

    Returns:
      `[count]` int32.
    """
    span = tf.maximum(size - window, 0)
    step = max(int(window * (1 - overlap)), 1)
    gaps = (span + step - 1) // step
    return tf.range(gaps + 1) * span // tf.maximum(gaps, 1)


def _coverage(starts: Any, length: Any, size: Any) -> Any:
    """Returns the number of windows over each pixel of a side, `[size]` float32."""
    places, first = tf.range(size), starts[:, tf.newaxis]
    covered = tf.logical_and(places >= first, places < first + length)
    return tf.reduce_sum(tf.cast(covered, tf.float32), axis=0)
