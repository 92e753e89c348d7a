"""How one example is read so that a damaged one is told from a good one, and not an error.

Reading       image    [height, width, 1 or 3] uint8
              label    scalar int64, as the data has it
              name     scalar string: file, and which of its examples
              problem  scalar string: empty, or why it cannot be used, with its name
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

# Examples that are read at the same time. They are part of a saved position, decoded; so there
# must not be many, and their number must not depend on the machine.
_CYCLE_LENGTH = 8


def reading(image: Any, label: Any, name: Any, problem: Any = "") -> dict[str, Any]:
    """One example as the module describes it; a problem is preceded by its name."""
    problem = tf.convert_to_tensor(problem)
    named = tf.strings.join([name, problem], separator=": ")
    return {
        "image": tf.ensure_shape(image, [None, None, image.shape[-1]]),
        "label": tf.cast(label, tf.int64),
        "name": tf.convert_to_tensor(name),
        "problem": tf.where(tf.equal(problem, ""), problem, named),
    }


def failed(name: Any, problem: Any) -> dict[str, Any]:
    """An example that could not be read: one black pixel.

    Args:
      name: file, and which of its examples.
      problem: why, such as `its checksum is wrong`.
    """
    return reading(tf.zeros([1, 1, 3], tf.uint8), tf.zeros([], tf.int64), name, problem)


def first_that_works(attempts: Sequence[Any], last: dict[str, Any]) -> Any:
    """Returns a data set of one example: that of the first attempt which raises no error.

    This needs no Python in the pipeline, so that its position can be saved.

    Args:
      attempts: data sets of one example each.
      last: what is taken where all fail.
    """
    found = tf.data.Dataset.from_tensors(last)
    for attempt in reversed(attempts):
        found = attempt.ignore_errors().concatenate(found)
    return found.take(1)


def read_by_data_sets(order: Any, function: Callable[[Any], Any]) -> Any:
    """Reads each example by a data set of one, several at a time, in their order.

    Args:
      order: see `ImageInput.examples`.
      function: from an index to a data set of one example.

    Returns:
      A data set of `(number, example)`.
    """
    examples = order.interleave(
        plain(lambda number, index: function(index)),
        cycle_length=_CYCLE_LENGTH,
        block_length=1,
        num_parallel_calls=tf.data.AUTOTUNE,
        deterministic=True,
    )
    return tf.data.Dataset.zip((order.map(lambda number, index: number), examples))


def read_by_function(order: Any, function: Callable[[Any], dict[str, Any]]) -> Any:
    """Reads each example by a function that cannot fail, such as of pixels in memory.

    Args:
      order: see `ImageInput.examples`.
      function: from an index to an example.

    Returns:
      A data set of `(number, example)`.
    """
    return order.map(plain(lambda number, index: (number, function(index))))


def decode_picture(data: Any) -> Any:
    """Decodes JPEG, PNG, BMP or the first frame of a GIF: `[height, width, 3]` uint8.

    Of 16 bits the upper eight count; transparency is left out.

    Args:
      data: scalar string, the content of a file.
    """
    image = tf.io.decode_image(data, channels=3, expand_animations=False)
    return tf.ensure_shape(image, [None, None, 3])


def why_not_decoded(data: Any) -> Any:
    """A scalar string that says why `decode_picture` failed."""
    told = tf.strings.join(
        [
            "it cannot be decoded as JPEG, PNG, BMP or GIF (",
            tf.strings.as_string(tf.strings.length(data)),
            " bytes)",
        ]
    )
    return tf.where(tf.equal(data, ""), tf.constant("it is empty"), told)


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is written, not as AutoGraph rewrites it."""
    converted: Callable[..., Any] = tf.autograph.experimental.do_not_convert(function)
    return converted
