"""Format of DeepLab's records: an encoded image, and a PNG of grey values, the classes.

Keys: tensorflow/models, research/deeplab/datasets/build_data.py and data_generator.py. The content
decides the format of the image, so `image/format` is not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_deeplab.inputs.mask_examples import SPECS
from tf_frame_deeplab.inputs.mask_file import MASK
from tf_frame_vision.reading.decoding import fits
from tf_frame_vision.reading.record_facts import IMAGE
from tf_frame_vision.reading.records import RecordFormat
from tf_frame_vision.reading.turning import find_turn, turned

# Places of width and height, bits and colour type in a PNG, and colour types without red, green and
# blue (PNG specification, section 11.2.2).
_SIZE = (16, 20)
_BITS, _COLOUR_TYPE = 24, 25
_GREY = (0, 4)
_WHITE = 2**16 - 1


def image_and_mask(max_pixels: int) -> RecordFormat:
    """Returns the format.

    Args:
      max_pixels: the most pixels of a mask, as of an image.
    """

    def parse(parsed: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any], Any]:
        images, masks = parsed[IMAGE].values, parsed[MASK].values
        image, mask = (tf.strings.reduce_join(values[:1]) for values in (images, masks))
        data = tf.io.decode_raw(tf.strings.join([mask, "\0" * 32]), tf.uint8)[:32]
        header = tf.cast(data, tf.int32)
        width, height = (_number(header[place : place + 4]) for place in _SIZE)
        is_small = fits(height, width, max_pixels, tf.strings.length(mask))
        is_grey = tf.reduce_any(tf.equal(header[_COLOUR_TYPE], _GREY))
        problem: Any = tf.constant("")
        for is_right, text in (
            (
                is_small,
                "its mask has more pixels than --input.max_pixels or its bytes allow",
            ),
            (is_grey, "its mask is a PNG of colours or of a palette; it must have grey values"),
            (tf.equal(tf.size(masks), 1), f"it has not one {MASK}"),
            (tf.equal(tf.size(images), 1), f"it has not one {IMAGE}"),
        ):
            problem = tf.where(is_right, problem, text)
        return image, {"mask": mask, "bits": header[_BITS], "encoded": image}, problem

    return RecordFormat(
        keys={key: tf.io.VarLenFeature(tf.string) for key in (IMAGE, MASK)},
        specs={"mask": SPECS["mask"]},
        parse=parse,
        decode=_decode,
        not_decoded="its mask cannot be decoded as PNG",
    )


def _number(header: Any) -> Any:
    """Returns a number of four bytes; TensorFlow's integers would overflow."""
    return tf.reduce_sum(tf.cast(header, tf.float64) * [2.0**24, 2.0**16, 2.0**8, 1.0])


def _decode(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the values of pixels, `[height, width, 1]`, of the image as shown."""
    # TensorFlow spreads values over 16 bits.
    values = tf.io.decode_png(fields["mask"], channels=1, dtype=tf.uint16)
    largest = tf.bitwise.left_shift(1, fields["bits"]) - 1
    classes = tf.cast(values, tf.int32) // (_WHITE // largest)
    return {"mask": turned(classes, find_turn(fields["encoded"], tf.shape(classes)[:2]))}
