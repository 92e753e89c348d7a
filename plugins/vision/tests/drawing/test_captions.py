import numpy as np
import pytest

from tf_frame_vision.drawing.captions import with_captions

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
