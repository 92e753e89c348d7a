"""Input queues of the trainers in `tf_frame_detection.legacy` and `tf_frame_recognition.legacy`.

queues = create_queues(create_queue, [create_boxes, create_trees], config, num_parts=2)
examples = dequeue_examples(queues)  # a list of dictionaries
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.text import short_repr
from tf_frame_legacy.config import Config


def create_queues(
    create_input_queue: Callable[..., Any],
    create_tensor_dict_fns: Sequence[Callable[[], Mapping[str, Any]]],
    config: Config,
    num_parts: int,
    *,
    scope: str = "Input",
) -> list[Any]:
    """Builds the queue of each input.

    Args:
      create_input_queue: builds one queue from a batch size, a function, the three sizes of queues
        in the configuration, and `data_augmentation_options`.
      create_tensor_dict_fns: for each input a function that builds the tensors of one example.
      config: the configuration of the training; `batch_size` is a number, or a list with one
        number for each input.
      num_parts: divisor of the batch sizes; the quotient is rounded down.
      scope: name scope of the queues; empty: none.

    Raises:
      ConfigError: the numbers of inputs and of batch sizes differ, or a part would be empty.
    """
    size: int | Sequence[int] = config.batch_size
    sizes = [size] if isinstance(size, int) else list(size)
    num_inputs = len(create_tensor_dict_fns)
    if len(sizes) != num_inputs:
        raise ConfigError(
            f"batch_size is {size} for {num_inputs} inputs; give a list with a batch size for each"
        )
    parts = [split_batch_size(size, num_parts) for size in sizes]
    with tf.name_scope(scope):
        return [
            create_input_queue(
                part,
                function,
                config.batch_queue_capacity,
                config.num_batch_queue_threads,
                config.prefetch_queue_capacity,
                config.data_augmentation_options,
            )
            for part, function in zip(parts, create_tensor_dict_fns, strict=True)
        ]


def split_batch_size(batch_size: int, num_parts: int) -> int:
    """Returns the number of examples in each part of a batch, rounded down.

    Raises:
      ConfigError: a part has no example.
    """
    part = batch_size // num_parts
    if part < 1:
        raise ConfigError(
            f"batch_size {batch_size} leaves no example for each of {num_parts} parts (clones, "
            "or replicas to aggregate); raise batch_size"
        )
    return part


def dequeue_examples(input_queue: Any) -> list[Mapping[str, Any]]:
    """Returns the examples of the next batch of a queue, or of each queue in a list."""
    queues = input_queue if isinstance(input_queue, (list, tuple)) else [input_queue]
    return [example for queue in queues for example in queue.dequeue()]


def check_augmentation(option: Any, *, names: bool = False) -> tuple[Any, Mapping[str, Any]]:
    """Returns one of `data_augmentation_options`: a function and its arguments.

    Args:
      option: the pair.
      names: whether the name of a function may replace the function.

    Raises:
      ConfigError: the option is no such pair.
    """
    is_pair = isinstance(option, (tuple, list)) and len(option) == 2
    if not is_pair or not (callable(option[0]) or (names and isinstance(option[0], str))):
        function = "a function, or the name of one," if names else "a function"
        raise ConfigError(
            f"the augmentation {short_repr(option)} is not a pair of {function} and its "
            "arguments; give (function, {'name': value})"
        )
    return option[0], option[1]
