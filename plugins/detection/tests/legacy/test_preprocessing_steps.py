"""Steps of pipeline files, as messages built at run time: the API's own are not installed."""

import functools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from built_messages import message_class, parse
from tf_frame.errors import ConfigError
from tf_frame_detection.legacy import preprocessor

pytestmark = pytest.mark.usefixtures("graph")

CROP = [
    *[(name, "float", "optional") for name in ("min_object_covered", "min_aspect_ratio")],
    *[(name, "float", "optional") for name in ("max_aspect_ratio", "min_area", "max_area")],
    *[(name, "float", "optional") for name in ("overlap_thresh", "random_coef")],
    ("clip_boxes", "bool", "true"),
]
DEFAULTS = ("1", "0.75", "1.33", "0.1", "1", "0.3", "0", "true")
CROP_IMAGE = [(name, kind, value) for (name, kind, _), value in zip(CROP, DEFAULTS, strict=True)]
RATIOS = [(f"{limit}_padded_size_ratio", "float", "repeated") for limit in ("min", "max")]
COLOUR = [(f"pad_color_{channel}", "float", "optional") for channel in "rgb"]
FLIP = [("keypoint_flip_permutation", "int32", "repeated"), ("probability", "float", "0.5")]
FIELDS = {
    "random_horizontal_flip": FLIP,
    "random_vertical_flip": FLIP,
    "random_rotation90": [("probability", "float", "0.5")],
    "normalize_image": [
        *[(f"original_{limit}", "float", "optional") for limit in ("minval", "maxval")],
        *[("target_minval", "float", "0"), ("target_maxval", "float", "1")],
    ],
    "subtract_channel_mean": [("means", "float", "repeated")],
    "adjust_gamma": [("gamma", "float", "1"), ("gain", "float", "1")],
    "rgb_to_gray": [],
    "scale_boxes_to_pixel_coordinates": [],
    "convert_class_logits_to_softmax": [("temperature", "float", "1")],
    "remap_labels": [("original_labels", "int32", "repeated"), ("new_label", "int32", "optional")],
    "drop_label_probabilistically": [
        *[("label", "int32", "optional"), ("drop_probability", "float", "1")]
    ],
    "resize_image": [
        *[("new_height", "int32", "optional"), ("new_width", "int32", "optional")],
        ("method", "Method", "BILINEAR"),
    ],
    "random_resize_method": [
        *[("target_height", "int32", "optional"), ("target_width", "int32", "optional")]
    ],
    "random_jitter_boxes": [("ratio", "float", "0.05"), ("jitter_mode", "JitterMode", "DEFAULT")],
    "random_crop_image": CROP_IMAGE,
    "random_crop_to_aspect_ratio": [("aspect_ratio", "float", "1")],
    "random_pad_image": [
        *[
            (f"m{end}_image_{side}", "int32", "optional")
            for end in ("in", "ax")
            for side in ("height", "width")
        ],
        ("pad_color", "float", "repeated"),
    ],
    "random_absolute_pad_image": [
        *[(f"max_{side}_padding", "int32", "optional") for side in ("height", "width")],
        ("pad_color", "float", "repeated"),
    ],
    "random_crop_pad_image": [*CROP_IMAGE, *RATIOS, ("pad_color", "float", "repeated")],
    "ssd_random_crop": [("operations", "Crop", "repeated")],
    "ssd_random_crop_pad": [("operations", "CropAndPad", "repeated")],
    "ssd_random_crop_fixed_aspect_ratio": [
        *[("operations", "Crop", "repeated"), ("aspect_ratio", "float", "1")]
    ],
    "ssd_random_crop_pad_fixed_aspect_ratio": [
        *[("operations", "Crop", "repeated"), ("aspect_ratio", "float", "1"), *RATIOS]
    ],
    "random_self_concat_image": [
        (f"concat_{way}_probability", "float", "0.1") for way in ("vertical", "horizontal")
    ],
    "random_square_crop_by_scale": [
        *[("max_border", "int32", "128"), ("num_scales", "int32", "8")],
        *[("scale_min", "float", "0.6"), ("scale_max", "float", "1.3")],
    ],
    "random_black_patches": [
        *[("max_black_patches", "int32", "10"), ("probability", "float", "0.5")],
        ("size_to_image_ratio", "float", "0.1"),
    ],
    "random_jpeg_quality": [
        *[("random_coef", "float", "0"), ("min_jpeg_quality", "int32", "0")],
        ("max_jpeg_quality", "int32", "100"),
    ],
    "random_downscale_to_target_pixels": [
        *[("random_coef", "float", "0"), ("min_target_pixels", "int32", "300000")],
        ("max_target_pixels", "int32", "500000"),
    ],
    "random_patch_gaussian": [
        *[("random_coef", "float", "0"), ("min_patch_size", "int32", "1")],
        *[("max_patch_size", "int32", "250"), ("min_gaussian_stddev", "float", "0")],
        ("max_gaussian_stddev", "float", "1"),
    ],
    "autoaugment_image": [("policy_name", "string", "v0")],
}


