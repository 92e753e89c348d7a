import numpy as np
import pytest

from tf_frame_vision.drawing.palette import has_background, outline, overlay, palette


@pytest.mark.parametrize("background", [True, False])
def test_classes_have_colours_of_their_own(background):
    colours = palette(256, background=background)
    assert colours.shape == (256, 3)
    assert colours.dtype == np.uint8
    assert len({tuple(colour) for colour in colours}) == 256
    black = [index for index, colour in enumerate(colours) if not colour.any()]
    assert black == ([0] if background else [])


def test_colours_are_far_apart_and_mixed_within_outlines():
    colours = palette(12, background=True).astype(int)
    distances = np.abs(colours[:, np.newaxis] - colours).sum(axis=2)
    assert distances[~np.eye(12, dtype=bool)].min() > 80
    np.testing.assert_array_equal(palette(3, background=True), palette(20, background=True)[:3])
    # An overlay mixes colours within outlines.
    classes = np.array([[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 2]])
    expected = [[0, 1, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1]]
    np.testing.assert_array_equal(outline(classes), np.array(expected, bool))
    assert not outline(np.zeros([1, 1], int)).any()
    # An overlay mixes colours within lines.
    colours = np.array([[0, 0, 0], [200, 100, 50]], np.uint8)
    classes = np.zeros([5, 5], int)
    classes[1:4, 1:4] = 1
    image = np.full([5, 5, 3], 100, np.uint8)
    found = overlay(image, classes, colours)
    assert found.dtype == np.uint8
    line = (classes == 1) & outline(classes)
    np.testing.assert_array_equal(found[line], np.tile(colours[1], (8, 1)))
    assert found[2, 2].tolist() == [150, 100, 75]  # half-way from grey to the colour
    np.testing.assert_array_equal(found[classes == 0], image[classes == 0])
    colours = palette(2, background=False)
    found = overlay(np.zeros([4, 4, 3], np.uint8), np.zeros([4, 4], int), colours)
    np.testing.assert_array_equal(found[1, 1], np.round(0.5 * colours[0]))


@pytest.mark.parametrize(
    ("names", "expected"),
    [((), True), (("Background", "cat"), True), (("bg", "cat"), True), (("road", "sky"), False)],
)
def test_whether_there_is_a_background(names, expected):
    assert has_background(names) is expected
