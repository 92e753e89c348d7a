"""Steps of preprocessing from ASTER's configurations, as protocol buffers.

    data_augmentation_options { resize_image { target_height: 64 target_width: 256 } }

A step is a message with the `oneof` `preprocessing_step` of bgshih/aster,
protos/preprocessor.proto. As with ASTER, changes of colours and `random_pixel_value_scale` are for
images from 0 to 1, so `normalize_image` comes before them.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame_recognition.legacy.standard_fields import InputDataFields

_CHARACTER_SETS = (
    string.digits + string.ascii_lowercase,
    string.digits + string.ascii_letters,
    string.digits + string.ascii_letters + string.punctuation,
)
_DISTORTIONS: tuple[Callable[[Any], Any], ...] = (
    lambda image: tf.image.random_saturation(image, 0.5, 1.5),
    lambda image: tf.image.random_hue(image, 0.2),
    lambda image: tf.image.random_contrast(image, 0.5, 1.5),
)
# The order of saturation, hue and contrast for each `color_ordering`.
_ORDERS = ((0, 1, 2), (2, 0, 1))


def apply_step(tensors: Mapping[str, Any], step: Any) -> dict[str, Any]:
    """Applies a step; returns all tensors of the example.

    Args:
      tensors: `image` `[height, width, channels]` float32, and `groundtruth_text`, a scalar.
      step: the message.

    Raises:
      ConfigError: the message has no step or an unknown one, or an option is out of range.
    """
    name = step.WhichOneof("preprocessing_step")
    field = InputDataFields.groundtruth_text if name in _OF_TEXT else InputDataFields.image
    function = {**_OF_IMAGE, **_OF_TEXT}.get(name)
    if function is None:
        raise ConfigError(
            f"the step {name} of data_augmentation_options is not offered; there are "
            f"{', '.join(sorted({**_OF_IMAGE, **_OF_TEXT}))}"
        )
    return {**tensors, field: function(tensors[field], getattr(step, name))}


def _resize(image: Any, config: Any) -> Any:
    kinds = config.DESCRIPTOR.fields_by_name["method"].enum_type.values_by_number
    method = getattr(tf.image.ResizeMethod, kinds[config.method].name)
    return tf.image.resize_images(image, [config.target_height, config.target_width], method)


def _resize_by_any_method(image: Any, config: Any) -> Any:
    size = [config.target_height, config.target_width]
    makers = [
        lambda method=method: tf.cast(tf.image.resize_images(image, size, method), tf.float32)
        for method in range(4)
    ]
    return tf.switch_case(tf.random_uniform([], maxval=4, dtype=tf.int32), makers)


def _normalize(image: Any, config: Any) -> Any:
    factor = (config.target_maxval - config.target_minval) / (
        config.original_maxval - config.original_minval
    )
    return (image - config.original_minval) * factor + config.target_minval


def _scale_values(image: Any, config: Any) -> Any:
    factors = tf.random_uniform(tf.shape(image), config.minval, config.maxval)
    return tf.clip_by_value(image * factors, 0.0, 1.0)


def _subtract_mean(image: Any, config: Any) -> Any:
    if len(config.means) != image.shape[-1]:
        raise ConfigError(
            f"subtract_channel_mean has {len(config.means)} means for images of "
            f"{image.shape[-1]} channels"
        )
    return image - tf.constant(list(config.means))


def _grey(image: Any, config: Any) -> Any:
    grey = tf.image.rgb_to_grayscale(image)
    return tf.image.grayscale_to_rgb(grey) if config.three_channels else grey


def _grey_at_times(image: Any, config: Any) -> Any:
    grey = tf.image.grayscale_to_rgb(tf.image.rgb_to_grayscale(image))
    return tf.where(tf.random_uniform([]) > config.probability, image, grey)


def _distort(image: Any, config: Any) -> Any:
    if config.color_ordering not in (0, 1):
        raise ConfigError(f"color_ordering is {config.color_ordering}; it must be 0 or 1")
    image = tf.image.random_brightness(image, 32.0 / 255.0)
    for index in _ORDERS[config.color_ordering]:
        image = _DISTORTIONS[index](image)
    return tf.clip_by_value(image, 0.0, 1.0)


def _recolour(function: Callable[..., Any], *fields: str) -> Callable[[Any, Any], Any]:
    def apply(image: Any, config: Any) -> Any:
        changed = function(image, *(getattr(config, field) for field in fields))
        return tf.clip_by_value(changed, 0.0, 1.0)

    return apply


def _filter_text(text: Any, config: Any) -> Any:
    """Leaves out characters that are not of a set; ASTER did so in C++."""
    characters = re.escape("".join(_character_set(config.include_charset)))
    text = tf.strings.lower(text) if config.lower_case else text
    return tf.strings.regex_replace(text, f"[^{characters}]", "") if characters else text


def _character_set(config: Any) -> list[str]:
    source = config.WhichOneof("source_oneof")
    if source == "text_file":
        with tf.io.gfile.GFile(config.text_file) as file:
            return list(file.read().split("\n"))
    if source == "text_string":
        return list(config.text_string.split())
    if source == "built_in_set":
        return list(_CHARACTER_SETS[config.built_in_set])
    raise ConfigError("string_filtering has no include_charset; name a set of characters")


_OF_TEXT: Mapping[str, Any] = {"string_filtering": _filter_text}
_OF_IMAGE: Mapping[str, Any] = {
    "resize_image_random_method": _resize_by_any_method,
    "resize_image": _resize,
    "normalize_image": _normalize,
    "random_pixel_value_scale": _scale_values,
    "random_rgb_to_gray": _grey_at_times,
    "random_adjust_brightness": _recolour(tf.image.random_brightness, "max_delta"),
    "random_adjust_contrast": _recolour(tf.image.random_contrast, "min_delta", "max_delta"),
    "random_adjust_hue": _recolour(tf.image.random_hue, "max_delta"),
    "random_adjust_saturation": _recolour(tf.image.random_saturation, "min_delta", "max_delta"),
    "random_distort_color": _distort,
    "image_to_float": lambda image, config: tf.cast(image, tf.float32),
    "subtract_channel_mean": _subtract_mean,
    "rgb_to_gray": _grey,
}