@functools.cache
def step_class():
    messages = {"Crop": CROP, "CropAndPad": [*CROP, *RATIOS, *COLOUR]}
    messages.update({name.title(): fields for name, fields in FIELDS.items()})
    messages["Step"] = [(name, name.title(), "optional") for name in FIELDS]
    modes = "DEFAULT EXPAND SHRINK _3 EXPAND_SYMMETRIC SHRINK_SYMMETRIC EXPAND_SYMMETRIC_XY"
    enums = {
        "Method": ("_0", "AREA", "BICUBIC", "BILINEAR", "NEAREST_NEIGHBOR"),
        "JitterMode": modes.split(),
    }
    return message_class(messages, enums, {"Step": "preprocessing_step"})


HEIGHT, WIDTH = 20, 40
BOXES = np.array([[0.1, 0.2, 0.5, 0.4], [0.5, 0.5, 0.9, 1.0]], np.float32)
IMAGE = np.arange(HEIGHT * WIDTH * 3).reshape(HEIGHT, WIDTH, 3).astype(np.uint8)
POINTS = np.array([[[0.2, 0.25], [0.4, 0.35]], [[0.6, 0.75], [np.nan, np.nan]]], np.float32)


def masks_of(boxes, height, width):
    """A mask for each box, with ones in it."""
    masks = np.zeros([len(boxes), height, width], np.float32)
    for mask, box in zip(masks, boxes, strict=True):
        top, left, bottom, right = np.round(box * np.tile([height, width], 2)).astype(int)
        mask[top:bottom, left:right] = 1
    return masks


def example():
    return {
        "image": tf.constant(IMAGE[None]),
        "groundtruth_boxes": tf.constant(BOXES),
        "groundtruth_classes": tf.constant([1, 2], tf.int64),
        "groundtruth_area": tf.constant([64.0, 160.0]),
        "groundtruth_instance_masks": tf.constant(masks_of(BOXES, HEIGHT, WIDTH)),
        "groundtruth_keypoints": tf.constant(POINTS),
        "multiclass_scores": tf.constant([[1.0, 2.0], [3.0, 3.0]]),
    }


def apply(*texts):
    steps = [parse(step_class(), text) for text in texts]
    tensors = preprocessor.preprocess(example(), steps)
    with tf.Session() as session:
        return session.run(tensors)


def check_masks(found):
    """Masks are where the boxes are, but for a pixel on each side."""
    masks, image = found["groundtruth_instance_masks"], found["image"][0]
    expected = masks_of(found["groundtruth_boxes"], *image.shape[:2])
    assert masks.shape == expected.shape
    sides = np.sum(image.shape[:2])
    assert np.abs(masks - expected).sum(axis=(1, 2)).max() <= 2 * sides
    assert masks.sum(axis=(1, 2)).min() > 0


