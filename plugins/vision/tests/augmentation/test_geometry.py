"""Masks, boxes and points follow every change of the image exactly."""

import functools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
from slow_cases import slow_but
from tf_frame_vision.augmentation import (
    Sample,
    apply_if,
    clip_boxes,
    crop,
    crop_or_pad,
    flip_left_right,
    flip_up_down,
    pad,
    random_crop,
    random_crop_or_pad,
    random_flip,
    random_rotate_90,
    random_scale,
    resize,
    rotate_90,
    scale,
    transpose,
)

pytestmark = pytest.mark.usefixtures("graph")

HEIGHT, WIDTH = 30, 40
# Upper, left, lower and right edge of rectangles, of which each is a mask, too.
BOXES = np.float32([[4, 6, 12, 30], [10, 2, 28, 20], [0, 0, 30, 40], [15, 33, 16, 34]])
# Centres of pixels.
POINTS = np.float32([[0.5, 0.5], [4.5, 30.5], [29.5, 39.5], [17.5, 3.5]])
SEEDS = [[7, number] for number in range(12)]


def seeded(change, *arguments, **options):
    return [functools.partial(change, *arguments, seed=tf.constant(s), **options) for s in SEEDS]


def changed(change, *arguments, **options):
    return [lambda sample: change(sample, *arguments, **options)]


# Changes that move whole pixels, each with several seeds where there is chance.
WHOLE_PIXELS = {
    "flip_left_right": lambda: changed(flip_left_right),
    "flip_up_down": lambda: changed(flip_up_down),
    "transpose": lambda: changed(transpose),
    **{f"rotate_90_{turns}": lambda t=turns: changed(rotate_90, t) for turns in (-1, 0, 1, 2, 3)},
    "crop": lambda: changed(crop, 3, 5, 20, 22),
    "pad": lambda: changed(pad, 3, 5, 50, 60, mask_fill=0),
    "cut_and_padded": lambda: changed(crop_or_pad, 50, 20, down=0.3, across=0.9),
    "doubled": lambda: changed(resize, 2 * HEIGHT, 2 * WIDTH),
    "random_flip": lambda: seeded(random_flip),
    "random_rotate_90": lambda: seeded(random_rotate_90),
    "random_crop": lambda: seeded(random_crop, height=24, width=25),
    "random_crop_or_pad": lambda: seeded(random_crop_or_pad, height=24, width=60),
}


def sample(boxes=BOXES, points=POINTS):
    """An image of its own coordinates `[row, column, 1]`, with the boxes as masks of integers."""
    rows, columns = np.mgrid[0:HEIGHT, 0:WIDTH]
    image = np.stack([rows, columns, np.ones_like(rows)], axis=2).astype(np.float32)
    masks = [
        (rows >= top) & (rows < bottom) & (columns >= left) & (columns < right)
        for top, left, bottom, right in BOXES
    ]
    masks = np.stack(masks, axis=2).astype(np.int32)
    return Sample(*map(tf.constant, (image, masks, boxes, points)))


def find_box(mask):
    """The box around the pixels of a mask."""
    rows, columns = np.nonzero(mask)
    return [rows.min(), columns.min(), rows.max() + 1, columns.max() + 1]


@pytest.mark.parametrize("name", slow_but((0, -1), WHOLE_PIXELS))
def test_marks_follow_the_image(name):
    for result in run_initialized([change(sample()) for change in WHOLE_PIXELS[name]()]):
        image, masks, boxes, points = result
        height, width = image.shape[:2]
        assert masks.shape == (height, width, len(BOXES))
        # A mask has the pixels whose coordinates, which the image tells, lie in its box.
        rows, columns, inside = np.moveaxis(np.round(image, 3), 2, 0)
        for index, (top, left, bottom, right) in enumerate(BOXES):
            expected = (rows >= top) & (rows < bottom) & (columns >= left) & (columns < right)
            if name != "doubled":  # Between two pixels the image has neither's coordinates.
                np.testing.assert_array_equal(masks[..., index] > 0, expected & (inside > 0))
        # A box is the one around its mask, as far as that lies in the image.
        limits = [height, width, height, width]
        for index, box in enumerate(boxes):
            if masks[..., index].any():
                assert np.clip(box, 0, limits).tolist() == find_box(masks[..., index])
        # A point is on the pixel that it was on.
        for (row, column), (down, across) in zip(POINTS, points, strict=True):
            if 0 <= down < height and 0 <= across < width and name != "doubled":
                pixel = image[int(down), int(across)]
                assert pixel.tolist() == [row - 0.5, column - 0.5, 1]


# By the definitions of `tf.image.resize_bilinear` and `resize_nearest_neighbor`.
@pytest.mark.parametrize(
    ("resizing", "pixels", "labels"),
    [
        ("half_pixel", [0, 1, 3, 4], [0, 4, 4]),
        ("legacy", [0, 2, 4, 4], [0, 0, 4]),
        ("align_corners", [0, 4 / 3, 8 / 3, 4], [0, 4, 4]),
    ],
)
def test_an_option_says_where_pixels_lie(resizing, pixels, labels):
    two = Sample(tf.constant([[[0.0], [4.0]]]), masks=tf.constant([[[0], [4]]]))
    image, masks = run_initialized(
        [resize(two, 1, 4, resizing).image, resize(two, 1, 3, resizing).masks]
    )
    np.testing.assert_allclose(image.ravel(), pixels, rtol=1e-6)
    assert masks.ravel().tolist() == labels
    scaled = run_initialized(scale(two, 2.0, resizing).image)
    np.testing.assert_array_equal(scaled[0], image[0])


