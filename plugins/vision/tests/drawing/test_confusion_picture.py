import numpy as np
import pytest

from tf_frame_vision.drawing.confusion_picture import cell_side, confusion_picture

WHITE = [255, 255, 255]


def corners(pixels, num_classes):
    """The colour in the upper left corner of each cell."""
    side = cell_side(num_classes)
    start = pixels.shape[0] - 5 - num_classes * side  # A margin of 5 pixels follows.
    places = start + 2 + np.arange(num_classes) * side
    return pixels[np.ix_(places, places)].astype(int)


def test_right_answers_are_blue_wrong_ones_red_with_names_and_figures():
    matrix = np.array([[2.0, 1, 0], [0, 0, 0], [0, 0, 5]])
    found = corners(confusion_picture(matrix, ("cat", "a long name", "dog")), 3)
    np.testing.assert_allclose(
        found[0, 0], 255 * (1 - np.sqrt(2 / 3) * np.array([0.9, 0.6, 0.2])), atol=1
    )
    np.testing.assert_allclose(
        found[0, 1], 255 * (1 - np.sqrt(1 / 3) * np.array([0.1, 0.8, 0.9])), atol=1
    )
    # A label that does not occur has no share of anything.
    assert found[1].tolist() == [WHITE] * 3
    assert found[2, 2, 2] > found[2, 2, 0]
    # Names and figures are written.
    matrix = np.eye(3)
    with_names = confusion_picture(matrix, ("cat", "dog", "fly"))
    other_names = confusion_picture(matrix, ("cow", "dog", "fly"))
    side = cell_side(3)
    cell = with_names[-5 - side : -5, -5 - side : -5]
    # Text in the cell, in the middle, beside its colour and lines.
    assert len(np.unique(cell[4:-4, 4:-4].reshape(-1, 3), axis=0)) > 2
    assert with_names.shape != other_names.shape or (with_names != other_names).any()
    assert confusion_picture(np.eye(1000), ()).shape == (1000, 1000, 3)


@pytest.mark.parametrize(("classes", "side"), [(20, 44), (21, 14), (200, 14), (201, 4), (1000, 1)])
def test_cells_shrink_with_the_number_of_classes(classes, side):
    assert cell_side(classes) == side


def test_names_of_any_characters_are_drawn():
    names = ("a\nb", "\x1b[2J", "\u202e\ud800")
    drawn = confusion_picture(np.eye(3), names)
    expected = confusion_picture(np.eye(3), ("a\\u000ab", "\\u001b[2J", "\\u202e\\ud800"))
    np.testing.assert_array_equal(drawn, expected)
