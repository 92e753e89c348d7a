"""Objects are drawn as pycocotools draws them; order, crowds, run lengths, orientation."""

import numpy as np
import pytest
from pycocotools import mask as reference

from tf_frame_deeplab.inputs.regions import Canvas, Region, circle, draw
from tf_frame_deeplab.inputs.run_lengths import parse_polygons, parse_runs
from tf_frame_vision.reading.orientation import TURNS, turn_pixels


def square(left, upper, right, lower):
    return [left, upper, right, upper, right, lower, left, lower]


def drawn(*regions, size=(8, 10), overlap="later", orientation=1):
    canvas = Canvas(*size, orientation)
    return draw(regions, canvas, ignore_label=255, overlap=overlap)


def test_a_polygon_covers_the_pixels_whose_centres_it_covers():
    pixels = drawn(Region(3, 7, [square(2, 1, 5, 4)]))
    expected = np.zeros([8, 10, 2])
    expected[1:4, 2:5] = (3, 7)
    np.testing.assert_array_equal(pixels, expected)


@pytest.mark.parametrize("seed", range(8))
def test_polygons_are_those_of_pycocotools(seed):
    random = np.random.RandomState(seed)
    polygons = [random.uniform(0, 40, 2 * random.randint(3, 9)).tolist() for _ in range(2)]
    whole = reference.decode(reference.merge(reference.frPyObjects(polygons, 40, 50)))
    np.testing.assert_array_equal(drawn(Region(1, 1, polygons), size=(40, 50))[..., 0], whole)


def test_later_or_smaller_objects_are_seen_and_void_is_below_all():
    large, small = Region(1, 1, [square(0, 0, 6, 6)]), Region(2, 2, [square(4, 4, 8, 8)])
    void = Region(None, 0, [square(5, 0, 10, 8)])
    assert drawn(small, large)[5, 5].tolist() == [1, 1]
    assert drawn(small, large, overlap="smaller")[5, 5].tolist() == [2, 2]
    pixels = drawn(large, void)
    assert [pixels[0, column].tolist() for column in (5, 6)] == [[1, 1], [255, 0]]


def test_objects_that_reach_beyond_the_image_or_are_of_another_one():
    pixels = drawn(Region(1, 1, [square(-5, -3, 3, 1e12)]), Region(2, 2, [square(20, 20, 30, 30)]))
    assert pixels[..., 0].sum() == 3 * 8
    bitmap = np.ones([4, 4], bool)
    assert drawn(Region(1, 1, bitmap=(-2, 8, bitmap)))[..., 0].sum() == 2 * 2
    disc = drawn(Region(1, 1, [circle(50, 40, 30)]), size=(80, 100))[..., 0]
    assert abs(disc.sum() - 900 * np.pi) < 30


def test_run_lengths_compressed_or_not():
    mask = np.random.RandomState(0).randint(0, 2, [8, 10]).astype(np.uint8)
    compressed = reference.encode(np.asfortranarray(mask))
    text = compressed["counts"].decode()
    runs, size = parse_runs({"counts": text, "size": [8.0, "10"]})
    assert size == (8, 10)
    np.testing.assert_array_equal(drawn(Region(1, 1, runs=runs))[..., 0], mask)
    assert parse_runs({"counts": runs, "size": [8, 10]}) == (runs, (8, 10))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"counts": [80]}, "have no counts, or no size of two numbers"),
        ({"counts": [80], "size": [8]}, "have no counts, or no size of two numbers"),
        ({"counts": [79], "size": [8, 10]}, "do not add up to 8 x 10 pixels"),
        ({"counts": [90, -10], "size": [8, 10]}, "do not add up to 8 x 10 pixels"),
        ({"counts": [7.5], "size": [8, 10]}, "its run lengths: 7.5 .*is no whole number"),
        ({"counts": 80, "size": [8, 10]}, "are neither a text nor a list"),
        ({"counts": "\u00e9", "size": [8, 10]}, "have the character '\u00e9' at a wrong place"),
        ({"counts": "oooooooooooo0", "size": [8, 10]}, "have the character 'o' at a wrong place"),
        ({"counts": "o", "size": [8, 10]}, "end within a number"),
    ],
)
def test_run_lengths_that_cannot_be_used(content, problem):
    with pytest.raises(ValueError, match=problem):
        parse_runs(content)


@pytest.mark.parametrize("content", [[[1, 2, 3, 4]], [[1, 2, 3, 4, 5, 6, 7]], [["x"]], [1, 2], 3])
def test_polygons_that_cannot_be_used(content):
    with pytest.raises(ValueError, match="numbers"):
        parse_polygons(content)


def test_masks_on_stored_pixels_are_turned():
    region = Region(1, 1, [square(2, 1, 5, 4)])
    for orientation in TURNS:
        expected = turn_pixels(drawn(region), orientation)
        np.testing.assert_array_equal(drawn(region, orientation=orientation), expected)