@pytest.mark.parametrize("height", [15, 37, 61])
@pytest.mark.parametrize("width", [20, 40, 97])
def test_resized_marks_have_the_place_that_they_had(height, width):
    """In fractions of the image; a mask to half a pixel of the smaller image."""
    result = run_initialized(resize(sample(), height, width))
    factors = np.array([height / HEIGHT, width / WIDTH])
    np.testing.assert_allclose(result.points, POINTS * factors, rtol=1e-6)
    np.testing.assert_allclose(result.boxes, BOXES * [*factors, *factors], rtol=1e-6)
    for index, box in enumerate(result.boxes[:3]):
        around = find_box(result.masks[..., index])
        assert np.abs(around - box).max() <= max(1, *factors) / 2 + 1e-4
    # Along a row, the image is its coordinate, except at the edges.
    columns = (np.arange(width) + 0.5) / factors[1] - 0.5
    expected = np.clip(columns, 0, WIDTH - 1)
    np.testing.assert_allclose(result.image[0, :, 1], expected, atol=1e-4)


def test_masks_rotations_and_scales_are_those_of_tensorflow():
    """Labels stay labels, bool is cut at one half, numbers are interpolated."""
    values = np.array([[0, 9]])[..., np.newaxis]
    typed = {t: tf.constant(values.astype(t)) for t in (np.uint8, np.int32, bool, np.float32)}
    resized = {t: resize(Sample(tf.zeros([1, 2, 1]), m), 1, 6).masks for t, m in typed.items()}
    found = run_initialized(resized)
    assert {t: masks.dtype for t, masks in found.items()} == {t: np.dtype(t) for t in typed}
    for kind in (np.uint8, np.int32):
        assert found[kind][0, :, 0].tolist() == [0, 0, 0, 9, 9, 9]
    assert found[bool][0, :, 0].tolist() == [False] * 3 + [True] * 3
    np.testing.assert_allclose(found[np.float32][0, :, 0], [0, 0, 1.5 * 2, 6, 9, 9], atol=1e-5)
    image = sample().image
    pairs = [(rotate_90(Sample(image), k).image, tf.image.rot90(image, k)) for k in range(4)]
    for found, expected in run_initialized(pairs):
        np.testing.assert_array_equal(found, expected)
    found = run_initialized(scale(sample(), tf.constant(1.26)))
    assert found.image.shape == (38, 50, 3)
    np.testing.assert_allclose(found.points, POINTS * [38 / 30, 50 / 40], rtol=1e-6)


def test_padding_has_its_own_values_and_boxes_are_clipped():
    typed = Sample(tf.ones([2, 2, 3]), tf.ones([2, 2, 1], tf.int32))
    image, masks, *_ = run_initialized(pad(typed, 1, 0, 3, 4, fill=7, mask_fill=255)[:2])
    assert (image[0] == 7).all() and (image[1:, 2:] == 7).all() and (image[1:, :2] == 1).all()
    assert masks[..., 0].tolist() == [[255] * 4, [1, 1, 255, 255], [1, 1, 255, 255]]
    of_bool = pad(Sample(typed.image, tf.ones([2, 2, 1], tf.bool)), 0, 0, 2, 3, mask_fill=255)
    assert run_initialized(of_bool.masks)[..., 0].tolist() == [[True, True, False]] * 2
    boxes = np.float32([[-3, 4, 10, 99], [40, 50, 60, 70], [1, 2, 3, 4]])
    found = run_initialized(clip_boxes(sample(boxes))).boxes
    assert found.tolist() == [[0, 4, 10, 40], [30, 40, 30, 40], [1, 2, 3, 4]]


@pytest.mark.slow
@pytest.mark.parametrize("size", [20, 41])
def test_a_window_takes_every_place_and_no_other(size):
    """From the upper left corner to the lower right one, be it cut or padded."""
    fractions = np.linspace(0, 1, 200, endpoint=False, dtype=np.float32)
    columns = tf.map_fn(
        lambda f: crop_or_pad(Sample(tf.constant(np.arange(30.0).reshape(1, 30, 1)), None, None,
                                     tf.constant([[0.5, 0.5]])), 1, size, across=f).points[0, 1],
        tf.constant(fractions),
    )  # fmt: skip
    first = np.unique(run_initialized(columns) - 0.5)
    expected = -np.arange(11.0)[::-1] if size == 20 else np.arange(12.0)
    np.testing.assert_array_equal(first, expected)


def test_a_change_is_applied_where_the_condition_holds_and_to_unknown_sizes():
    for parts in (("image",), ("image", "boxes"), ("image", "masks", "boxes", "points")):
        whole = sample()
        given = Sample(**{name: getattr(whole, name) for name in parts})
        kept, done = (apply_if(tf.constant(c), flip_left_right, given) for c in (False, True))
        names = [name for name, part in kept._asdict().items() if part is not None]
        assert tuple(names) == parts
        pairs = [(kept, given), (done, flip_left_right(given))]
        for found, expected in pairs:
            for name in parts:
                np.testing.assert_array_equal(
                    *run_initialized([getattr(found, name), getattr(expected, name)])
                )
    # Images of unknown size and no boxes are changed.
    image = tf.placeholder(tf.float32, [None, None, 3])
    empty = Sample(image, boxes=tf.zeros([0, 4]), points=tf.zeros([0, 2]))
    seed = tf.constant([1, 2])
    result = random_crop_or_pad(random_scale(random_flip(empty, seed), 0.5, 2.0, seed), 9, 11, seed)
    assert result.image.shape == [9, 11, 3]
    with tf.Session() as session:
        found = session.run(result[:1] + result[2:], {image: np.ones([5, 7, 3])})
    assert [part.shape for part in found] == [(9, 11, 3), (0, 4), (0, 2)]
