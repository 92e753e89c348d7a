import numpy as np
import pytest

from tf_frame_vision.preprocessing.vgg import MEANS, Vgg


def test_evaluation_subtracts_the_means_of_the_middle(prepare, ramp):
    image = np.full([50, 40, 3], 130, np.uint8)
    result = prepare(Vgg, image, 7)
    expected = np.broadcast_to(np.float32(130) - np.float32(MEANS), [7, 7, 3])
    np.testing.assert_allclose(result, expected, atol=1e-4)
    result = prepare(Vgg, np.full([9, 9, 1], 200, np.uint8), 7)
    np.testing.assert_allclose(result, 200 - 344.4 / 3, atol=1e-4)
    # 7 of 224 pixels are 8 of 256: 60 x 80 becomes 8 x 11, cropped to 7 x 7.  Pixel `i` of
    # the smaller image is that at `i * 7.5` downwards and `i * 80 / 11` to the right; the middle
    # begins at row 0 and column 2.
    result = prepare(Vgg, ramp, 7)
    np.testing.assert_allclose(result[:, 3, 0] + MEANS[0], 4 * 7.5 * np.arange(7), atol=1e-3)
    columns = 3 * 80 / 11 * np.arange(2, 9)
    np.testing.assert_allclose(result[3, :, 1] + MEANS[1], columns, atol=1e-3)


@pytest.mark.parametrize(("size", "side"), [(112, 128), (224, 256)])
def test_an_image_of_the_side_for_a_size_is_cropped_and_not_scaled(prepare, size, side):
    assert Vgg(params=None).image_side(size) == side
    image = np.random.RandomState(size).randint(0, 256, [side, side, 3], np.uint8)
    margin = (side - size) // 2
    middle = image[margin : margin + size, margin : margin + size]
    np.testing.assert_allclose(prepare(Vgg, image, size), middle - np.array(MEANS), atol=1e-3)


def steps(results):
    """Increase of red from row to row: 240 over the height of the resized image."""
    return np.diff(results[:, :-1, 0, 0], axis=1).mean(axis=1)


@pytest.mark.slow
def test_training_scales_places_mirrors_and_follows_the_seed(prepare, ramp, photo):
    """For 28 pixels: 32 to 64, so that red grows by 7.5 to 3.75 a row."""
    sizes = 240 / steps(prepare(Vgg, ramp, 28, seeds=range(200)))
    assert sizes.min() >= 31.9
    assert sizes.max() <= 64.1
    assert sizes.min() < 35
    assert sizes.max() > 61
    # Training takes all places and mirrors.
    results = prepare(Vgg, ramp, 28, seeds=range(200))
    top, left = results[:, 0, 0, 0] + MEANS[0], results[:, 0, 0, 1] + MEANS[1]
    assert top.min() < 5
    assert top.max() > 100
    mirrored = results[:, 0, 0, 1] > results[:, 0, -1, 1]
    assert 0.35 < mirrored.mean() < 0.65
    assert left[~mirrored].min() < 5
    assert left[~mirrored].max() > 120
    first, second, again = prepare(Vgg, photo, 14, seeds=[1, 2, 1])
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - second).max() > 1


@pytest.mark.parametrize("channels", [1, 3])
def test_training_results_have_the_range_of_the_image(prepare, photo, channels):
    results = prepare(Vgg, photo[..., :channels], 14, seeds=range(5))
    means = np.float32(MEANS if channels == 3 else [344.4 / 3])
    assert (results + means).min() >= -1e-3
    assert (results + means).max() <= 255 + 1e-3
