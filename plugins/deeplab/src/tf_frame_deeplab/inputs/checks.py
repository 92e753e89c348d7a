"""Checks the pixels of an example in the graph."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf


def find_problem(example: Any, count: int, ignore_label: int) -> Any:
    """Returns the reason why a mask cannot be used, a scalar string; empty if it can.

    Args:
      example: an example with `image`, `mask`, its first channel the class, and `mask_name`.
      count: number of classes.
      ignore_label: label of pixels that do not count.
    """
    name, mask = example["mask_name"], example["mask"]
    size, image_size = tf.shape(mask)[:2], tf.shape(example["image"])[:2]
    wrong = tf.reshape(mask[..., 0], [-1])
    wrong = tf.boolean_mask(
        wrong, tf.not_equal(wrong, ignore_label) & ((wrong < 0) | (wrong >= count))
    )
    problems = [
        (
            tf.reduce_any(tf.not_equal(size, image_size)),
            [name, " is ", _text(size), " pixels, but its image ", _text(image_size)],
        ),
        (tf.size(wrong) > 0, [name, " has ", _value(wrong[:1])]),
    ]
    problem: Any = tf.constant("")
    for is_wrong, words in reversed(problems):
        problem = tf.where(is_wrong, tf.strings.join(words), problem)
    return problem


def _text(size: Any) -> Any:
    return tf.strings.reduce_join(tf.strings.as_string(size), separator=" x ")


def _value(wrong: Any) -> Any:
    """Describes a pixel, `[1]` or `[0]`, that is no class; see `mask_examples.pair_examples`."""
    code = -1 - wrong
    channels = tf.stack([code // 2**16, code // 2**8 % 256, code % 256])
    colour = tf.strings.reduce_join(tf.strings.as_string(channels), separator=" ")
    number = tf.strings.reduce_join(tf.strings.as_string(wrong))
    return tf.where(
        tf.reduce_any(wrong < 0),
        tf.strings.join(["the colour ", colour, ", which no class has"]),
        tf.strings.join(["the value ", number, ", which is no class"]),
    )
