import numpy as np
import pytest

from tf_frame_vision.drawing.boxes import draw_boxes, enlarged, upright_corners

RED, YELLOW = (255, 0, 0), (255, 255, 0)


def black(height, width):
    return np.zeros([height, width, 3], np.uint8)


def painted(pixels, colour=RED):
    return (pixels == colour).all(axis=2)


def test_lines_lie_on_the_edges_and_captions_move_left():
    corners = upright_corners(np.array([[0.2, 0.1, 0.6, 0.9]]))
    found = painted(draw_boxes(black(100, 200), corners, [RED]))
    rows, columns = np.nonzero(found)
    ends = [rows.min(), rows.max(), columns.min(), columns.max()]
    np.testing.assert_allclose(ends, [19.5, 59.5, 19.5, 179.5], atol=1.5)
    # Two pixels on all four sides, nothing within.
    assert (found[18:22].sum(axis=0)[25:175] == 2).all()
    assert (found[58:62].sum(axis=0)[25:175] == 2).all()
    assert (found[:, 18:22].sum(axis=1)[25:55] == 2).all()
    assert (found[:, 178:182].sum(axis=1)[25:55] == 2).all()
    assert not found[22:58, 22:178].any()
    corners = np.array([[[0.5, 0.1], [0.1, 0.5], [0.5, 0.9], [0.9, 0.5]]])
    found = painted(draw_boxes(black(100, 100), corners, [RED]))
    assert found[28:33, 28:33].any() and found[68:73, 68:73].any()
    assert not found[12:20, 12:20].any() and not found[45:55, 45:55].any()
    corners = upright_corners(np.array([[0.2, 0.2, 0.8, 0.8]] * 2))
    found = draw_boxes(black(100, 100), corners, [RED, YELLOW])
    assert painted(found, YELLOW).any() and not painted(found).any()
    np.testing.assert_array_equal(draw_boxes(black(5, 7), np.zeros([0, 4, 2]), []), black(5, 7))
    # A caption at the right edge moves left.
    corners = upright_corners(np.array([[0.5, 0.9, 0.8, 1.0], [0.5, 0.1, 0.8, 0.2]]))
    found = [
        painted(draw_boxes(black(100, 200), each[np.newaxis], [YELLOW], ["tree 0.87"]), YELLOW)
        for each in corners
    ]
    assert found[0][:48].sum() == found[1][:48].sum() > 300


@pytest.mark.parametrize(
    ("box", "row"), [((0.5, 0.2, 0.8, 0.8), 42), ((0.0, 0.2, 0.8, 0.8), 3), ((-1, -1, 2, 2), 3)]
)
def test_captions_are_above_a_box_or_within_and_never_outside(box, row):
    corners = upright_corners(np.array([box]))
    plain = draw_boxes(black(100, 100), corners, [YELLOW])
    found = draw_boxes(black(100, 100), corners, [YELLOW], ["tree 0.87"])
    changed = (plain != found).any(axis=2)
    assert changed[row].sum() > 20
    # Text on yellow is black, and all of it is there.
    assert (painted(found, YELLOW) & changed).sum() > 300


@pytest.mark.parametrize(
    ("shape", "expected"), [((200, 100), (400, 200)), ((150, 7), (450, 21)), ((9, 400), (9, 400))]
)
def test_small_pictures_are_enlarged(shape, expected):
    assert enlarged(black(*shape)).shape == (*expected, 3)


def test_captions_of_any_characters_are_drawn():
    corners = upright_corners(np.array([[0.5, 0.1, 0.8, 0.2]]))
    drawn = draw_boxes(black(100, 200), corners, [YELLOW], ["a\n\x1b"])
    expected = draw_boxes(black(100, 200), corners, [YELLOW], ["a\\u000a\\u001b"])
    np.testing.assert_array_equal(drawn, expected)


def test_lines_and_captions_of_large_pictures_are_larger():
    corners = upright_corners(np.array([[0.2, 0.2, 0.8, 0.8]]))
    found = painted(draw_boxes(black(3200, 1600), corners, [RED], ["tree"]))
    assert found[:, 800].sum() == 2 * 8
    # A caption of 13 pixels, four times as high, above the box.
    rows = np.nonzero(found[:630, 321])[0]
    np.testing.assert_allclose([rows.min(), rows.max()], [640 - 52, 629], atol=2)
