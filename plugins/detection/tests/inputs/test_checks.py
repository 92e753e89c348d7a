"""Photographs are checked against their files: orientation, objects, sizes."""

from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image, ImageOps

from tf_frame.errors import DataError
from tf_frame_detection.inputs.annotations import Marked, Photograph
from tf_frame_detection.inputs.checks import make_splits
from tf_frame_detection.inputs.photographs import collect
from tf_frame_vision.reading.damage import count_reasons

BOX = (4, 6, 14, 30)  # Upper, left, lower and right edge in the stored image of 20 x 40 pixels.
STORED = (20, 40)


def write(path, orientation, size=STORED):
    """Writes an image that is white in BOX of the stored pixels."""
    pixels = np.zeros([*size, 3], np.uint8)
    upper, left, lower, right = BOX
    pixels[upper:lower, left:right] = 255
    tags = Image.Exif()
    tags[0x0112] = orientation
    Image.fromarray(pixels).save(path, exif=tags)
    return path


def shown(path):
    return np.asarray(ImageOps.exif_transpose(Image.open(path)))[..., 0]


def mark(box, **fields):
    upper, left, lower, right = box
    corners = (upper, left, upper, right, lower, right, lower, left)
    return Marked(box, 0, "line 1", **{"corners": corners, **fields})


def check(folder, *photographs, **params):
    values = {"skip_corrupt": False, "boxes_on": "", "max_pixels": 10**6, **params}
    parts = [(photographs, ())]
    return make_splits(folder, parts, SimpleNamespace(**values))[0]


@pytest.mark.parametrize("orientation", range(1, 9))
def test_boxes_of_stored_pixels_are_turned_with_the_image(tmp_path, orientation):
    path = write(tmp_path / "a.png", orientation)
    expected = shown(path)
    photograph = Photograph(path, "a", [mark(BOX)], STORED)
    (checked,) = check(tmp_path, photograph, boxes_on="stored").content
    assert checked.size == expected.shape
    upper, left, lower, right = map(int, checked.marks[0].box)
    inside = np.zeros_like(expected)
    inside[upper:lower, left:right] = 255
    np.testing.assert_array_equal(inside, expected)
    corners = np.reshape(checked.marks[0].corners, [4, 2])
    assert corners.min(0).tolist() == [upper, left]
    assert corners.max(0).tolist() == [lower, right]
    # Boxes of the shown image stay, whether the size says so or not.
    for size in (expected.shape, None):
        drawn = Photograph(path, "a", [mark((upper, left, lower, right))], size)
        (kept,) = check(tmp_path, drawn).content
        assert kept.marks[0].box == (upper, left, lower, right)


def test_shares_are_of_the_picture_that_is_drawn_on(tmp_path):
    path = write(tmp_path / "a.png", 6)
    share = tuple(np.array(BOX) / [20, 40, 20, 40])
    photograph = Photograph(path, "a", [mark(share)], in_shares=True)
    boxes = {
        on: check(tmp_path, photograph, boxes_on=on).content[0].marks[0].box
        for on in ("stored", "shown")
    }
    assert boxes["stored"] == pytest.approx((6, 6, 30, 16))
    assert boxes["shown"] == pytest.approx((8, 3, 28, 15))


def test_boxes_that_fit_one_picture_only_decide_for_all(tmp_path):
    path = write(tmp_path / "a.png", 6)
    unclear = mark((2, 2, 10, 10))
    only_stored, only_shown = mark((1, 25, 10, 39)), mark((25, 1, 39, 10))

    def boxes(*marks, **params):
        photographs = [Photograph(path, "a.json", [each], STORED) for each in marks]
        return [one.marks[0].box for one in check(tmp_path, *photographs, **params).content]

    assert boxes(unclear, only_shown)[0] == (2, 2, 10, 10)
    assert boxes(unclear, only_stored)[0] == (2, 10, 10, 18)
    message = (
        r"a.json says that .*a.png is 20 x 40 pixels, as it is stored, but programs show it "
        r"turned, 40 x 20 \(2 such photographs\); {}, so give --input.boxes_on shown if .* showed "
        r"the photographs turned, .* --input.boxes_on stored if it showed them as they are stored"
    )
    with pytest.raises(DataError, match=message.format("all boxes fit both")):
        boxes(unclear, unclear)
    with pytest.raises(
        DataError, match=message.format("some boxes fit only the one, and some only the other")
    ):
        boxes(only_stored, only_shown)
    assert boxes(unclear, boxes_on="shown") == [(2, 2, 10, 10)]
    # A photograph without a box asks nothing.
    assert len(check(tmp_path, Photograph(path, "a", [], STORED)).content) == 1


def test_photographs_with_an_object_that_cannot_be_used_are_left_out_and_counted(tmp_path):
    path = write(tmp_path / "a.png", 6)
    good = mark((2, 2, 10, 10))
    flat = mark((2, 2, 2, 10)), mark((3, 2, 3, 10))
    photographs = [
        Photograph(path, "a", [good, flat[0]]),
        Photograph(path, "b", [good]),
        Photograph(path, "c", [flat[1], good]),
        Photograph(path, "d", [good], size=(20, 41)),
        Photograph(tmp_path / "absent.png", "e", [good]),
        Photograph(path, "f", [good], problems=["line 7: its class 'x' is none of y"]),
        Photograph(path, "g", [mark((50, 1, 60, 10))]),
    ]
    with pytest.raises(
        DataError, match=r"^a, line 1: its box, .* is empty \(5 more in this split\)"
    ):
        check(tmp_path, *photographs)
    split = check(tmp_path, *photographs, skip_corrupt=True)
    assert [(one.source, len(one.marks)) for one in split.content] == [("b", 1)]
    assert [line.partition(": ")[0] for line in split.damaged] == [
        *("a, line 1", "c, line 1", "d", f"{tmp_path}/absent.png, of e", "f, line 7", "g, line 1")
    ]
    assert count_reasons(split.damaged) == {
        "its box, rows N to N and columns N to N, is empty": 2,
        "an image has another size than its annotation says": 1,
        "it is missing": 1,
        "its class 'x' is none of y": 1,
        "its box, rows N to N and columns N to N, lies outside of the image of N x N pixels": 1,
    }
    with pytest.raises(DataError, match="a.png, of b: it is 20 x 40 pixels, more than 700"):
        check(tmp_path, photographs[1], max_pixels=700)


def test_columns_give_the_photographs_back(tmp_path):
    photographs = [
        Photograph(tmp_path / "a/x.png", "s", [mark((1, 2, 3, 4)), mark((5, 6, 7, 8), crowd=True)]),
        Photograph(tmp_path / "b/x.png", "t", [], (3, 4), problems=["line 1: no"]),
        Photograph(tmp_path.parent / "c.png", "u", [mark((0, 0, 1, 1), ignored=True)]),
    ]
    columns = collect(tmp_path, photographs)
    assert columns.paths == ["a/x.png", "b/x.png", "../c.png"]
    assert list(columns[:2]) == photographs[:2]
    kept = columns.select(np.array([False, True, True]))
    assert [one.source for one in kept] == ["t", "u"]
    assert kept[0] == photographs[1] and kept[1].marks == photographs[2].marks
    assert columns.digest() != kept.digest()
