import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame_vision.preprocessing import load_preprocessing
from tf_frame_vision.preprocessing.plain import Lenet, Plain


def test_images_are_resized_and_scaled(prepare):
    image = np.array([0, 51, 204, 255], np.uint8).reshape(2, 2, 1)
    expected = np.array([-1.0, -0.6, 0.6, 1.0]).reshape(2, 2, 1)
    np.testing.assert_allclose(prepare(Plain, image, 2), expected, atol=1e-6)
    image = np.array([0, 255], np.uint8).reshape(1, 2, 1)
    wide = prepare(Plain, image, (1, 4))[0, :, 0]
    np.testing.assert_allclose(wide, [-1, -0.5, 0.5, 1], atol=1e-6)
    legacy = load_preprocessing("none", resizing="legacy")
    with tf.Graph().as_default(), tf.Session() as session:
        resized = legacy(tf.constant(image), height=1, width=4, is_training=False, seed=None)
        np.testing.assert_allclose(session.run(resized)[0, :, 0], [-1, 0, 1, 1], atol=1e-6)
    image = np.array([0, 64, 128, 255], np.uint8).reshape(2, 2, 1)
    expected = np.array([-1.0, -0.5, 0.0, 127 / 128], np.float32).reshape(2, 2, 1)
    np.testing.assert_array_equal(prepare(Lenet, image, 2), expected)


@pytest.mark.parametrize("channels", [1, 3])
def test_images_are_cut_or_padded_but_not_scaled(prepare, photo, channels):
    image = photo[..., :channels]
    cut = prepare(Lenet, image, (20, 30))
    np.testing.assert_array_equal(cut * 128 + 128, image[20:40, 25:55])
    padded = prepare(Lenet, image, (64, 80))
    np.testing.assert_array_equal(padded[2:62] * 128 + 128, image)
    assert (padded[[0, 1, 62, 63]] == -1).all()


@pytest.mark.parametrize("family", [Plain, Lenet])
def test_training_is_like_evaluation(prepare, photo, family):
    results = prepare(family, photo, 28, seeds=[1, 2])
    np.testing.assert_array_equal(results, [prepare(family, photo, 28)] * 2)


def test_a_family_that_resizes_in_its_own_way_takes_no_other():
    for resizing in ("half_pixel", "legacy"):
        assert load_preprocessing("inception", resizing=resizing).values == "-1 to 1"
    message = "align_corners has no effect with --input.preprocessing inception, which"
    with pytest.raises(ConfigError, match=message):
        load_preprocessing("inception", resizing="align_corners")
