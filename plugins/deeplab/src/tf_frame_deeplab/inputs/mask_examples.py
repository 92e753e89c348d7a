"""Reads pairs of an image and a mask as examples; see `tf_frame_vision.reading`.

TensorFlow's operations alone turn masks into classes, so that a checkpoint can hold the position in
the input.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_deeplab.inputs.mask_file import COLOUR, HEADER_BYTES, PALETTE, Facts, Pair
from tf_frame_vision.reading import arrays
from tf_frame_vision.reading.decoding import image_decoders
from tf_frame_vision.reading.examples import (
    COLOUR_IMAGE,
    example,
    first_readable,
    read_by_data_sets,
    traced_once,
    unreadable,
)
from tf_frame_vision.reading.orientation import UPRIGHT
from tf_frame_vision.reading.turning import turned

SPECS = {
    "image": COLOUR_IMAGE,
    "mask": tf.TensorSpec([None, None, 1], tf.int32),
    "mask_name": tf.TensorSpec([], tf.string),
}
# Position of the colour type in a PNG.
_COLOUR_TYPE = 25
_CHECKSUM_BYTES = 4
_WHITE = 2**16 - 1


def pair_examples(
    pairs: Sequence[Pair],
    facts: Sequence[Facts],
    colours: Mapping[int, int],
    order: Any,
    options: Any = None,
) -> Any:
    """Returns a data set of `(number, example)`.

    An example has `image`, `[height, width, 3]` uint8, `mask`, `[height, width, 1]` int32, and
    `mask_name`. A pixel with a colour of no class is -1 - 0xRRGGBB.

    Args:
      pairs: the files.
      facts: of each pair.
      colours: `0xRRGGBB` -> class.
      order: data set of `(number, index)`.
      options: see `tf_frame_vision.reading.decoding.image_decoders`.
    """
    image_name = arrays.Texts([str(pair.image) for pair in pairs])
    mask_name = arrays.Texts([str(pair.mask) for pair in pairs])
    spread = arrays.Rows([_WHITE // (2**fact.bits - 1) for fact in facts])
    is_palette = arrays.Rows([fact.kind == PALETTE for fact in facts])
    is_colour = arrays.Rows([fact.kind == COLOUR for fact in facts])
    turns = None
    if any(fact.turn != UPRIGHT for fact in facts):
        turns = arrays.Rows([fact.turn for fact in facts])
    checksums = arrays.content(b"".join(fact.as_grey for fact in facts))

    def read(index: Any) -> Any:
        files = tf.data.Dataset.from_tensors((image_name[index], mask_name[index]))

        @traced_once
        def read_mask(mask: Any) -> Any:
            data = tf.io.read_file(mask)
            place = tf.cast(index, tf.int32) * _CHECKSUM_BYTES
            checksum = tf.strings.substr(checksums, place, _CHECKSUM_BYTES)
            data = tf.cond(is_palette[index], lambda: _as_grey(data, checksum), lambda: data)
            classes = tf.cond(
                is_colour[index],
                lambda: _decode_colours(data, colours),
                lambda: _numbers(data, spread[index]),
            )
            if turns is not None:
                classes = turned(classes, turns[index])
            return classes

        def decoded(decode: Callable[[Any], Any], image: Any, mask: Any) -> Any:
            pixels, problem = decode(tf.io.read_file(image))
            fields = {"image": pixels, "mask": read_mask(mask), "mask_name": mask}
            return example(SPECS, fields, image, problem)

        attempts = [functools.partial(decoded, decode) for decode in image_decoders(options)]
        last = unreadable(
            SPECS,
            image_name[index],
            tf.strings.join(["it or ", mask_name[index], " cannot be decoded"]),
        )
        return first_readable(files, attempts, last)

    return read_by_data_sets(order, read)


def _as_grey(data: Any, checksum: Any) -> Any:
    """Turns a PNG with a palette into a PNG of grey values: the indices.

    TensorFlow decodes a palette to colours, and two colours may be equal.
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
    """Returns the values of pixels; TensorFlow spreads them over 16 bits."""
    values = tf.io.decode_png(data, channels=1, dtype=tf.uint16)
    return tf.cast(values, tf.int32) // tf.cast(spread, tf.int32)


def _decode_colours(data: Any, colours: Mapping[int, int]) -> Any:
    pixels = tf.cast(tf.io.decode_png(data, channels=3), tf.int32)
    codes = pixels[..., :1] * 2**16 + pixels[..., 1:2] * 2**8 + pixels[..., 2:]
    # Without colours in classes.txt no pixel has a class: no code is -1.
    class_codes = sorted(colours) or [-1]
    classes = tf.constant([colours.get(code, 0) for code in class_codes], tf.int32)
    place = tf.searchsorted(tf.constant(class_codes, tf.int32), tf.reshape(codes, [-1]))
    place = tf.reshape(tf.minimum(place, len(class_codes) - 1), tf.shape(codes))
    has_class = tf.equal(tf.gather(tf.constant(np.array(class_codes, np.int32)), place), codes)
    return tf.where(has_class, tf.gather(classes, place), -1 - codes)
