"""Records of labelled pictures are read as they were written."""

import contextlib
import io
import os

import numpy as np
import tensorflow.compat.v1 as tf
from hypothesis import strategies
from PIL import Image

from properties import COUNTS, TEXTS, check_many
from tf_frame_classification.convert.examples import LabelledRecords
from tf_frame_classification.convert.pictures import Picture
from tf_frame_classification.inputs.examples import IMAGE_AND_LABEL
from tf_frame_vision.convert.images import read_value


def png(pixels):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "png")
    return file.getvalue()


@COUNTS
def test_a_picture_is_read_as_it_was_written(count):
    form = IMAGE_AND_LABEL
    with tf.Graph().as_default() as graph:
        data = tf.placeholder(tf.string, [])
        fetches = form.parse(tf.io.parse_single_example(data, form.keys))

    def check(names, place, filename, sides, has_pixels):
        label = place % len(names)
        pixels = np.arange(np.prod(sides) * 3, dtype=np.uint8).reshape(*sides, 3)
        loaded = pixels if has_pixels else png(pixels)
        picture = Picture(filename, label, lambda: loaded)
        records = LabelledRecords(names)
        record = records.record(picture)
        image, fields, problem = session.run(fetches, {data: record})
        assert (fields, problem) == ({"label": label}, b"")
        np.testing.assert_array_equal(Image.open(io.BytesIO(image)), pixels)
        assert os.fsdecode(read_value(record, "image/class/text")) == names[label]
        assert records.record_identity(record) == records.identity(picture)

    with contextlib.closing(tf.Session(graph=graph)) as session:  # Records are made eagerly.
        side = strategies.integers(1, 5)
        check_many(
            check,
            count,
            names=strategies.lists(TEXTS.filter(bool), min_size=1, max_size=4),
            place=strategies.integers(0, 3),
            filename=TEXTS.filter(bool),
            sides=strategies.tuples(side, side),
            has_pixels=strategies.booleans(),
        )
