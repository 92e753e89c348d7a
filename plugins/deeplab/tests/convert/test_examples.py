"""Records of images with masks are read as they were written."""

import contextlib
import io

import numpy as np
import tensorflow.compat.v1 as tf
from hypothesis import strategies
from PIL import Image

from properties import COUNTS, TEXTS, check_many
from tf_frame_deeplab.convert.examples import SegmentationRecords
from tf_frame_deeplab.convert.source import MaskedPicture, Meaning
from tf_frame_deeplab.inputs.mask_file import Pair
from tf_frame_deeplab.inputs.segmentation_records import image_and_mask
from tf_frame_vision.reading.image_options import MAX_PIXELS, ImageOptions

# Values of pixels -> values in the records, which need 8 bits or 16.
MEANINGS = strategies.dictionaries(
    strategies.one_of(strategies.integers(0, 255), strategies.integers(0, 2**16 - 1)),
    strategies.one_of(strategies.integers(0, 255), strategies.integers(0, 2**16 - 1)),
    min_size=1,
    max_size=5,
)


def colours(values):
    """Returns a colour for each value, as red and green."""
    return np.stack([values >> 8, values & 255, 0 * values], -1).astype(np.uint8)


@COUNTS
def test_a_mask_is_read_as_it_was_written(tmp_path, count):
    form, image_path, mask_path = image_and_mask(MAX_PIXELS), tmp_path / "a.png", tmp_path / "m.png"
    with tf.Graph().as_default() as graph:
        data = tf.placeholder(tf.string, [])
        image, fields, problem = form.parse(tf.io.parse_single_example(data, form.keys))
        fetches = {"image": image, "problem": problem, **form.decode(fields)}

    def check(meaning, sides, seed, name, in_colour):
        random = np.random.RandomState(seed)
        pixels = random.randint(0, 256, [*sides, 3]).astype(np.uint8)
        stored = random.choice(sorted(meaning), sides)
        grey = stored.astype(np.uint8 if stored.max() < 256 else np.uint16)
        Image.fromarray(pixels).save(image_path)
        Image.fromarray(colours(stored) if in_colour else grey).save(mask_path)
        by_colour = {value << 8: number for value, number in meaning.items()}
        picture = MaskedPicture(Pair(name, image_path, mask_path), Meaning(meaning, by_colour))
        records = SegmentationRecords(ImageOptions())
        record = records.record(picture)
        read_back = session.run(fetches, {data: record})
        assert read_back["problem"] == b""
        np.testing.assert_array_equal(Image.open(io.BytesIO(read_back["image"])), pixels)
        expected = np.vectorize(meaning.get)(stored)
        np.testing.assert_array_equal(read_back["mask"][..., 0], expected)
        assert records.record_identity(record) == records.identity(picture) == name

    with contextlib.closing(tf.Session(graph=graph)) as session:  # Records are made eagerly.
        side = strategies.integers(1, 5)
        check_many(
            check,
            count,
            meaning=MEANINGS,
            sides=strategies.tuples(side, side),
            seed=strategies.integers(0, 99),
            name=TEXTS.filter(bool),
            in_colour=strategies.booleans(),
        )
