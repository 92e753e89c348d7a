"""Format of DeepLab's records: an encoded image, and a PNG of grey values, the classes.

Keys: tensorflow/models, research/deeplab/datasets/build_data.py and data_generator.py. The content
decides the format of the image, so `image/format` is not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_deeplab.inputs.mask_examples import SPECS
from tf_frame_vision.reading.decoding import find_turn, turned
from tf_frame_vision.reading.records import RecordFormat

_IMAGE_KEY, _MASK_KEY = "image/encoded", "image/segmentation/class/encoded"
# Places of the bits and the colour type in a PNG, and colour types without red, green and blue
# (PNG specification, section 11.2.2).
_BITS, _COLOUR_TYPE = 24, 25
_GREY = (0, 4)
_WHITE = 2**16 - 1


def _parse(parsed: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any], Any]:
    images, masks = parsed[_IMAGE_KEY].values, parsed[_MASK_KEY].values
    image, mask = (tf.strings.reduce_join(values[:1]) for values in (images, masks))
    header = tf.cast(tf.io.decode_raw(tf.strings.join([mask, "\0" * 32]), tf.uint8)[:32], tf.int32)
    is_grey = tf.reduce_any(tf.equal(header[_COLOUR_TYPE], _GREY))
    problem: Any = tf.constant("")
    for is_right, text in (
        (is_grey, "its mask is a PNG of colours or of a palette; it must have grey values"),
        (tf.equal(tf.size(masks), 1), f"it has not one {_MASK_KEY}"),
        (tf.equal(tf.size(images), 1), f"it has not one {_IMAGE_KEY}"),
    ):
        problem = tf.where(is_right, problem, text)
    return image, {"mask": mask, "bits": header[_BITS], "encoded": image}, problem


def _decode(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the values of pixels, `[height, width, 1]`, of the image as shown."""
    # TensorFlow spreads values over 16 bits.
    values = tf.io.decode_png(fields["mask"], channels=1, dtype=tf.uint16)
    largest = tf.bitwise.left_shift(1, fields["bits"]) - 1
    classes = tf.cast(values, tf.int32) // (_WHITE // largest)
    return {"mask": turned(classes, find_turn(fields["encoded"], tf.shape(classes)[:2]))}


IMAGE_AND_MASK = RecordFormat(
    keys={key: tf.io.VarLenFeature(tf.string) for key in (_IMAGE_KEY, _MASK_KEY)},
    specs={"mask": SPECS["mask"]},
    parse=_parse,
    decode=_decode,
    not_decoded="its mask cannot be decoded as PNG",
)
