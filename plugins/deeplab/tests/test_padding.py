"""Images of all sizes lie below the same grid of features."""

import dataclasses

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import InputInfo, Mode
from tf_frame_deeplab import padding
from tf_frame_deeplab.model import DeepLab, Params

pytestmark = pytest.mark.usefixtures("graph")

SMALL = Params(depth_multiplier=0.1, aspp_channels=8, decoder_channels=8)
INFO = InputInfo(num_classes=2, ignore_label=255)
# An even and an odd number of rows, neither a multiple of 16 nor one plus it.
PIXELS = np.random.RandomState(2).uniform(0, 255, [2, 38, 43, 3]).astype(np.float32)


@pytest.mark.parametrize(
    ("size", "options", "expected"),
    [
        ((32, 48), {}, [32, 48]),
        ((33, 47), {}, [48, 48]),
        ((1, 256), {"output_stride": 8}, [8, 256]),
        ((33, 513), {"align_corners": True}, [33, 513]),
        ((34, 32), {"align_corners": True}, [49, 33]),
    ],
)
def test_sides_are_multiples_of_the_stride_plus_one_for_aligned_corners(size, options, expected):
    assert padding.fitting_size(size, dataclasses.replace(SMALL, **options)) == expected


def predict(trained, params, images, pixels):
    """Probabilities of a trained network, for each of the images."""
    model = DeepLab(params=params, info=INFO)
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        outputs = [model.build({"image": image}, None, Mode.PREDICT) for image in images]
    found = [output.predictions["probabilities"] for output in outputs]
    with tf.Session() as session:
        tf.train.Saver(tf.model_variables()).restore(session, f"{trained}/model.ckpt-4")
        return session.run(found, {images[0]: pixels})


@pytest.mark.parametrize("known", [True, False], ids=["size known", "size unknown"])
@pytest.mark.parametrize(("aligned", "size"), [(False, (48, 48)), (True, (49, 49))])
def test_an_image_has_the_classes_of_the_same_image_on_a_larger_canvas(
    trained, aligned, size, known
):
    canvas = np.full([2, *size, 3], 127.5, np.float32)
    canvas[:, :38, :43] = PIXELS
    image = tf.placeholder(tf.float32, PIXELS.shape if known else [None, None, None, 3])
    params = dataclasses.replace(SMALL, align_corners=aligned)
    found, expected = predict(trained, params, [image, tf.constant(canvas)], PIXELS)
    assert found.shape == (2, 38, 43, 2)
    assert np.ptp(found) > 0.1
    np.testing.assert_allclose(found, expected[:, :38, :43], atol=1e-5)


def test_the_padding_of_mirrored_images_is_cut_off_before_they_are_turned_back(trained):
    params = dataclasses.replace(SMALL, add_flipped_images=True)
    image = tf.placeholder(tf.float32, [None, None, None, 3])
    mirrored = image[:, :, ::-1]
    found, of_mirrored = predict(trained, params, [image, mirrored], PIXELS)
    np.testing.assert_allclose(found, of_mirrored[:, :, ::-1], atol=1e-5)
