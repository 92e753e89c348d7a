"""Steps of ASTER's configurations, as messages built at run time."""

import functools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from built_messages import message_class, parse
from tf_frame.errors import ConfigError
from tf_frame_recognition.legacy import trainer
from tf_frame_recognition.legacy.preprocessing_steps import apply_step

pytestmark = pytest.mark.usefixtures("graph")

SIZE = [("target_height", "int32", "512"), ("target_width", "int32", "512")]
RANGE = [("min_delta", "float", "0.8"), ("max_delta", "float", "1.25")]
FIELDS = {
    "resize_image_random_method": SIZE,
    "resize_image": [*SIZE, ("method", "Method", "BILINEAR")],
    "normalize_image": [
        *[(f"original_{limit}", "float", "optional") for limit in ("minval", "maxval")],
        *[("target_minval", "float", "0"), ("target_maxval", "float", "1")],
    ],
    "random_pixel_value_scale": [("minval", "float", "0.9"), ("maxval", "float", "1.1")],
    "random_rgb_to_gray": [("probability", "float", "0.1")],
    "random_adjust_brightness": [("max_delta", "float", "0.2")],
    "random_adjust_contrast": RANGE,
    "random_adjust_hue": [("max_delta", "float", "0.02")],
    "random_adjust_saturation": RANGE,
    "random_distort_color": [("color_ordering", "int32", "optional")],
    "image_to_float": [],
    "subtract_channel_mean": [("means", "float", "repeated")],
    "rgb_to_gray": [("three_channels", "bool", "false")],
    "string_filtering": [
        *[("lower_case", "bool", "false"), ("include_charset", "Characters", "optional")]
    ],
    "string_reverse": [],
}
IMAGE = np.arange(2 * 4 * 3).reshape(2, 4, 3) * 10.0


@functools.cache
def step_class():
    source = [("text_file", "string", "optional"), ("text_string", "string", "optional")]
    messages = {"Characters": [*source, ("built_in_set", "Set", "LOWERCASE")]}
    messages.update({name.title(): fields for name, fields in FIELDS.items()})
    messages["Step"] = [(name, name.title(), "optional") for name in FIELDS]
    enums = {
        "Method": ("_0", "AREA", "BICUBIC", "BILINEAR", "NEAREST_NEIGHBOR"),
        "Set": ("LOWERCASE", "ALLCASES", "ALLCASES_SYMBOLS"),
    }
    oneofs = {"Step": "preprocessing_step", "Characters": "source_oneof"}
    return message_class(messages, enums, oneofs)


def apply(*texts, text="aB-c\u00e9 D]^1"):
    tensors = {"image": tf.constant(IMAGE, tf.float32), "groundtruth_text": tf.constant(text)}
    for step in texts:
        tensors = apply_step(tensors, parse(step_class(), step))
    with tf.Session() as session:
        found = session.run(tensors)
    return found["image"], found["groundtruth_text"].decode()


def test_steps_without_chance():
    image, _ = apply(
        "image_to_float {}",
        "resize_image { target_height: 1 target_width: 2 method: AREA }",
        "normalize_image { original_minval: 0 original_maxval: 230 }",
        "subtract_channel_mean { means: [0, 0, 1] }",
    )
    expected = IMAGE.reshape(1, 2, 2, 2, 3).mean(axis=(1, 3)) / 230 - [0, 0, 1]
    np.testing.assert_allclose(image, expected, rtol=1e-5)
    weights = [0.2989, 0.587, 0.114]
    grey, _ = apply("rgb_to_gray {}")
    np.testing.assert_allclose(grey[..., 0], IMAGE @ weights, rtol=1e-3)
    always, _ = apply("random_rgb_to_gray { probability: 1 }")
    assert grey.shape == (2, 4, 1)
    np.testing.assert_allclose(always, np.tile(grey, 3), rtol=1e-6)
    three, _ = apply("rgb_to_gray { three_channels: true }")
    np.testing.assert_allclose(three, always, rtol=1e-6)


def test_random_steps_stay_between_0_and_1():
    steps = [
        "random_pixel_value_scale {}",
        "random_adjust_brightness {}",
        "random_adjust_contrast {}",
        "random_adjust_hue {}",
        "random_adjust_saturation {}",
        "random_distort_color { color_ordering: 1 }",
    ]
    unit = "normalize_image { original_minval: 0 original_maxval: 230 }"
    image, _ = apply(
        unit, *steps, "resize_image_random_method { target_height: 6 target_width: 8 }"
    )
    assert image.shape == (6, 8, 3)
    plain, _ = apply(unit, "random_pixel_value_scale {}")
    assert 0.89 * IMAGE.max() / 230 <= plain.max() <= 1.0
    assert np.abs(plain - IMAGE / 230).max() <= 0.1
    assert np.abs(plain - IMAGE / 230).max() > 0


def test_characters_that_are_not_of_the_set_are_left_out():
    def filtered(options, text="aB-c\u00e9 D]^1"):
        return apply(f"string_filtering {{ {options} }}", text=text)[1]

    assert filtered("include_charset { built_in_set: LOWERCASE }") == "ac1"
    assert filtered("lower_case: true include_charset { built_in_set: LOWERCASE }") == "abcd1"
    assert filtered("include_charset { built_in_set: ALLCASES }") == "aBcD1"
    assert filtered("include_charset { built_in_set: ALLCASES_SYMBOLS }") == "aBcD]^1".replace(
        "aB", "aB-"
    )
    assert filtered("include_charset { text_string: 'a ] -' }") == "a-]"


def test_the_queue_of_the_trainer_takes_steps():
    step = parse(step_class(), "resize_image { target_height: 3 target_width: 5 }")
    tensors = {"image": tf.zeros([2, 4, 3], tf.uint8), "groundtruth_text": tf.constant("a")}
    queue = trainer.create_input_queue(2, lambda: tensors, 4, 1, 2, [step])
    assert queue.dequeue()[0]["image"].shape == [3, 5, 3]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (
            "string_reverse {}",
            "the step string_reverse .* is not offered; there are image_to_float",
        ),
        ("string_filtering {}", "has no include_charset"),
        ("random_distort_color { color_ordering: 2 }", "color_ordering is 2; it must be 0 or 1"),
        ("subtract_channel_mean { means: 1 }", "has 1 means for images of 3 channels"),
    ],
)
def test_steps_that_are_refused(step, words):
    with pytest.raises(ConfigError, match=words):
        apply(step)