def test_a_flip_moves_masks_and_keypoints():
    found = apply(
        "random_horizontal_flip { probability: 1 keypoint_flip_permutation: [1, 0] }",
        "random_vertical_flip { probability: 0 }",
        "random_vertical_flip { probability: 1 }",
    )
    np.testing.assert_array_equal(found["image"][0], IMAGE[::-1, ::-1])
    np.testing.assert_allclose(found["groundtruth_boxes"][0], [0.5, 0.6, 0.9, 0.8], rtol=1e-5)
    # The permutation exchanged the points of each object.
    expected = 1.0 - POINTS[:, ::-1]
    np.testing.assert_allclose(found["groundtruth_keypoints"], expected, rtol=1e-5)
    check_masks(found)


def test_steps_without_chance():
    found = apply(
        "resize_image { new_height: 10 new_width: 10 method: AREA }",
        "normalize_image { original_minval: 0 original_maxval: 255 target_maxval: 2 }",
        "subtract_channel_mean { means: [1, 0, -1] }",
        "convert_class_logits_to_softmax { temperature: 0.5 }",
        "remap_labels { original_labels: [1, 7] new_label: 5 }",
        "scale_boxes_to_pixel_coordinates {}",
    )
    # Every new pixel is the mean of 2 x 4 old ones.
    mean = IMAGE.astype(float).reshape(10, 2, 10, 4, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(found["image"][0], mean / 255 * 2 - [1, 0, -1], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found["groundtruth_boxes"], BOXES * 10, rtol=1e-6)
    np.testing.assert_allclose(found["groundtruth_keypoints"], POINTS * 10, rtol=1e-6)
    scores = np.exp([[2.0, 4.0], [6.0, 6.0]])
    np.testing.assert_allclose(
        found["multiclass_scores"], scores / scores.sum(1)[:, None], rtol=1e-5
    )
    assert found["groundtruth_classes"].tolist() == [5, 2]
    assert found["groundtruth_instance_masks"].shape == (2, 10, 10)


def test_grey_and_gamma():
    found = apply("adjust_gamma { gamma: 2 gain: 0.5 }", "rgb_to_gray {}")
    expected = 0.5 * (IMAGE / 255.0) ** 2 * 255 @ [0.2989, 0.587, 0.114]
    np.testing.assert_allclose(found["image"][0, ..., 0], expected, rtol=1e-3, atol=1e-3)


@pytest.mark.slow
def test_an_object_that_is_dropped_takes_its_tensors_along():
    found = apply("drop_label_probabilistically { label: 1 }")
    assert found["groundtruth_classes"].tolist() == [2]
    assert found["groundtruth_area"].tolist() == [160.0]
    np.testing.assert_allclose(found["groundtruth_boxes"], BOXES[1:], rtol=1e-6)
    assert found["multiclass_scores"].tolist() == [[3.0, 3.0]]
    check_masks(found)


CROP_TEXT = (
    "min_object_covered: 0.5 min_aspect_ratio: 0.5 max_aspect_ratio: 2 min_area: 0.3 max_area: 1"
)
SIZES = {
    "random_crop_image { min_area: 0.3 }": lambda h, w: h <= HEIGHT and w <= WIDTH,
    f"ssd_random_crop {{ operations {{ {CROP_TEXT} }} }}": lambda h, w: h <= HEIGHT and w <= WIDTH,
    "random_pad_image { min_image_height: 50 min_image_width: 60 max_image_height: 50"
    " max_image_width: 60 pad_color: [9, 9, 9] }": lambda h, w: (h, w) == (50, 60),
    "random_absolute_pad_image { max_height_padding: 5 }": lambda h, w: 20 <= h <= 25 and w <= 41,
    "random_crop_pad_image { min_padded_size_ratio: [1.5, 2] max_padded_size_ratio: [1.5, 2] }":
        lambda h, w: (h, w) == (30, 80),
    f"ssd_random_crop_pad {{ operations {{ {CROP_TEXT} min_padded_size_ratio: [2, 2]"
    " max_padded_size_ratio: [2, 2] } }": lambda h, w: (h, w) == (40, 80),
    "ssd_random_crop_fixed_aspect_ratio { operations { min_object_covered: 0.5 min_area: 0.2"
    " max_area: 1 } aspect_ratio: 1.5 }": lambda h, w: abs(w - 1.5 * h) <= 1.5,
    "ssd_random_crop_pad_fixed_aspect_ratio { aspect_ratio: 2 }": lambda h, w: abs(w - 2 * h) <= 2,
    "random_self_concat_image { concat_vertical_probability: 1 }":
        lambda h, w: h == 2 * HEIGHT and w in (WIDTH, 2 * WIDTH),
    "random_square_crop_by_scale { scale_min: 0.9 scale_max: 0.9 num_scales: 1 max_border: 4 }":
        lambda h, w: h == w == 36,
    "random_downscale_to_target_pixels { min_target_pixels: 200 max_target_pixels: 201 }":
        lambda h, w: (h, w) == (10, 20),
    "random_resize_method { target_height: 12 target_width: 34 }": lambda h, w: (h, w) == (12, 34),
}  # fmt: skip


QUICK = "random_crop_pad_image"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            text, id=text.split()[0], marks=() if text.startswith(QUICK) else pytest.mark.slow
        )
        for text in SIZES
    ],
)
def test_crops_and_pads_have_their_sizes_and_keep_masks_in_boxes(text):
    tensors = preprocessor.preprocess(example(), [parse(step_class(), text)])
    with tf.Session() as session:
        for found in [session.run(tensors) for _ in range(3)]:
            assert SIZES[text](*found["image"].shape[1:3]), found["image"].shape
            assert len({len(values) for name, values in found.items() if name != "image"}) == 1
            check_masks(found)


