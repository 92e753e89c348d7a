"""Sheets of pictures, and pictures of examples of any input."""

import numpy as np
import pytest

from tf_frame.picture_sheet import as_pixels, encode_png, lay_out, plain_pictures

GREY = np.full([2, 4, 4, 1], 0.5, np.float32)


@pytest.mark.parametrize(
    ("values", "pixels"),
    [
        ([0.0, 0.5, 1.0], [0, 128, 255]),
        ([-1.0, 0.0, 1.0], [0, 128, 255]),
        ([0.0, 100.0, 255.0], [0, 100, 255]),
        ([-124.0, 0.0, 131.0], [0, 124, 255]),
        ([7.0, np.nan, 9.0], [7, 0, 9]),
    ],
)
def test_values_of_networks_become_pixels(values, pixels):
    shown = as_pixels(np.array(values).reshape(1, 1, 3, 1))
    assert shown.dtype == np.uint8
    assert shown[0, 0, :, 0].tolist() == pixels


def test_pixels_of_one_byte_and_four_channels_stay_as_they_are():
    image = np.arange(16, dtype=np.uint8).reshape(1, 2, 2, 4)
    np.testing.assert_array_equal(as_pixels(image), image[..., :3])


@pytest.mark.parametrize(
    ("labels", "captions"),
    [
        (np.array([1, 0]), ["dog", "cat"]),
        ({"label": np.array([1, 7])}, ["dog", "label 7"]),
        (
            {"text": np.array([b"a", b"\xff"], object), "x": np.array([[0.5], [2.0]])},
            ["a, x 0.5", "\ufffd, x 2"],
        ),
        ({"mask": np.zeros([2, 4, 4])}, ["", ""]),
        (None, ["", ""]),
    ],
)
def test_labels_of_one_value_an_example_are_captions(labels, captions):
    pictures = plain_pictures({"image": GREY}, labels, ("cat", "dog"))
    assert [caption for _, caption in pictures] == captions
    assert pictures[0][0].shape == (4, 4, 3)


@pytest.mark.parametrize("features", [None, {}, {"image": GREY[0]}, {"image": GREY[..., [0, 0]]}])
def test_other_features_have_no_pictures(features):
    assert plain_pictures(features, None) == []


def test_small_pictures_are_enlarged_and_large_ones_shrunk():
    small, large = np.zeros([4, 4, 3], np.uint8), np.zeros([480, 960, 3], np.uint8)
    assert lay_out([(small, "")]).shape == (256, 256, 3)
    assert lay_out([(large, "")] * 5).shape == (2 * 128 + 8, 4 * 248 + 8, 3)
    assert lay_out([(small, "\x1b[0m\n" + "long" * 10**5)]).shape == (276, 256, 3)
    assert encode_png(lay_out([(small, "")])).startswith(b"\x89PNG")
