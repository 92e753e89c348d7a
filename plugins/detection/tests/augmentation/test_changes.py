"""Objects are drawn with a value of their own, so that each pixel says where its box must be."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from slow_cases import slow_but
from tf_frame.errors import ConfigError
from tf_frame_detection.augmentation.by_name import CHANGES, apply, parse
from tf_frame_detection.augmentation.labelled import Labelled, fit_to_size

HEIGHT, WIDTH, CELL = 60, 80, 20
VALUES = 20.0 * np.arange(1, 13)
SEEDS = 30


def drawn(seed):
    """Twelve rectangles of whole pixels that do not touch, of which some are left out."""
    random = np.random.RandomState(seed)
    image = np.zeros([HEIGHT, WIDTH, 3], np.float32)
    boxes = []
    for k in range(12):
        top, left = k // 4 * CELL + random.randint(1, 6), k % 4 * CELL + random.randint(1, 6)
        height, width = random.randint(4, 13, 2)
        image[top : top + height, left : left + width] = VALUES[k]
        boxes.append([top, left, top + height, left + width])
    return image, np.array(boxes, np.float32)


def to_corners(boxes):
    upper, left, lower, right = boxes.T
    points = [(upper, left), (upper, right), (lower, right), (lower, left)]
    return np.stack([np.stack(point, -1) for point in points], 1).astype(np.float32)


def results(words, changed=None):
    """The changed picture of each of many seeds; objects are told apart by their class."""
    image, boxes = drawn(0)
    numbers = np.arange(12)
    with tf.Graph().as_default(), tf.Session() as session:
        seed = tf.placeholder(tf.int32, [2])
        labelled = Labelled(
            *map(tf.constant, (image, boxes, numbers.astype(np.int32), numbers % 2 == 0)),
            tf.constant(numbers % 4 == 0),
            tf.constant(to_corners(boxes)),
        )
        labelled = apply(labelled, parse(words, "--x"), seed)
        labelled = changed(labelled) if changed else labelled
        parts = {name: part for name, part in labelled._asdict().items() if part is not None}
        runs = [session.run(parts, {seed: [7, n]}) for n in range(SEEDS)]
        return [labelled._replace(**values) for values in runs]


def check(result, *, is_cut):
    """Boxes, corners and flags are those of the pixels with the value of their class."""
    check_flags(result)
    for box, corners, number in zip(result.boxes, result.corners, result.classes, strict=True):
        pixels = np.argwhere(np.abs(result.image[..., 0] - VALUES[number]) < 1e-3)
        np.testing.assert_allclose([*pixels.min(0), *(pixels.max(0) + 1)], box, atol=1e-3)
        around = np.concatenate([corners.min(0), corners.max(0)])
        # Only an upright box is cut.
        np.testing.assert_array_less(around[:2], box[:2] + 1e-3)
        np.testing.assert_array_less(box[2:], around[2:] + 1e-3)
        if not is_cut:
            np.testing.assert_allclose(around, box, atol=1e-3)


def check_flags(result):
    np.testing.assert_array_equal(result.ignored, result.classes % 2 == 0)
    np.testing.assert_array_equal(result.crowd, result.classes % 4 == 0)
    assert len(set(result.classes.tolist())) == len(result.classes) == len(result.corners)


EXACT = [
    "random_horizontal_flip",
    "random_vertical_flip",
    "random_rotation90",
    "random_crop_image:min_object_covered=0.5:overlap_thresh=0.0",
    "ssd_random_crop",
    "ssd_random_crop_pad",
    "random_pad_image",
    "random_absolute_pad_image",
    "random_crop_to_aspect_ratio:aspect_ratio=0.7",
    "random_pad_to_aspect_ratio:aspect_ratio=0.7",
]
RESIZED = [
    "random_image_scale",
    "resize_image:new_height=90:new_width=200",
    "random_scale_crop_and_pad_to_square:output_size=100:scale_min=0.8:scale_max=1.6",
]
COLOURS = [
    "random_adjust_brightness",
    "random_adjust_contrast",
    "random_adjust_hue",
    "random_adjust_saturation",
    "random_distort_color:color_ordering=1",
    "random_rgb_to_gray:probability=0.5",
    "random_pixel_value_scale",
]


@pytest.mark.parametrize("word", slow_but((0, 4, -1), EXACT))
def test_labels_lie_on_their_objects_exactly(word):
    found = results([word])
    for result in found:
        check(result, is_cut="crop" in word)
    assert len({result.image.tobytes() for result in found}) > 1


@pytest.mark.parametrize("word", RESIZED)
def test_labels_lie_on_their_objects_when_resized(word):
    for result in results([word]):
        check_flags(result)
        wide = (result.boxes[:, 2:] - result.boxes[:, :2]).min(1) >= 3
        rows, columns = ((result.boxes[:, :2] + result.boxes[:, 2:]) / 2).astype(int)[wide].T
        found = result.image[rows, columns, 0]
        np.testing.assert_allclose(found, VALUES[result.classes[wide]], atol=0.1)


def test_every_change_is_tested_and_sequences_keep_labels_on_objects():
    words = ["random_rotation90", "ssd_random_crop", "random_horizontal_flip", "random_pad_image"]
    found = results(words)
    for result in found:
        check(result, is_cut=True)
    assert len({len(result.boxes) for result in found}) > 1, "crops leave out objects"
    tested = {word.split(":")[0] for word in (*EXACT, *RESIZED, *COLOURS, "random_jitter_boxes")}
    assert tested == set(CHANGES)


@pytest.mark.parametrize("word", COLOURS)
def test_colours_change_no_label(word):
    image, boxes = drawn(0)
    found = results([word])
    for result in found:
        np.testing.assert_array_equal(result.boxes, boxes)
        assert result.image.shape == image.shape
        assert 0 <= result.image.min() <= result.image.max() <= 255
    # Hue, saturation and grey do not change the picture, which is grey.
    if word.split(":")[0].rpartition("_")[2] not in ("hue", "saturation", "gray"):
        assert len({result.image.tobytes() for result in found}) > 9


def test_crops_and_jitter_move_boxes_and_corners():
    _, boxes = drawn(0)
    word = "random_crop_image:min_object_covered=0.9:overlap_thresh=0.6"
    whole = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    for result in results([word]):
        left = result.boxes
        share = (left[:, 2] - left[:, 0]) * (left[:, 3] - left[:, 1]) / whole[result.classes]
        assert share.max() >= 0.9 - 0.05  # The op rounds windows to whole pixels.
        assert share.min() >= 0.6
    # Jitter moves edges by a share and corners with them.
    _, boxes = drawn(0)
    sides = np.tile(boxes[:, 2:] - boxes[:, :2], [1, 2])
    found = results(["random_jitter_boxes:ratio=0.1"])
    moves = [(result.boxes - boxes) / sides for result in found]
    assert 0.09 < np.abs(moves).max() <= 0.1001
    for result in found:
        np.testing.assert_allclose(to_corners(result.boxes), result.corners, atol=1e-4)


@pytest.mark.parametrize("keep", [False, True])
def test_images_may_be_resized_as_by_tensorflow_1(keep):
    image, boxes = drawn(0)
    options = {"keep_aspect_ratio": keep, "resizing": "legacy"}
    with tf.Graph().as_default(), tf.Session() as session:
        labelled = Labelled(tf.constant(image), tf.constant(boxes), None, None, None)
        fit, inner = fit_to_size(labelled, 45, 90, **options)
        size = [45, 60] if keep else [45, 90]
        resized = tf.image.resize_bilinear(image[np.newaxis], size)[0]
        fit, inner, resized = session.run([fit.image, inner, resized])
    assert inner.tolist() == size
    np.testing.assert_array_equal(fit[:, : size[1]], resized)


@pytest.mark.parametrize(("size", "inner"), [((90, 40), (30, 40)), ((30, 80), (30, 40))])
def test_the_aspect_ratio_is_kept_by_padding_below_or_to_the_right(size, inner):
    def fit(labelled):
        fit.image, fit.inner = fit_to_size(labelled, *size, keep_aspect_ratio=True)
        return fit.image._replace(ignored=fit.inner)

    _, boxes = drawn(0)
    (result, *_) = results([], fit)
    assert tuple(result.ignored) == inner
    assert result.image.shape == (*size, 3)
    np.testing.assert_allclose(result.boxes, boxes / 2)
    assert not result.image[inner[0] :].any()
    assert not result.image[:, inner[1] :].any()


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("random_flop", "--x names 'random_flop'; there are: random_absolute_pad_image"),
        ("random_image_scale:size=3", "no option 'size'; there are: min_scale_ratio"),
        ("random_horizontal_flip:p=1", "random_horizontal_flip has no option 'p'; there are: none"),
        ("random_image_scale:max_scale_ratio=big", "max_scale_ratio is 'big'; it must be a number"),
        ("random_image_scale:max_scale_ratio=-1", "max_scale_ratio is -1; it must be 0 or more"),
        ("random_jitter_boxes:ratio=nan", "ratio is nan; it must be 0 or more, and finite"),
        ("resize_image:new_width=0", "new_width is 0; it must be above 0"),
        ("random_image_scale:min_scale_ratio=3", "min_scale_ratio 3.0 is above max_scale_ratio 2"),
        ("random_pixel_value_scale:maxval=0.5", "minval 0.9 is above maxval 0.5"),
        ("resize_image:new_width=2.5", "new_width is '2.5'; it must be a whole number"),
    ],
)
def test_wrong_names_and_options_are_refused(word, message):
    with pytest.raises(ConfigError, match=message):
        parse([word], "--x")
