"""Reads pairs of an image and a mask as examples; see `tf_frame_vision.reading`.

Masks become classes by TensorFlow's operations alone, so that the position in the input can be
saved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_deeplab.inputs.mask_file import COLOUR, HEADER_BYTES, PALETTE, Facts, Pair
from tf_frame_vision.reading import packed
from tf_frame_vision.reading.examples import (
    COLOUR_IMAGE,
    decode_image,
    example,
    first_readable,
    read_by_data_sets,
    unreadable,
    without_autograph,
)

SPECS = {
    "image": COLOUR_IMAGE,
    "mask": tf.TensorSpec([None, None, 1], tf.int32),
    "mask_name": tf.TensorSpec([], tf.string),
}
# Position of the colour type in a PNG.
_COLOUR_TYPE = 25
_WHITE = 2**16 - 1


def pair_examples(
    pairs: Sequence[Pair], facts: Sequence[Facts], colours: Mapping[int, int], order: Any
) -> Any:
    """Returns a data set of `(number, example)`.

    An example has `image`, `[height, width, 3]` uint8, `mask`, `[height, width, 1]` int32, and
    `mask_name`. A pixel whose colour is no class is -1 - 0xRRGGBB.

    Args:
      pairs: the files.
      facts: of each pair.
      colours: `0xRRGGBB` -> class.
      order: data set of `(number, index)`.
    """
    images = packed.strings([str(pair.image) for pair in pairs])
    masks = packed.strings([str(pair.mask) for pair in pairs])
    spread = packed.integers([_WHITE // (2**each.bits - 1) for each in facts])
    is_palette = tf.constant([each.kind == PALETTE for each in facts])
    is_colour = tf.constant([each.kind == COLOUR for each in facts])
    checksums = tf.constant([each.as_grey for each in facts])

    def read(index: Any) -> Any:
        files = tf.data.Dataset.from_tensors((images[index], masks[index]))

        def decoded(image: Any, mask: Any) -> Any:
            data = tf.io.read_file(mask)
            data = tf.cond(
                is_palette[index], lambda: _as_grey(data, checksums[index]), lambda: data
            )
            classes = tf.cond(
                is_colour[index],
                lambda: _classes_of_colours(data, colours),
                lambda: _numbers(data, spread[index]),
            )
            fields = {"image": decode_image(tf.io.read_file(image)), "mask": classes}
            return example(SPECS, {**fields, "mask_name": mask}, image)

        last = unreadable(
            SPECS, images[index], tf.strings.join(["it or ", masks[index], " cannot be decoded"])
        )
        return first_readable([files.map(without_autograph(decoded))], last)

    return read_by_data_sets(order, read)


def _as_grey(data: Any, checksum: Any) -> Any:
    """A PNG with a palette as one of grey values, which are then the indices.

    TensorFlow decodes a palette to colours, of which two may be equal.
    """
    return tf.strings.join(
        [
            tf.strings.substr(data, 0, _COLOUR_TYPE),
            tf.constant(b"\0"),
            tf.strings.substr(data, _COLOUR_TYPE + 1, HEADER_BYTES - _COLOUR_TYPE - 5),
            checksum,
            tf.strings.substr(data, HEADER_BYTES, -1),
        ]
    )


def _numbers(data: Any, spread: Any) -> Any:
    """The values of pixels, which TensorFlow spreads over 16 bits."""
    values = tf.io.decode_png(data, channels=1, dtype=tf.uint16)
    return tf.cast(values, tf.int32) // tf.cast(spread, tf.int32)


def _classes_of_colours(data: Any, colours: Mapping[int, int]) -> Any:
    pixels = tf.cast(tf.io.decode_png(data, channels=3), tf.int32)
    codes = pixels[..., :1] * 2**16 + pixels[..., 1:2] * 2**8 + pixels[..., 2:]
    # Without colours in classes.txt there is none to be found.
    known = sorted(colours) or [-1]
    classes = tf.constant([colours.get(code, 0) for code in known], tf.int32)
    place = tf.searchsorted(tf.constant(known, tf.int32), tf.reshape(codes, [-1]))
    place = tf.reshape(tf.minimum(place, len(known) - 1), tf.shape(codes))
    found = tf.equal(tf.gather(tf.constant(np.array(known, np.int32)), place), codes)
    return tf.where(found, tf.gather(classes, place), -1 - codes)
