import itertools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from slow_cases import slow_but
from tf_frame_vision.augmentation import colour
from tf_frame_vision.preprocessing.inception import Inception, InceptionFull, random_box


@pytest.mark.parametrize(("size", "side"), [(1, 1), (15, 17), (96, 108), (224, 256), (299, 341)])
def test_an_image_of_the_side_for_a_size_is_cropped_and_not_scaled(prepare, size, side):
    assert Inception(params=None).image_side(size) == side
    image = np.random.RandomState(size).randint(0, 256, [side, side, 3], np.uint8)
    margin = (side - size) // 2
    middle = image[margin : margin + size, margin : margin + size]
    np.testing.assert_allclose(prepare(Inception, image, size), middle / 127.5 - 1, atol=1e-6)


@pytest.mark.slow
def test_evaluation_takes_seven_eighths_from_minus_one_to_one(prepare, ramp):
    """Of 80 x 80 pixels the middle 70; where 7 are left of it, each tenth one is taken."""
    image = np.concatenate([ramp, ramp[:20]])[:80, :80]
    image[..., 0] = np.arange(80)[:, np.newaxis] * 3
    result = prepare(Inception, image, 7)
    rows = 3 * (5 + 10 * np.arange(7))
    np.testing.assert_allclose((result[:, 0, 0] + 1) * 127.5, rows, atol=1e-3)
    np.testing.assert_allclose((result[0, :, 1] + 1) * 127.5, rows, atol=1e-3)
    image = np.array([0, 51, 204, 255], np.uint8).reshape(2, 2, 1)
    expected = np.array([-1.0, -0.6, 0.6, 1.0]).reshape(2, 2, 1)
    np.testing.assert_allclose(prepare(Inception, image, 2), expected, atol=1e-6)
    results = prepare(Inception, ramp, 8, seeds=range(150))
    mirrored = results[..., 0, 1].mean(axis=1) > results[..., -1, 1].mean(axis=1)
    assert 0.35 < mirrored.mean() < 0.65


@pytest.mark.parametrize("family", slow_but(1, [Inception, InceptionFull]))
@pytest.mark.parametrize("channels", slow_but(1, [1, 3]))
def test_training_results_are_in_range_and_follow_the_seed(prepare, photo, family, channels):
    results = prepare(family, photo[..., :channels], (12, 16), seeds=[*range(12), 0])
    assert results.min() >= -1
    assert results.max() <= 1
    np.testing.assert_array_equal(results[0], results[-1])
    for one, other in itertools.pairwise(results):
        assert np.abs(one - other).max() > 0.1


def test_boxes_and_colours_keep_their_limits():
    """Area 5 to 100 % of the image, width over height 0.75 to 1.33, within the image."""
    places = np.stack(np.mgrid[0:60, 0:80], axis=2).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        seeds = tf.constant([[3, seed] for seed in range(200)])

        def corners(seed):
            box = random_box(tf.constant(places), seed)
            return tf.stack([box[0, 0], box[-1, -1]])

        found = session.run(tf.map_fn(corners, seeds, fn_output_signature=tf.float32))
    size = found[:, 1] - found[:, 0] + 1
    area, ratio = size.prod(axis=1) / 4800, size[:, 1] / size[:, 0]
    # Sides are whole pixels.
    assert area.min() >= 0.045
    assert area.min() < 0.12
    assert area.max() > 0.8
    assert ratio.min() >= 0.75 - 0.06
    assert ratio.max() <= 1.33 + 0.1
    assert len(np.unique(found[:, 0], axis=0)) > 150
    # Saturation of (0.6, 0.4, 0.4) is 1/3; half to one and a half of it is drawn.
    image = np.float32([0.6, 0.4, 0.4]).reshape(1, 1, 3)
    results = distorted(image, ["saturation"], range(100))[:, 0, 0]
    factor = 3 * (1 - results.min(axis=1) / results.max(axis=1))
    assert factor.min() >= 0.5 - 1e-3
    assert factor.max() <= 1.5 + 1e-3
    assert factor.std() > 0.2
    results = distorted(image, ["hue"], range(100))[:, 0, 0]
    # A fifth of a turn from red: blue or green may reach the top, not both.
    np.testing.assert_allclose(results.max(axis=1), 0.6, atol=1e-3)
    np.testing.assert_allclose(results.min(axis=1), 0.4, atol=1e-3)
    assert len(np.unique(np.argmin(results, axis=1))) == 2
    # Beyond a sixth of a turn red falls, to 0.6 - 0.2 * (6 / 5 - 1) at most.
    assert 0.56 - 1e-3 <= results[:, 0].min() < 0.57
    # With one seed for all, brightness and contrast would be tied to each other.
    image = np.float32([0.4, 0.6]).reshape(1, 2, 1)
    results = distorted(image, ["brightness", "contrast"], range(100))[:, 0, :, 0]
    shift, factor = results.mean(axis=1) - 0.5, (results[:, 1] - results[:, 0]) / 0.2
    assert abs(np.corrcoef(shift, factor)[0, 1]) < 0.4


def distorted(image, order, seeds):
    with tf.Graph().as_default(), tf.Session() as session:
        results = tf.map_fn(
            lambda seed: colour.distort(tf.constant(image), order, seed),
            tf.constant([[5, seed] for seed in seeds]),
            fn_output_signature=tf.float32,
        )
        return session.run(results)


def test_grey_images_change_brightness_and_contrast_only():
    image = np.float32([0.4, 0.6]).reshape(1, 2, 1)
    fast = distorted(image, colour.FAST_ORDER, range(100))[:, 0, :, 0]
    np.testing.assert_allclose(fast[:, 1] - fast[:, 0], 0.2, atol=1e-6)
    shift = fast[:, 0] - 0.4
    assert np.abs(shift).max() <= 32 / 255
    assert shift.min() < -0.1
    assert shift.max() > 0.1
    full = distorted(image, colour.ORDERS[0], range(100))[:, 0, :, 0]
    factor = (full[:, 1] - full[:, 0]) / 0.2
    assert factor.min() >= 0.5 - 1e-5
    assert factor.max() <= 1.5 + 1e-5
    assert factor.std() > 0.2


def test_full_mode_resizes_in_four_ways_and_fast_mode_in_one(prepare):
    """Nearest neighbours of black and white are black and white; others are not all."""
    image = np.zeros([40, 40, 1], np.uint8)
    image[:, 20:] = 255
    sharp = {}
    for family in (Inception, InceptionFull):
        results = prepare(family, image, 33, seeds=range(24))
        sharp[family] = [len(np.unique(one)) <= 2 for one in results]
    assert sum(sharp[InceptionFull]) > sum(sharp[Inception])


@pytest.mark.parametrize(
    ("family", "expected"), [(Inception, [colour.FAST_ORDER]), (InceptionFull, colour.ORDERS)]
)
def test_all_orders_of_changes_are_drawn(prepare, photo, monkeypatch, family, expected):
    """Each order leaves its number, in tenths, instead of a picture."""
    monkeypatch.setattr(
        colour,
        "distort",
        lambda image, order, _: tf.ones_like(image) * (expected.index(order) / 10),
    )
    results = prepare(family, photo, 2, seeds=range(40))
    numbers = np.unique(np.round((results / 2 + 0.5) * 10).astype(int))
    np.testing.assert_array_equal(numbers, range(len(expected)))
