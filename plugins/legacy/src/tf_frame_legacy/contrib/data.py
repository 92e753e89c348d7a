"""The functions of tf.contrib.data that are neither in tf.data nor in tf.data.experimental."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_legacy.program.watch.options import active

Transformation = Callable[[Any], Any]


def batch_and_drop_remainder(batch_size: Any) -> Transformation:
    """Returns a transformation to batches, without an incomplete last one."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(
    batch_size: Any, padded_shapes: Any, padding_values: Any = None
) -> Transformation:
    """Returns a transformation to padded batches, without an incomplete last one."""
    return lambda dataset: dataset.padded_batch(
        batch_size, padded_shapes, padding_values, drop_remainder=True
    )


def assert_element_shape(expected_shapes: Any) -> Transformation:
    """Returns a transformation that checks the shapes of elements and sets their static shapes.

    Args:
      expected_shapes: shapes in the structure of the elements; dimensions may be None.

    Raises:
      ValueError: a static shape differs. A shape that differs in a run is an
        `InvalidArgumentError`.
    """

    def check(*element: Any) -> Any:
        expected = expected_shapes if len(element) > 1 else (expected_shapes,)
        checked = [
            tf.nest.map_structure(tf.ensure_shape, part, _shapes_like(part, shapes))
            for part, shapes in zip(element, expected, strict=True)
        ]
        return tuple(checked) if len(checked) > 1 else checked[0]

    return lambda dataset: dataset.map(check)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: Any = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """Returns `tf.data.experimental.parallel_interleave`.

    With `tf-frame legacy run --exact_resume` the order is fixed, also with `sloppy`: a restarted
    program cannot repeat a matter of chance.
    """
    watch = active()
    interleave: Transformation = tf.data.experimental.parallel_interleave(
        map_func,
        cycle_length,
        block_length,
        False if watch is not None and watch.options.exact_resume else sloppy,
        buffer_output_elements,
        prefetch_input_elements,
    )
    return interleave


def sloppy_interleave(
    map_func: Callable[..., Any], cycle_length: Any, block_length: Any = 1
) -> Transformation:
    """Returns `parallel_interleave` without a fixed order."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def sliding_window_batch(
    window_size: int,
    stride: int | None = None,
    window_shift: int | None = None,
    window_stride: int = 1,
) -> Transformation:
    """Returns a transformation to batches of `window_size` elements that may overlap.

    Args:
      window_size: elements of a batch.
      stride: old name of `window_shift`.
      window_shift: elements between the starts of two windows; 1 by default.
      window_stride: distance of the elements within a window.

    Raises:
      ValueError: both `stride` and `window_shift` are set.
    """
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    shift = stride or window_shift or 1

    def batch(*window: Any) -> Any:
        batches = tf.nest.map_structure(lambda part: part.batch(window_size), window)
        batches = batches if len(batches) > 1 else batches[0]
        return batches if isinstance(batches, tf.data.Dataset) else tf.data.Dataset.zip(batches)

    def apply(dataset: Any) -> Any:
        windows = dataset.window(window_size, shift, window_stride, drop_remainder=True)
        return windows.flat_map(batch)

    return apply


def reduce_dataset(dataset: Any, reducer: Any) -> Any:
    """Returns the state after `reducer` (tf.data.experimental.Reducer) has seen all elements.

    Raises:
      TypeError: `dataset` is not a `tf.data.Dataset`.
    """
    if not isinstance(dataset, tf.data.Dataset):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    return dataset.reduce(reducer.init_func(np.int64(0)), reducer.reduce_func)


def read_batch_features(
    file_pattern: Any,
    batch_size: int,
    features: dict[str, Any],
    reader: Any = tf.data.TFRecordDataset,
    reader_args: Any = None,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    capacity: int = 10000,
) -> Any:
    """Reads batches of parsed `tf.train.Example` messages.

    Args:
      file_pattern: files or patterns of files.
      batch_size: examples of a batch.
      features: name -> `tf.FixedLenFeature` or `tf.VarLenFeature`.
      reader: class of the dataset of serialised messages; `reader_args` are its arguments.
      randomize_input: shuffles within `capacity` examples.
      num_epochs: None: without end.

    Returns:
      Name of the feature -> tensor `[batch_size, ...]` or sparse tensor.
    """
    dataset = tf.data.experimental.make_batched_features_dataset(
        file_pattern,
        batch_size,
        features,
        reader=reader,
        reader_args=reader_args,
        shuffle=randomize_input,
        num_epochs=num_epochs,
        shuffle_buffer_size=capacity,
    )
    return tf.data.make_one_shot_iterator(dataset).get_next()


def _shapes_like(element: Any, shapes: Any) -> Any:
    """Returns shapes as `TensorShape`, in the structure of an element."""
    if isinstance(element, dict):
        return {key: _shapes_like(element[key], shapes[key]) for key in element}
    if isinstance(element, tuple):
        return tuple(map(_shapes_like, element, shapes))
    return tf.TensorShape(shapes)
