"""Image files of several kinds, read to predict on."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from PIL import Image

from sessions import compute
from slow_cases import slow_but
from tf_frame_vision.reading import arrays
from tf_frame_vision.reading.image_files import image_file_examples, images_to_predict
from tf_frame_vision.reading.pixels import load_pixels

pytestmark = pytest.mark.usefixtures("graph")

RANDOM = np.random.RandomState(0)


def write_image(path, height, width, encode=tf.io.encode_png, dtype=np.uint8, channels=3):
    pixels = RANDOM.randint(0, np.iinfo(dtype).max, [height, width, channels]).astype(dtype)
    path.write_bytes(compute(encode, pixels))
    return path


def images(paths, **options):
    paths = [str(path) for path in paths]
    return images_to_predict(paths, lambda image: tf.cast(image, tf.float32), **options)


def test_images_of_several_kinds_sizes_and_depths_are_read_in_order(tmp_path, take):
    paths = [
        write_image(tmp_path / "a.png", 5, 7),
        write_image(tmp_path / "b.jpg", 8, 3, tf.io.encode_jpeg),
        write_image(tmp_path / "c.png", 4, 4, channels=1),
        write_image(tmp_path / "d.png", 4, 6, channels=4),
        write_image(tmp_path / "e.png", 4, 6, dtype=np.uint16),
    ]
    assert images(paths).element_spec["image"].shape.as_list() == [None, None, None, 3]
    for path, batch in zip(paths, take(images(paths)), strict=True):
        assert batch["name"].tolist() == [str(path).encode()]
        assert batch["image"].dtype == np.float32
        np.testing.assert_array_equal(batch["image"], [load_pixels(path)])


@pytest.mark.parametrize("mode", slow_but(1, ["RGB", "RGBA", "L"]))
def test_webp_is_read_without_a_change(tmp_path, take, mode):
    pixels = RANDOM.randint(0, 256, [5, 7, 3]).astype(np.uint8)
    Image.fromarray(pixels).convert(mode).save(tmp_path / "a.webp", lossless=True)
    (batch,) = take(images([tmp_path / "a.webp"]))
    expected = np.asarray(Image.open(tmp_path / "a.webp").convert("RGB"))
    np.testing.assert_array_equal(batch["image"][0], expected)


def test_images_are_read_one_by_one_and_not_all_at_first(tmp_path):
    first = write_image(tmp_path / "a.png", 5, 7)
    with tf.Session() as session:
        paths = [str(first), *(f"{tmp_path}/missing{index}" for index in range(5000))]
        iterator = tf.data.make_initializable_iterator(images(paths))
        batch = iterator.get_next()
        session.run(iterator.initializer)
        assert session.run(batch)["image"].shape == (1, 5, 7, 3)
        with pytest.raises(tf.errors.InvalidArgumentError, match="missing0: it is missing or"):
            session.run(batch)


@pytest.mark.parametrize("content", slow_but(1, [b"", b"no image at all", b"\x89PNG\r\n\x1a\n"]))
def test_other_files_end_the_batches_or_are_left_out(tmp_path, content, take):
    path = tmp_path / "x.png"
    path.write_bytes(content)
    with pytest.raises(tf.errors.InvalidArgumentError):
        take(images([path]))
    good = write_image(tmp_path / "good.png", 3, 4)
    (batch,) = take(images([path, good], batch_size=2, skip_corrupt=True))
    assert batch["name"].tolist() == [str(good).encode()]


def test_the_graph_does_not_grow_with_the_data():
    def num_bytes(count):
        names = [f"n01440764/n01440764_{number}.JPEG" for number in range(count)]
        boxes = np.random.RandomState(0).rand(3 * count, 4).astype(np.float32)
        with tf.Graph().as_default() as graph:
            fields = {
                "label": arrays.Rows(np.arange(count)),
                "boxes": arrays.Ragged(boxes, arrays.Rows(np.arange(0, 3 * count + 1, 3))),
            }
            order = tf.data.Dataset.range(5).map(lambda number: (number, number))
            image_file_examples("photos", names, fields, order)
            return graph.as_graph_def().ByteSize()

    assert num_bytes(10000) == pytest.approx(num_bytes(100), rel=0.01)
