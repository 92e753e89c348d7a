"""Input queues of the trainer, and the batch that a model gets from all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.text import short_repr
from tf_frame_legacy.batcher import BatchQueue
from tf_frame_legacy.config import Config, batch_sizes
from tf_frame_recognition.legacy.standard_fields import InputDataFields

_TRUTH = "groundtruth_"


def create_input_queue(
    batch_size_per_clone: int,
    create_tensor_dict_fn: Callable[[], Mapping[str, Any]],
    batch_queue_capacity: int,
    num_batch_queue_threads: int,
    prefetch_queue_capacity: int,
    data_augmentation_options: Sequence[Any],
) -> BatchQueue:
    """Builds the queue of batches of examples.

    Args:
      batch_size_per_clone: examples of a batch.
      create_tensor_dict_fn: builds the tensors of one example, by name; `image` is
        `[height, width, channels]`.
      batch_queue_capacity, num_batch_queue_threads, prefetch_queue_capacity: see
        `batcher.BatchQueue`.
      data_augmentation_options: pairs of a function and its arguments, applied in this order. A
        function takes and returns the tensors of an example by name; `image` is float32.

    Raises:
      ConfigError: an option is not such a pair.
    """
    tensors = dict(create_tensor_dict_fn())
    tensors[InputDataFields.image] = tf.cast(tensors[InputDataFields.image], tf.float32)
    for function, arguments in map(_pair, data_augmentation_options):
        tensors = function(tensors, **arguments)
    return BatchQueue(
        tensors,
        batch_size=batch_size_per_clone,
        batch_queue_capacity=batch_queue_capacity,
        num_batch_queue_threads=num_batch_queue_threads,
        prefetch_queue_capacity=prefetch_queue_capacity,
    )


def create_input_queues(
    create_tensor_dict_fn_list: Sequence[Callable[[], Mapping[str, Any]]],
    config: Config,
    num_clones: int,
) -> list[BatchQueue]:
    """Builds the queue of each input, in the name scope `Input`.

    Args:
      create_tensor_dict_fn_list: a function for each input, see `create_input_queue`.
      config: the training's; `batch_size` has a number for each input.
      num_clones: number of clones, by which the batch sizes are divided.

    Raises:
      ConfigError: numbers of inputs and of batch sizes differ, or a batch would be empty.
    """
    sizes = batch_sizes(config, len(create_tensor_dict_fn_list), num_clones)
    with tf.name_scope("Input"):
        return [
            create_input_queue(
                size,
                function,
                config.batch_queue_capacity,
                config.num_batch_queue_threads,
                config.prefetch_queue_capacity,
                config.data_augmentation_options,
            )
            for function, size in zip(create_tensor_dict_fn_list, sizes, strict=True)
        ]


def get_inputs(input_queue: Any) -> tuple[list[Any], dict[str, list[Any]]]:
    """Takes a batch from each queue, and joins their examples.

    Args:
      input_queue: a queue whose `dequeue()` returns the dictionaries of its examples, or a list of
        queues.

    Returns:
      The images, and name -> list of the tensors `groundtruth_...`; an element an example.

    Raises:
      ConfigError: the inputs have different tensors `groundtruth_...`.
    """
    queues = input_queue if isinstance(input_queue, (list, tuple)) else [input_queue]
    examples = [example for queue in queues for example in queue.dequeue()]
    found = [sorted(name for name in example if name.startswith(_TRUTH)) for example in examples]
    if different := [names for names in found if names != found[0]]:
        raise ConfigError(
            f"one input has {', '.join(found[0])}, another has {', '.join(different[0])}; the "
            "inputs of a batch must have the same"
        )
    truth = {name: [example[name] for example in examples] for name in found[0]}
    return [example[InputDataFields.image] for example in examples], truth


def _pair(option: Any) -> tuple[Callable[..., Any], Mapping[str, Any]]:
    if not (isinstance(option, (tuple, list)) and len(option) == 2 and callable(option[0])):
        raise ConfigError(
            f"the augmentation {short_repr(option)} is not a pair of a function and its arguments; "
            "give (function, {'name': value})"
        )
    return option[0], option[1]
