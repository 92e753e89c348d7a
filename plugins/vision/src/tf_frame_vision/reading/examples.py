"""Format of examples read from files; a damaged one has a `problem` and raises no error.

So the run can say which file is damaged and why, or leave the example out and count it.
An example is a mapping of tensors: its fields, as their `tf.TensorSpec`s say, and

    name     scalar string: file, and which of its examples
    problem  scalar string: empty, or the name and why the example cannot be used
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

# Examples that are read at the same time. They are part of a saved position, decoded; so their
# number is small, and does not depend on the machine.
_CYCLE_LENGTH = 8
COLOUR_IMAGE = tf.TensorSpec([None, None, 3], tf.uint8)


def example(
    specs: Mapping[str, Any], fields: Mapping[str, Any], name: Any, problem: Any = ""
) -> dict[str, Any]:
    """Makes an example; a problem is preceded by the name.

    Args:
      specs: type and shape of each field.
      fields: their values.
      name: file, and which of its examples.
      problem: why it cannot be used, such as `its checksum is wrong`; empty: it can.
    """
    problem = tf.convert_to_tensor(problem)
    named = tf.strings.join([name, problem], separator=": ")
    return {
        **cast(specs, fields),
        "name": tf.convert_to_tensor(name),
        "problem": tf.where(tf.equal(problem, ""), problem, named),
    }


def unreadable(specs: Mapping[str, Any], name: Any, problem: Any) -> dict[str, Any]:
    """Makes an example that could not be read; its fields are zeros, unknown sizes 1."""
    return example(specs, zeros(specs), name, problem)


def cast(specs: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields with their types and shapes."""
    return {
        key: tf.ensure_shape(tf.cast(fields[key], spec.dtype), spec.shape)
        for key, spec in specs.items()
    }


def zeros(specs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns fields of zeros, unknown sizes 1."""
    return {key: tf.zeros([d or 1 for d in s.shape], s.dtype) for key, s in specs.items()}


def first_readable(
    source: Any, attempts: Sequence[Callable[..., Any]], last: Mapping[str, Any]
) -> Any:
    """Returns a data set of one example: of the first function that raises no error.

    The pipeline runs no Python for it, so that its position can be saved.

    Args:
      source: data set of one element, such as the content of a file.
      attempts: functions from the element to an example.
      last: the example where all fail.
    """
    example_set = tf.data.Dataset.from_tensors(last)
    for attempt in reversed(attempts):
        readable = source.map(without_autograph(attempt)).ignore_errors()
        example_set = readable.concatenate(example_set)
    return example_set.take(1)


def read_by_data_sets(order: Any, function: Callable[[Any], Any]) -> Any:
    """Reads each example by a data set of one, several at a time, in their order.

    Args:
      order: data set of `(number, index)`; see `pipeline`.
      function: from an index to a data set of one example.

    Returns:
      A data set of `(number, example)`.
    """
    examples = order.interleave(
        without_autograph(lambda number, index: function(index)),
        cycle_length=_CYCLE_LENGTH,
        block_length=1,
        num_parallel_calls=tf.data.AUTOTUNE,
        deterministic=True,
    )
    return tf.data.Dataset.zip((order.map(lambda number, index: number), examples))


def read_by_function(order: Any, function: Callable[[Any], Mapping[str, Any]]) -> Any:
    """Reads each example by a function that cannot fail, such as of pixels in memory.

    Args:
      order: data set of `(number, index)`; see `pipeline`.
      function: from an index to an example.

    Returns:
      A data set of `(number, example)`.
    """
    return order.map(without_autograph(lambda number, index: (number, function(index))))


def without_autograph(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function without AutoGraph's conversion."""
    converted: Callable[..., Any] = tf.autograph.experimental.do_not_convert(function)
    return converted


def traced_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that is traced once, however many attempts of `first_readable` call it.

    Tracing the functions of a pipeline takes most of the time before the first batch.
    """
    traced: Callable[..., Any] = tf.function(function, autograph=False)
    return traced
