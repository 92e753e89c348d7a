"""Damaged images give one line each: no crash, no endless loop, memory within bounds."""

import contextlib
import io

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image

from slow_cases import slow_but
from tf_frame_vision.reading.decoding import image_decoders
from tf_frame_vision.reading.examples import first_readable
from tf_frame_vision.reading.export_decoding import decode_in_export
from tf_frame_vision.reading.image_header import ImageError, read_header
from tf_frame_vision.reading.image_options import ImageOptions
from tf_frame_vision.reading.pixels import load_mask, load_pixels

FORMATS = ("JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF", "PPM")
# A header may claim this many pixels, so that memory stays below 1.5 GB.
MOST = 20_000_000


def sound(random):
    """Returns an image of each format, some with EXIF data."""
    picture = Image.fromarray(random.randint(0, 256, [20, 30, 3]).astype(np.uint8))
    tags = Image.Exif()
    tags[0x0112] = 6
    files = []
    for form in FORMATS:
        options = {"exif": tags} if form in ("JPEG", "PNG", "WEBP", "TIFF") else {}
        file = io.BytesIO()
        picture.save(file, form, **options)
        files.append(file.getvalue())
    return files


def damaged(random, data):
    """Changes bytes of a file, mostly at its beginning, cuts it, or adds to it."""
    content = bytearray(data)
    kind = random.randint(4)
    for _ in range(random.randint(1, 9)):
        place = random.randint(min(len(content), 60 if kind < 2 else len(content)))
        content[place] = random.choice([0, 1, 127, 128, 255, random.randint(256)])
    if kind == 2:
        content = content[: random.randint(len(content))]
    if kind == 3:
        place = random.randint(len(content))
        content[place:place] = bytes(random.randint(0, 256, 9).tolist())
    return bytes(content)


def outcome(read):
    """Returns the result, or the reason why there is none, a line."""
    try:
        return read()
    except ImageError as error:
        reason = str(error)
        assert reason and "\n" not in reason and " at 0x" not in reason
        return reason


@pytest.mark.parametrize("seed", slow_but(0, range(20)))
def test_a_damaged_image_gives_one_line(seed):
    random = np.random.RandomState(seed)
    with tf.Graph().as_default(), tf.Session() as session:
        data = tf.placeholder(tf.string, [])
        files = tf.data.Dataset.from_tensors(data)
        options = ImageOptions(max_pixels=MOST)
        decoders = image_decoders(options)
        last = (np.zeros([1, 1, 3], np.uint8), "no decoder")
        iterator = tf.data.make_initializable_iterator(first_readable(files, decoders, last))
        example, exported = iterator.get_next(), decode_in_export(data, options)
        for number in range(15):
            images = sound(random)
            content = damaged(random, images[number % len(images)])
            outcome(lambda content=content: read_header(content, max_pixels=MOST))
            outcome(lambda content=content: load_mask(content, max_pixels=MOST))
            expected = outcome(lambda content=content: load_pixels(content, max_pixels=MOST))
            session.run(iterator.initializer, {data: content})
            image, problem = session.run(example)
            assert b"\n" not in problem
            if problem:
                assert problem.decode() == expected
            elif not isinstance(expected, str):
                assert image.shape == expected.shape
            with contextlib.suppress(tf.errors.OpError):
                session.run(exported, {data: content})
