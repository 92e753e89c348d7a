"""Input queues of the trainers, and the lists of tensors that a model gets from them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_detection.legacy.preprocessor import preprocess
from tf_frame_detection.legacy.standard_fields import InputDataFields
from tf_frame_legacy.batcher import BatchQueue
from tf_frame_legacy.config import Config
from tf_frame_legacy.input_queues import create_queues, dequeue_examples

# The number of the first class in the API's data; 0 is the background.
_FIRST_CLASS = 1


def create_input_queue(
    batch_size_per_clone: int,
    create_tensor_dict_fn: Callable[[], Mapping[str, Any]],
    batch_queue_capacity: int,
    num_batch_queue_threads: int,
    prefetch_queue_capacity: int,
    data_augmentation_options: Sequence[Any],
    preprocess_input_options: Sequence[Any] = (),
) -> BatchQueue:
    """Builds the queue of batches of examples.

    Args:
      batch_size_per_clone: examples of a batch.
      create_tensor_dict_fn: builds the tensors of one example, by name; `image` is
        `[height, width, channels]`.
      batch_queue_capacity, num_batch_queue_threads, prefetch_queue_capacity: see
        `batcher.BatchQueue`.
      data_augmentation_options: pairs of functions and arguments; see `preprocessor.preprocess`.
      preprocess_input_options: pairs of the same kind that are applied first.
    """
    tensors = dict(create_tensor_dict_fn())
    image = tf.cast(tensors[InputDataFields.image], tf.float32)
    tensors[InputDataFields.image] = tf.expand_dims(image, 0)
    options = [*preprocess_input_options, *data_augmentation_options]
    return BatchQueue(
        preprocess(tensors, options),
        batch_size_per_clone,
        batch_queue_capacity,
        num_batch_queue_threads,
        prefetch_queue_capacity,
    )


def create_input_queues(
    create_tensor_dict_fn: Any,
    config: Config,
    num_parts: int,
    preprocess_input_options: Sequence[Any] = (),
) -> list[BatchQueue]:
    """Builds the queue of each input.

    Args:
      create_tensor_dict_fn: a function, see `create_input_queue`, or a list of them.
      config: the training's; `batch_size` is a list if there is a list of functions.
      num_parts: divisor of the batch sizes; the quotient is rounded down.
      preprocess_input_options: see `create_input_queue`.

    Raises:
      ConfigError: numbers of inputs and of batch sizes differ, or a batch would be empty.
    """
    several = isinstance(create_tensor_dict_fn, (list, tuple))
    functions = create_tensor_dict_fn if several else [create_tensor_dict_fn]
    create_queue = functools.partial(
        create_input_queue, preprocess_input_options=preprocess_input_options
    )
    return create_queues(
        create_queue, functions, config, num_parts, scope="Input" if several else ""
    )


def get_inputs(
    input_queue: Any,
    num_classes: int,
    merge_multiple_label_boxes: bool = False,
    use_multiclass_scores: bool = False,
    boxes_field: str = InputDataFields.groundtruth_boxes,
) -> tuple[Any, ...]:
    """Takes a batch from the queues, and converts classes to one-hot.

    Args:
      input_queue: a queue with a method `dequeue()` that returns a list of dictionaries, one for
        each example; or a list of such queues, to join their batches.
      num_classes: number of classes of objects; `groundtruth_classes` counts from 1.
      merge_multiple_label_boxes: make one box of equal boxes, with all of their classes.
      use_multiclass_scores: take `multiclass_scores` for the classes.
      boxes_field: name of the boxes; `groundtruth_rboxes` for rotated ones.

    Returns:
      Tuples with one element for each example: images, keys (`source_id`, or ''), boxes, classes
      `[count, num_classes]` float32, masks, keypoints and weights. A missing tensor is None.

    Raises:
      ValueError: both `merge_multiple_label_boxes` and `use_multiclass_scores`.
      NotImplementedError: boxes to merge have masks or keypoints.
    """
    if merge_multiple_label_boxes and use_multiclass_scores:
        raise ValueError(
            "Using both merge_multiple_label_boxes and use_multiclass_scores is not supported"
        )
    names = InputDataFields

    def extract(example: Mapping[str, Any]) -> tuple[Any, ...]:
        boxes = example[boxes_field]
        if use_multiclass_scores:
            classes = tf.cast(example[names.multiclass_scores], tf.float32)
        else:
            numbers = tf.cast(example[names.groundtruth_classes], tf.int32) - _FIRST_CLASS
            classes = tf.one_hot(numbers, num_classes)
        masks = example.get(names.groundtruth_instance_masks)
        keypoints = example.get(names.groundtruth_keypoints)
        if merge_multiple_label_boxes:
            if masks is not None or keypoints is not None:
                raise NotImplementedError("Multi-label support is only for boxes.")
            boxes, classes = merge_boxes_with_multiple_labels(boxes, classes)
        key, weights = example.get(names.source_id, ""), example.get(names.groundtruth_weights)
        return (example[names.image], key, boxes, classes, masks, keypoints, weights)

    return tuple(zip(*map(extract, dequeue_examples(input_queue)), strict=True))


def merge_boxes_with_multiple_labels(boxes: Any, classes: Any) -> tuple[Any, Any]:
    """Makes one box of equal boxes.

    Args:
      boxes: `[count, coordinates]`.
      classes: `[count, num_classes]`, one-hot.

    Returns:
      The different boxes in the order of their first appearance, and their classes, 1 at each.
    """
    merged, index = tf.raw_ops.UniqueV2(x=boxes, axis=[0])
    merged_classes = tf.math.unsorted_segment_max(classes, index, tf.shape(merged)[0])
    return tf.ensure_shape(merged, [None, boxes.shape[1]]), merged_classes
