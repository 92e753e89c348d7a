import numpy as np
import pytest

from tf_frame_vision.drawing.text import with_captions, with_legend

RED, GREEN = (255, 0, 0), (0, 255, 0)
PICTURE = np.full([30, 120, 3], 90, np.uint8)


def ink(pixels):
    """First and last column with text."""
    columns = np.nonzero((pixels < 128).all(axis=2).any(axis=0))[0]
    return columns.min(), columns.max()


def test_each_line_adds_a_strip_and_fits_the_width():
    drawn = with_captions(PICTURE, ["word", "", "other"])
    assert drawn.shape == (30 + 3 * 26, 120, 3)
    np.testing.assert_array_equal(drawn[:30], PICTURE)
    first, second, third = drawn[30:].reshape([3, 26, 120, 3])
    assert (second == 255).all()
    assert (first < 128).any() and (third < 128).any()
    short, long = (with_captions(PICTURE, [line])[30:] for line in ("iiii", "wwww" * 6))
    assert ink(short)[1] < 40
    assert 100 < ink(long)[1] < 120


@pytest.mark.parametrize("line", ["\u4e2d\u6587", "\n\t\0", "\ud800", "\U0001d518", "\u05d0\u200b"])
def test_characters_that_the_font_lacks_and_those_that_cannot_be_printed(line):
    assert (with_captions(PICTURE, [line])[30:] < 128).any()


def picture(height, width):
    return np.full([height, width, 3], 7, np.uint8)


def has(pixels, colour):
    return (pixels == colour).all(axis=2).any()


def test_colours_are_below_the_picture_a_line_for_each_name_of_a_narrow_one():
    found = with_legend(picture(20, 200), [("cat", RED), ("dog", GREEN)])
    np.testing.assert_array_equal(found[:20], picture(20, 200))
    assert has(found[20:], RED) and has(found[20:], GREEN) and has(found[20:], (0, 0, 0))
    assert found.shape[1] == 200
    # A narrow picture gets a line for each name.
    one = with_legend(picture(5, 1), [("cat", RED)])
    two = with_legend(picture(5, 1), [("cat", RED), ("dog", GREEN)])
    np.testing.assert_array_equal(two[:5, :1], picture(5, 1))
    assert two.shape[0] > one.shape[0] > 5
    # Nothing of a name is cut off: its last column is empty.
    assert (two[5:, -1] == 255).all()
    np.testing.assert_array_equal(with_legend(picture(3, 4), []), picture(3, 4))


def test_names_of_any_characters_have_a_colour():
    picture = np.zeros([8, 8, 3], np.uint8)
    drawn = with_legend(picture, [("a\n\x1b", (1, 2, 3))])
    expected = with_legend(picture, [("a\\u000a\\u001b", (1, 2, 3))])
    np.testing.assert_array_equal(drawn, expected)


def test_captions_of_another_size():
    usual, large = (with_captions(PICTURE, ["i"], size)[30:] for size in (20, 40))
    assert (len(usual), len(large)) == (26, 52)
    heights = [np.nonzero((part < 128).any(axis=(1, 2)))[0] for part in (usual, large)]
    assert 1.6 < (heights[1].max() - heights[1].min()) / (heights[0].max() - heights[0].min()) < 2.4
