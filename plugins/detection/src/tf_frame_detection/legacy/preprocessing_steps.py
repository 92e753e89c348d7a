"""Steps of preprocessing from the API's pipeline files, as protocol buffers.

    data_augmentation_options { random_horizontal_flip { probability: 0.3 } }

A step is a message with the `oneof` `preprocessing_step` of protos/preprocessor.proto. All steps
but `autoaugment_image` are here. Images are 0 to 255; the objects of an example follow.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame_detection.augmentation import by_name, crops
from tf_frame_detection.augmentation.labelled import Labelled
from tf_frame_detection.legacy import step_changes as changes
from tf_frame_detection.legacy.objects import change_objects
from tf_frame_detection.legacy.standard_fields import InputDataFields
from tf_frame_vision import augmentation

_ONEOF = "preprocessing_step"
_CLASSES = InputDataFields.groundtruth_classes
_WHITE = 255.0


def apply_step(tensors: Mapping[str, Any], step: Any) -> dict[str, Any]:
    """Applies a step to the tensors of an example; returns the tensors that it replaces.

    Args:
      tensors: see `objects.change_objects`.
      step: the message.

    Raises:
      ConfigError: the message has no step or one that is not offered, or an option of the step is
        not offered.
    """
    name = step.WhichOneof(_ONEOF)
    if name is None:
        raise ConfigError("a step of data_augmentation_options is empty; name one, or remove it")
    config = getattr(step, name)
    if name in _OF_TENSORS:
        replaced: dict[str, Any] = _OF_TENSORS[name](tensors, config)
        return replaced
    if name in _SIMPLE:
        change = functools.partial(_SIMPLE[name], **_set_fields(config))
    elif name in _BUILT:
        change = _BUILT[name](config)
    else:
        raise ConfigError(
            f"the step {name} of data_augmentation_options is not offered; remove it, or give a "
            "pair of a function of your own and its arguments"
        )
    return change_objects(tensors, change, name)


def _set_fields(config: Any, *without: str) -> dict[str, Any]:
    """Returns the fields that a message has, by name.

    Raises:
      ConfigError: boxes that a crop does not cut are not offered.
    """
    fields = {
        field.name: value for field, value in config.ListFields() if field.name not in without
    }
    if not fields.pop("clip_boxes", True):
        raise ConfigError("clip_boxes: false is not offered: boxes are cut to the image")
    return fields


def _crop(operation: Any, **options: Any) -> dict[str, Any]:
    """Returns the options of `random_crop_image` in the message of a crop."""
    if not getattr(operation, "clip_boxes", True):
        raise ConfigError("clip_boxes: false is not offered: boxes are cut to the image")
    names = (
        *("min_object_covered", "min_aspect_ratio", "max_aspect_ratio", "min_area", "max_area"),
        *("overlap_thresh", "random_coef"),
    )
    found = {name: getattr(operation, name) for name in names if hasattr(operation, name)}
    return {**found, **options}


def _turn(change: Callable[..., Any], permutation: str) -> Callable[[Any], Any]:
    def build(config: Any) -> Any:
        # The API's first versions had no probability, and no keypoints of rotations.
        return functools.partial(
            changes.turn,
            change=change,
            probability=getattr(config, "probability", 0.5),
            permutation=tuple(getattr(config, permutation, ())),
        )

    return build


def _pad(config: Any) -> Any:
    sizes = []
    for limit in ("min", "max"):
        names = [f"{limit}_image_{side}" for side in ("height", "width")]
        present = [config.HasField(name) for name in names]
        if present[0] != present[1]:
            raise ConfigError(f"random_pad_image: give both of {' and '.join(names)}, or none")
        sizes.append([getattr(config, name) for name in names] if present[0] else None)
    return functools.partial(changes.pad, least=sizes[0], most=sizes[1], colour=_colour(config))


def _pad_by_pixels(config: Any) -> Any:
    most = config.max_height_padding or 1, config.max_width_padding or 1
    return functools.partial(changes.pad_by_pixels, most=most, colour=_colour(config))


def _colour(config: Any) -> list[float] | None:
    return list(config.pad_color) or None


def _ratios(config: Any) -> dict[str, Any]:
    found = {}
    for limit in ("min", "max"):
        ratio = tuple(getattr(config, f"{limit}_padded_size_ratio", ()))
        if ratio:
            if len(ratio) != 2:
                raise ConfigError(
                    f"{limit}_padded_size_ratio has {len(ratio)} numbers; give two, of height and "
                    "width"
                )
            found[f"{limit}_ratio"] = ratio
    return found


def _crop_and_pad(config: Any) -> Any:
    return functools.partial(
        changes.crop_and_pad, crop=_crop(config), colour=_colour(config), **_ratios(config)
    )


def _ssd_crop(config: Any, **options: Any) -> Any:
    operations = [
        functools.partial(crops.random_crop_image, **_crop(operation, **options))
        for operation in config.operations
    ]
    ratios = options.get("min_aspect_ratio", 0.5), options.get("max_aspect_ratio", 2.0)
    return functools.partial(changes.one_of, changes=operations or changes.ssd_crops(ratios))


def _ssd_crop_pad(config: Any) -> Any:
    if not config.operations:
        return crops.ssd_random_crop_pad
    operations = [
        functools.partial(
            changes.crop_and_pad,
            crop=_crop(operation),
            colour=[getattr(operation, f"pad_color_{channel}") for channel in "rgb"],
            **_ratios(operation),
        )
        for operation in config.operations
    ]
    return functools.partial(changes.one_of, changes=operations)


def _ssd_crop_to_ratio(config: Any) -> Any:
    # Without operations the API has a ratio of 1, whatever the message says.
    ratio = config.aspect_ratio if config.operations else 1.0
    crop = _ssd_crop(config, min_aspect_ratio=ratio, max_aspect_ratio=ratio)
    fit = functools.partial(crops.random_crop_to_aspect_ratio, aspect_ratio=ratio)
    return functools.partial(changes.in_turn, changes=[crop, fit])


def _ssd_crop_pad_to_ratio(config: Any) -> Any:
    ratio = config.aspect_ratio or 1.0
    pad = functools.partial(changes.pad_to_aspect_ratio, aspect_ratio=ratio, **_ratios(config))
    return functools.partial(changes.in_turn, changes=[_ssd_crop(config), pad])


def _resize(config: Any) -> Any:
    kinds = config.DESCRIPTOR.fields_by_name["method"].enum_type.values_by_number
    method = getattr(tf.image.ResizeMethod, kinds[config.method].name)
    size = [config.new_height, config.new_width]
    return functools.partial(changes.resize, size=size, methods=[method])


def _resize_by_any_method(config: Any) -> Any:
    size = [int(config.target_height), int(config.target_width)]
    return functools.partial(changes.resize, size=size, methods=range(4))


def _jitter(config: Any) -> Any:
    mode = config.DESCRIPTOR.fields_by_name.get("jitter_mode")
    name = mode.enum_type.values_by_number[config.jitter_mode].name if mode else "default"
    return functools.partial(changes.jitter_boxes, ratio=config.ratio, mode=name.lower())


def _of_image(function: Callable[..., Any]) -> Callable[[Mapping[str, Any], Any], dict[str, Any]]:
    """Returns a step of the image alone, from a function of the float32 image and the message."""

    def apply(tensors: Mapping[str, Any], config: Any) -> dict[str, Any]:
        image = tf.cast(tensors[InputDataFields.image], tf.float32)
        return {InputDataFields.image: function(image, config)}

    return apply


def _normalized(image: Any, config: Any) -> Any:
    old, new = config.original_maxval - config.original_minval, config.target_maxval
    factor = (new - config.target_minval) / old
    return (image - config.original_minval) * factor + config.target_minval


def _without_mean(image: Any, config: Any) -> Any:
    if len(config.means) != image.shape[-1]:
        raise ConfigError(
            f"subtract_channel_mean has {len(config.means)} means for images of "
            f"{image.shape[-1]} channels"
        )
    return image - tf.constant(list(config.means))


def _gamma(image: Any, config: Any) -> Any:
    changed = tf.image.adjust_gamma(image / _WHITE, config.gamma, config.gain) * _WHITE
    return tf.clip_by_value(changed, 0.0, _WHITE)


def _boxes_in_pixels(tensors: Mapping[str, Any], config: Any) -> dict[str, Any]:
    del config
    sides = tf.cast(tf.shape(tensors[InputDataFields.image])[:2], tf.float32)
    found = {}
    for field, repeats in (("groundtruth_boxes", 2), ("groundtruth_keypoints", 1)):
        if field in tensors:
            found[field] = tensors[field] * tf.tile(sides, [repeats])
    return found


def _softmax(tensors: Mapping[str, Any], config: Any) -> dict[str, Any]:
    scores = tensors[InputDataFields.multiclass_scores]
    return {InputDataFields.multiclass_scores: tf.nn.softmax(scores / config.temperature)}


def _remap(tensors: Mapping[str, Any], config: Any) -> dict[str, Any]:
    labels = tensors[_CLASSES]
    for original in config.original_labels:
        new = tf.fill(tf.shape(labels), tf.cast(config.new_label, labels.dtype))
        labels = tf.where(tf.equal(labels, original), new, labels)
    return {_CLASSES: labels}


def _drop_label(tensors: Mapping[str, Any], config: Any) -> dict[str, Any]:
    def drop(labelled: Labelled, seed: Any) -> Labelled:
        return changes.drop_label(
            labelled,
            seed,
            labels=tensors[_CLASSES],
            label=config.label,
            drop_probability=config.drop_probability,
        )

    return change_objects(tensors, drop, "drop_label_probabilistically")


# Steps with the fields of the functions.
_SIMPLE: dict[str, Any] = {
    **{
        name: by_name.CHANGES[name]
        for name in (
            *("random_pixel_value_scale", "random_image_scale", "random_rgb_to_gray"),
            *("random_adjust_brightness", "random_adjust_contrast", "random_adjust_hue"),
            *("random_adjust_saturation", "random_distort_color", "random_crop_image"),
            *("random_crop_to_aspect_ratio", "random_scale_crop_and_pad_to_square"),
        )
    },
    "random_black_patches": changes.black_patches,
    "random_jpeg_quality": changes.jpeg_quality,
    "random_downscale_to_target_pixels": changes.downscale,
    "random_patch_gaussian": changes.patch_gaussian,
    "random_self_concat_image": changes.self_concat,
    "random_square_crop_by_scale": changes.square_crop,
}
# Steps that are built from their message.
_BUILT: dict[str, Any] = {
    "random_horizontal_flip": _turn(augmentation.flip_left_right, "keypoint_flip_permutation"),
    "random_vertical_flip": _turn(augmentation.flip_up_down, "keypoint_flip_permutation"),
    "random_rotation90": _turn(augmentation.rotate_90, "keypoint_rot_permutation"),
    "random_jitter_boxes": _jitter,
    "random_pad_image": _pad,
    "random_absolute_pad_image": _pad_by_pixels,
    "random_crop_pad_image": _crop_and_pad,
    "random_resize_method": _resize_by_any_method,
    "resize_image": _resize,
    "ssd_random_crop": _ssd_crop,
    "ssd_random_crop_pad": _ssd_crop_pad,
    "ssd_random_crop_fixed_aspect_ratio": _ssd_crop_to_ratio,
    "ssd_random_crop_pad_fixed_aspect_ratio": _ssd_crop_pad_to_ratio,
}
# Steps of certain tensors.
_OF_TENSORS: dict[str, Any] = {
    "normalize_image": _of_image(_normalized),
    "subtract_channel_mean": _of_image(_without_mean),
    "adjust_gamma": _of_image(_gamma),
    "rgb_to_gray": _of_image(lambda image, config: tf.image.rgb_to_grayscale(image)),
    "scale_boxes_to_pixel_coordinates": _boxes_in_pixels,
    "convert_class_logits_to_softmax": _softmax,
    "remap_labels": _remap,
    "drop_label_probabilistically": _drop_label,
}
