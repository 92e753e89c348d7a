"""Average of the network's probabilities over scales, mirror images and windows of an image.

Scales and mirror images are those of `predict_labels_multi_scale` in deeplab/model.py of
tensorflow/models: a side of n pixels becomes (n - 1) * scale + 1; softmax at the size of the
image; the mean of all. Resizing follows `--model.align_corners`, which is always on there.

Windows overlap and lie within the image. They are taken one after the other, so that memory is that
of one window and of the result.
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
# Scale, and whether the image is mirrored.
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
      like: a tensor whose height and width the result has, `[batch, height, width, ...]`.
      params: `tf_frame_deeplab.model.Params`.

    Returns:
      Head -> `[batch, height, width, channels]`. Of `semantic` it is the logarithm of the
      average probabilities, whose softmax are these. Of other heads, which have values
      that depend on scale and direction, only the plain image counts.
    """
    flips = (False, True) if params.add_flipped_images else (False,)
    views = [(scale, flipped) for scale in params.eval_scales for flipped in flips]
    found: dict[_View, Maps] = {}

    def maps_of(view: _View) -> Maps:
        if view not in found:
            with tf.variable_scope(tf.get_variable_scope(), reuse=bool(found)):
                found[view] = _maps(network, images, view, like, params)
        return found[view]

    probabilities = [maps_of(view)[SEMANTIC] for view in views]
    mean = tf.add_n(probabilities) / len(probabilities)
    others = maps_of(_PLAIN) if len(found[views[0]]) > 1 else {}
    return {**others, SEMANTIC: tf.log(mean + _TINY)}


def _maps(network: Any, images: Any, view: _View, like: Any, params: Any) -> Maps:
    """Outputs for one view, at the size of `like`: probabilities of the classes, other logits."""
    scale, flipped = view
    if scale != 1:
        size = scaled_size(layers.spatial_size(images), scale)
        images = layers.resize_bilinear(images, size, align_corners=params.align_corners)
    if flipped:
        images = tf.reverse(images, [2])
    logits = _of_windows(network, images, params) if params.sliding_window else network(images)
    if flipped:
        logits = {head: tf.reverse(each, [2]) for head, each in logits.items()}
    return _with_probabilities(_resized(logits, like, params))


def _of_windows(network: Any, images: Any, params: Any) -> Maps:
    """Logits of the size of the images; of the classes they are of the average probabilities."""

    def of_window(window: Any) -> Maps:
        return _with_probabilities(_resized(network(window), window, params))

    found = windowed(of_window, images, params.sliding_window, params.window_overlap)
    return {**found, SEMANTIC: tf.log(found[SEMANTIC] + _TINY)}


def _resized(maps: Mapping[str, Any], like: Any, params: Any) -> Maps:
    return {
        head: upsample(each, like=like, align_corners=params.align_corners)
        for head, each in maps.items()
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
      window: rows and columns of a window; an image that is smaller has smaller ones.
      overlap: least share of a window that the next one covers, too.

    Returns:
      Name -> `[batch, height, width, channels]`.
    """
    height, width = tf.unstack(tf.shape(images)[1:3])
    rows, columns = tf.minimum(window, height), tf.minimum(window, width)
    tops, lefts = window_starts(height, window, overlap), window_starts(width, window, overlap)

    def at(number: Any) -> Maps:
        top, left = tops[number // tf.size(lefts)], lefts[number % tf.size(lefts)]
        found = compute(images[:, top : top + rows, left : left + columns])
        margins = [[0, 0], [top, height - top - rows], [left, width - left - columns], [0, 0]]
        padded = {name: tf.pad(each, margins) for name, each in found.items()}
        for name, each in padded.items():
            # Else known in the first window only.
            each.set_shape([*images.shape[:3], found[name].shape[3]])
        return padded

    def add(number: Any, sums: Maps) -> tuple[Any, Maps]:
        with tf.variable_scope(tf.get_variable_scope(), reuse=True):
            more = at(number)
        return number + 1, {name: total + more[name] for name, total in sums.items()}

    # The first window is outside of the loop, where variables can be made.
    _, sums = tf.while_loop(
        lambda number, _: number < tf.size(tops) * tf.size(lefts),
        add,
        [tf.constant(1), at(tf.constant(0))],
        parallel_iterations=1,
        back_prop=False,
    )
    down, across = _coverage(tops, rows, height), _coverage(lefts, columns, width)
    count = down[:, tf.newaxis, tf.newaxis] * across[:, tf.newaxis]
    return {name: total / count for name, total in sums.items()}


def window_starts(size: Any, window: int, overlap: float) -> Any:
    """First pixels of the windows along a side, evenly spread; the last one ends with the image.

    Args:
      size: scalar int32, pixels of the side.
      window: pixels of a window.
      overlap: least share of a window that the next one covers, too.

    Returns:
      `[count]` int32.
    """
    rest = tf.maximum(size - window, 0)
    step = max(int(window * (1 - overlap)), 1)
    gaps = (rest + step - 1) // step
    return tf.range(gaps + 1) * rest // tf.maximum(gaps, 1)


def _coverage(starts: Any, length: Any, size: Any) -> Any:
    """Number of windows over each pixel of a side, `[size]` float32."""
    places, first = tf.range(size), starts[:, tf.newaxis]
    covered = tf.logical_and(places >= first, places < first + length)
    return tf.reduce_sum(tf.cast(covered, tf.float32), axis=0)
