"""Images in examples, decoded under slim's names."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.slim.tfexample_decoder import Image, TFExampleDecoder
from tfrecords import make_example

PIXELS = np.random.RandomState(0).randint(0, 256, (5, 6, 3)).astype(np.uint8)
SCALAR = tf.io.FixedLenFeature([], tf.string, "")


def serialized(image_format, *encoded, key="image/encoded"):
    return make_example({key: list(encoded), "image/format": image_format})


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def decoded(session, example, handler, encoded=SCALAR):
    features = {handler.keys[0]: encoded, "image/format": SCALAR}
    [image] = TFExampleDecoder(features, {"image": handler}).decode(example, ["image"])
    return session.run(image)


def test_png_and_jpeg_are_known_by_their_bytes_whatever_the_format_says(session):
    png, jpeg = session.run([tf.image.encode_png(PIXELS), tf.image.encode_jpeg(PIXELS)])
    by_library = session.run(tf.image.decode_jpeg(jpeg, dct_method="INTEGER_ACCURATE"))
    handler = Image(dct_method="INTEGER_ACCURATE")
    for name in (b"png", b"PNG", b"jpeg", b""):
        np.testing.assert_array_equal(decoded(session, serialized(name, png), handler), PIXELS)
    np.testing.assert_array_equal(decoded(session, serialized(b"png", jpeg), handler), by_library)


def test_the_method_of_jpeg_is_the_one_asked_for(session):
    jpeg = session.run(tf.image.encode_jpeg(PIXELS, quality=50))
    for method in ("INTEGER_FAST", "INTEGER_ACCURATE"):
        expected = session.run(tf.image.decode_jpeg(jpeg, channels=3, dct_method=method))
        image = decoded(session, serialized(b"jpeg", jpeg), Image(dct_method=method))
        np.testing.assert_array_equal(image, expected)
    methods = [op.get_attr("dct_method") for op in session.graph.get_operations()
               if op.type == "DecodeJpeg"]  # fmt: skip
    assert {b"INTEGER_FAST", b"INTEGER_ACCURATE"} <= set(methods)


@pytest.mark.parametrize("name,dtype", [(b"raw", np.uint8), (b"RAW", np.float32)])
def test_raw_values_need_only_a_shape(session, name, dtype):
    pixels = PIXELS.astype(dtype) / dtype(2)
    pixels = pixels.astype(dtype)
    handler = Image(shape=[5, 6, 3], dtype=tf.as_dtype(dtype))
    image = decoded(session, serialized(name, pixels.tobytes()), handler)
    np.testing.assert_array_equal(image, pixels)
    assert image.dtype == dtype


def test_channels_and_type_are_those_asked_for_and_values_are_not_scaled(session):
    grey = PIXELS[:, :, :1]
    png = session.run(tf.image.encode_png(grey))
    image = decoded(session, serialized(b"png", png), Image(channels=1, dtype=tf.uint16))
    np.testing.assert_array_equal(image, grey)
    assert image.dtype == np.uint16
    three = decoded(session, serialized(b"png", png), Image())
    np.testing.assert_array_equal(three, np.repeat(grey, 3, axis=2))


def test_images_under_other_keys_and_several_of_them(session):
    flipped = PIXELS[::-1]
    png, second = session.run([tf.image.encode_png(PIXELS), tf.image.encode_png(flipped)])
    example = serialized(b"png", png, second, key="frames")
    handler = Image("frames", repeated=True, shape=[5, 6, 3])
    several = tf.io.FixedLenFeature([2], tf.string)
    np.testing.assert_array_equal(decoded(session, example, handler, several), [PIXELS, flipped])


def test_the_static_shape_is_what_is_known(session):
    features = {"image/encoded": SCALAR, "image/format": SCALAR}
    handlers = {"any": Image(channels=1), "fixed": Image(shape=[5, 6, 3])}
    anything, fixed = TFExampleDecoder(features, handlers).decode(tf.placeholder(tf.string, []))
    assert anything.shape.as_list() == [None, None, 1]
    assert fixed.shape.as_list() == [5, 6, 3]