@pytest.mark.slow
def test_patches_noise_and_jpeg_change_pixels_alone():
    texts = [
        "random_black_patches { max_black_patches: 1 probability: 1 size_to_image_ratio: 0.5 }",
        "random_patch_gaussian { min_patch_size: 4 max_patch_size: 5 min_gaussian_stddev: 0.5 }",
        "random_jpeg_quality { min_jpeg_quality: 5 max_jpeg_quality: 6 }",
    ]
    black, noisy, encoded = (apply(text)["image"][0] for text in texts)
    changed = (black != IMAGE).any(axis=2)
    assert np.abs(changed.sum() - 100) <= 2  # IMAGE has black pixels of its own.
    assert black[changed].max() == 0
    changed = (noisy != IMAGE).any(axis=2)
    assert 0 < changed.sum() <= 16
    assert (noisy.min(), noisy.max()) >= (0, 0)
    assert noisy.max() <= 255
    assert encoded.shape == IMAGE.shape
    assert np.abs(encoded - IMAGE).mean() > 1


@pytest.mark.parametrize(
    ("mode", "low", "high"),
    [
        pytest.param("DEFAULT", -1, 1, marks=pytest.mark.slow),
        pytest.param("EXPAND", 0, 1, marks=pytest.mark.slow),
        ("SHRINK_SYMMETRIC", -1, 0),
    ],
)
def test_boxes_jitter_about_their_centres(mode, low, high):
    boxes = apply(f"random_jitter_boxes {{ ratio: 0.2 jitter_mode: {mode} }}")["groundtruth_boxes"]
    centres = (BOXES[:, :2] + BOXES[:, 2:]) / 2
    halves = np.tile((BOXES[:, 2:] - BOXES[:, :2]) / 2, 2)
    moved = np.abs(boxes - np.tile(centres, 2)) / halves - 1
    assert moved.min() >= 0.2 * low - 1e-5
    assert moved.max() <= 0.2 * high + 1e-5
    assert np.abs(moved[0]).max() > 0
    if "SYMMETRIC" in mode:
        np.testing.assert_allclose(moved[:, :2], moved[:, 2:], atol=1e-5)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "a step of data_augmentation_options is empty"),
        ("autoaugment_image {}", "the step autoaugment_image of .* is not offered"),
        ("random_crop_image { clip_boxes: false }", "clip_boxes: false is not offered"),
        (
            "random_pad_image { min_image_height: 5 }",
            "give both of min_image_height and min_image_",
        ),
        ("random_crop_pad_image { min_padded_size_ratio: 1 }", "has 1 numbers; give two"),
        ("subtract_channel_mean { means: 1 }", "has 1 means for images of 3 channels"),
    ],
)
def test_steps_that_are_refused(text, words):
    with pytest.raises(ConfigError, match=words):
        apply(text)
