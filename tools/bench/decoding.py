"""Time to decode images in an input pipeline, next to TensorFlow's `decode_image` alone.

    python tools/bench/decoding.py              # 500 x 375 pixels: JPEG, with EXIF, PNG
    python tools/bench/decoding.py --side 4000

Both run in turns, in one thread of one process; the figures are processor time for an image, the
least of several rounds, so that other processes matter little. The pipeline turns images by
their EXIF orientation and checks their size first; `decode_image` does neither.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf
from PIL import Image

from tf_frame_vision.reading.examples import (
    COLOUR_IMAGE,
    example,
    first_readable,
    unreadable,
    without_autograph,
)
from tf_frame_vision.reading.image_files import image_file_examples

_IMAGES, _ROUNDS, _BATCH = 20, 8, 40
_KINDS = {"JPEG": ("jpg", False), "JPEG, turned by EXIF": ("jpg", True), "PNG": ("png", False)}


def write(folder: Path, ending: str, side: int, *, is_turned: bool) -> list[str]:
    """Writes photographs, smooth areas with noise; returns their names."""
    random = np.random.RandomState(0)
    tags = Image.Exif()
    tags[0x0112] = 6
    names = []
    for number in range(_IMAGES):
        areas = Image.fromarray(random.randint(0, 256, [24, 32, 3]).astype(np.uint8))
        pixels = np.asarray(areas.resize((side, side * 3 // 4)), np.int64)
        pixels = (pixels + random.randint(-8, 9, pixels.shape)).clip(0, 255).astype(np.uint8)
        options = {"exif": tags} if is_turned else {}
        names.append(f"{number}.{ending}")
        Image.fromarray(pixels).save(folder / names[-1], **options)
    return names


def by_decode_image(folder: Path, names: list[str], order: tf.data.Dataset) -> tf.data.Dataset:
    """Reads images as the pipeline does, by TensorFlow's operation for all formats."""
    specs = {"image": COLOUR_IMAGE}
    paths = tf.constant([str(folder / name) for name in names])

    def decode(path: tf.Tensor) -> dict[str, tf.Tensor]:
        data = tf.io.read_file(path)
        image = tf.io.decode_image(data, channels=3, expand_animations=False)
        return example(specs, {"image": tf.ensure_shape(image, COLOUR_IMAGE.shape)}, path)

    def read(number: tf.Tensor, index: tf.Tensor) -> tf.data.Dataset:
        files = tf.data.Dataset.from_tensors(paths[index])
        return first_readable(files, [decode], unreadable(specs, paths[index], "damaged"))

    return order.interleave(without_autograph(read), cycle_length=8, block_length=1)


def millis(session: tf.Session, batch: tf.Tensor) -> float:
    """Returns the processor time for an image of a batch."""
    started = time.process_time()
    session.run(batch)
    return (time.process_time() - started) / _BATCH * 1000


def batches(examples: tf.data.Dataset, image: object) -> tf.Tensor:
    """Returns the shapes of a batch of images, which are decoded in one thread."""
    options = tf.data.Options()
    options.autotune.enabled = False
    # Otherwise one way would work while the other one is measured.
    options.experimental_optimization.inject_prefetch = False
    options.threading.private_threadpool_size = 1
    shapes = examples.map(without_autograph(image)).batch(_BATCH).with_options(options)
    return tf.data.make_one_shot_iterator(shapes).get_next()


def measure(kind: str, side: int) -> None:
    """Prints the times of both ways, and their ratio."""
    ending, is_turned = _KINDS[kind]
    one = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    with tempfile.TemporaryDirectory() as name, tf.Graph().as_default():
        folder = Path(name)
        names = write(folder, ending, side, is_turned=is_turned)
        order = tf.data.Dataset.range(10**9).map(lambda number: (number, number % _IMAGES))
        examples = image_file_examples(str(folder), names, {}, order)
        ways = [
            batches(by_decode_image(folder, names, order), lambda one: tf.shape(one["image"])),
            batches(examples, lambda number, one: tf.shape(one["image"])),
        ]
        rounds = []
        for _ in range(_ROUNDS):
            times = []
            for way in ways:
                # Of its own: the other way would work in the background.
                with tf.Session(config=one) as session:
                    shapes = session.run(way)
                    assert (shapes > 1).all()
                    times.append(millis(session, way))
            rounds.append(times)
        before, after = np.min(rounds, axis=0)
    print(
        f"{kind:22} decode_image {before:6.2f} ms, pipeline {after:6.2f} ms: {after / before:.2f}"
    )


def main() -> None:
    """Measures each kind of image."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--side", type=int, default=500, help="width of the images, in pixels")
    side = parser.parse_args().side
    for kind in _KINDS:
        measure(kind, side)


if __name__ == "__main__":
    main()
