import numpy as np
import pytest

from tf_frame_vision.augmentation import colour
from tf_frame_vision.preprocessing.cifarnet import Cifarnet


def standardised(values):
    """`(x - mean) / max(deviation, 1 / sqrt(number of values))`."""
    values = values.astype(np.float64)
    return (values - values.mean()) / max(values.std(), values.size**-0.5)


@pytest.mark.slow
def test_evaluation_standardises_the_middle_and_pads_with_zeros(prepare, photo):
    result = prepare(Cifarnet, photo, (32, 24))
    np.testing.assert_allclose(result, standardised(photo[14:46, 28:52]), atol=1e-5)
    small = photo[:2, :2]
    expected = np.pad(small, [(1, 1), (1, 1), (0, 0)])
    np.testing.assert_allclose(prepare(Cifarnet, small, 4), standardised(expected), atol=1e-5)
    results = prepare(Cifarnet, photo[:5, :6], (31, 32), seeds=range(5))
    tops = [np.argmax(np.any(np.abs(np.diff(one, axis=1)) > 1e-3, axis=(1, 2))) for one in results]
    assert all(12 <= top <= 14 for top in tops)
    first, second, again = prepare(Cifarnet, photo, 32, seeds=[1, 2, 1])
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - second).max() > 0.1


@pytest.mark.slow
def test_training_moves_by_up_to_four_pixels_and_mirrors(prepare):
    """A bright pixel in the middle is in all 9 x 9 places; its neighbour on either side."""
    image = np.zeros([9, 9, 1], np.uint8)
    image[4, 4], image[4, 5] = 250, 150
    results = prepare(Cifarnet, image, 9, seeds=range(300))[..., 0]
    brightest = [np.unravel_index(np.argmax(one), one.shape) for one in results]
    assert {row for row, _ in brightest} == set(range(9))
    assert {column for _, column in brightest} == set(range(9))
    right = [
        one[row, column + 1] > one[row, column - 1]
        for one, (row, column) in zip(results, brightest, strict=True)
        if 0 < column < 8
    ]
    assert 0.35 < np.mean(right) < 0.65


@pytest.mark.slow
@pytest.mark.parametrize("channels", [1, 3])
def test_training_results_are_standardised(prepare, photo, channels):
    results = prepare(Cifarnet, photo[:28, :28, :channels], 32, seeds=range(10))
    np.testing.assert_allclose(results.mean(axis=(1, 2, 3)), 0, atol=1e-4)
    np.testing.assert_allclose(results.std(axis=(1, 2, 3)), 1, atol=1e-4)


@pytest.mark.slow
def test_training_changes_brightness_before_contrast_from_a_fifth(prepare, photo, monkeypatch):
    """Columns of 90 and 110, and another channel at 200: windows are alike within the image.

    The change is seen as the step between columns over the distance of the channels, 0.2 here.
    """
    image = np.full([60, 60, 3], 200, np.uint8)
    image[:, ::2, 0], image[:, 1::2, 0] = 90, 110
    results = prepare(Cifarnet, image, 8, seeds=range(100))
    steps = np.abs(results[:, 0, 1, 0] - results[:, 0, 0, 0])
    within = [len(np.unique(one[..., 0])) == 2 for one in results]
    distances = results[..., 1].mean(axis=(1, 2)) - results[..., 0].mean(axis=(1, 2))
    factors = (steps / distances / 0.2)[within]
    assert len(factors) > 50
    assert 0.2 - 1e-3 <= factors.min() < 0.4
    assert 1.6 < factors.max() <= 1.8 + 1e-3
    # Standardisation leaves nothing of a mere shift, so its place is seen by the calls.
    calls = []
    monkeypatch.setattr(colour, "brightness", lambda i, *d: calls.append(("brightness", d[0])) or i)
    monkeypatch.setattr(colour, "contrast", lambda i, *d: calls.append(("contrast", *d[:2])) or i)
    prepare(Cifarnet, photo, 8, seeds=[1])
    assert calls == [("brightness", 63.0), ("contrast", 0.2, 1.8)]
