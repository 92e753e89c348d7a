import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
from tf_frame_deeplab.inputs import pictures
from tf_frame_vision.augmentation import Sample

pytestmark = pytest.mark.usefixtures("graph")


@pytest.mark.parametrize(
    ("size", "options", "expected"),
    [
        ((100, 200), (50, None, None), (50, 100)),
        ((100, 200), (50, 80, None), (40, 80)),
        # The greatest side of the form 16 n + 1 that is not above 100 is 97.
        ((100, 200), (50, 100, 16), (49, 97)),
        ((33, 65), (33, None, 16), (33, 65)),
        ((30, 91), (10, None, None), (10, 30)),
    ],
)
def test_sizes_of_resized_images_are_those_of_deeplab(size, options, expected):
    assert tuple(run_initialized(pictures.range_size(tf.constant(size), *options))) == expected


@pytest.mark.slow
def test_scales_are_those_of_the_steps_or_one_that_is_not_random():
    sample = Sample(tf.zeros([8, 8, 3]), masks=tf.zeros([8, 8, 1], tf.int32))
    seeds = tf.placeholder(tf.int32, [2])
    scaled = pictures.random_scale(sample, 0.5, 2.0, 0.25, seeds)
    with tf.Session() as session:
        sizes = {session.run(tf.shape(scaled.image), {seeds: [1, k]})[0] for k in range(60)}
    assert sizes == {4, 6, 8, 10, 12, 14, 16}
    assert pictures.random_scale(sample, 1.0, 1.0, 0.25, [1, 2]) is sample
    doubled = pictures.random_scale(sample, 2.0, 2.0, 0.25, [1, 2])
    assert run_initialized(tf.shape(doubled.masks)).tolist() == [16, 16, 1]


def test_padding_is_below_and_to_the_right():
    sample = Sample(tf.ones([2, 3, 3]), masks=tf.ones([2, 3, 1], tf.int32))
    padded = pictures.padded(sample, 4, 3, mask_fill=9)
    image, masks = run_initialized((padded.image, padded.masks))
    np.testing.assert_array_equal(masks[..., 0], [[1] * 3] * 2 + [[9] * 3] * 2)
    assert (image[2:] == 127.5).all()
