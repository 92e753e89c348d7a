"""Applies functions to the tensors of an example, in turn, like the API's preprocessor.

    from tf_frame_detection.legacy import preprocessor  # was: object_detection.core

    def dim(image, factor): return image * factor
    tensor_dict = preprocessor.preprocess(tensor_dict, [(dim, {"factor": 0.5})])

`data_augmentation_options` of the trainers are such pairs. The names of a function's parameters say
which tensors it takes and returns, in this order. A pair like `("random_horizontal_flip", {})`
names a change of `tf_frame_detection.augmentation`, as the option `data_augmentation` of inputs. A
protocol buffer `PreprocessingStep` of a pipeline file is an option, too: see `preprocessing_steps`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.text import listed
from tf_frame_detection.augmentation import by_name as named_changes
from tf_frame_detection.legacy.objects import change_objects
from tf_frame_detection.legacy.preprocessing_steps import apply_step
from tf_frame_detection.legacy.standard_fields import InputDataFields
from tf_frame_legacy.input_queues import check_augmentation

# Parameters of the API's own functions (core/preprocessor.py) that are not named like the tensors.
_TENSORS = {
    "boxes": InputDataFields.groundtruth_boxes,
    "rboxes": InputDataFields.groundtruth_rboxes,
    "labels": InputDataFields.groundtruth_classes,
    "classes": InputDataFields.groundtruth_classes,
    "label_weights": InputDataFields.groundtruth_weights,
    "weights": InputDataFields.groundtruth_weights,
    "masks": InputDataFields.groundtruth_instance_masks,
    "keypoints": InputDataFields.groundtruth_keypoints,
}


def preprocess(
    tensor_dict: Mapping[str, Any],
    preprocess_options: Sequence[Any],
    func_arg_map: Mapping[Callable[..., Any], Sequence[str | None]] | None = None,
) -> dict[str, Any]:
    """Applies the functions in this order; returns the dictionary with the new tensors.

    Args:
      tensor_dict: name -> tensor; `image` `[1, height, width, channels]`. It is not changed.
      preprocess_options: functions, each with its other arguments by name. A function gets the
        image as `[height, width, channels]`, and returns a tensor, or a tuple of them, for each
        tensor that it got. A string names a change of the option `data_augmentation` of inputs.
        A protocol buffer, `PreprocessingStep`, may replace a pair.
      func_arg_map: function -> names of the tensors that it takes, None for an argument to omit.
        Without the map the parameters of a function have the names of tensors, or `image`,
        `boxes`, `labels`, `masks` ...; a parameter with a default is optional.

    Raises:
      ValueError: `image` has another rank, or `func_arg_map` lacks a function.
      ConfigError: a function needs a tensor that is missing, an option is no pair, or a function
        returned another number of tensors than it got.
    """
    tensors = dict(tensor_dict)
    image = InputDataFields.image
    if image in tensors:
        if tensors[image].shape.rank != 4:
            raise ValueError("images in tensor_dict should be rank 4")
        tensors[image] = tf.squeeze(tensors[image], axis=[0])
    for option in preprocess_options:
        if hasattr(option, "WhichOneof"):
            tensors.update(apply_step(tensors, option))
            continue
        function, kwargs = check_augmentation(option, names=True)
        if isinstance(function, str):
            tensors.update(_apply_named_change(tensors, function, kwargs))
            continue
        names = _match_parameters(function, kwargs, tensors, func_arg_map)
        arguments = {key: tensors[name] if name else None for key, name in names.items()}
        results = function(**arguments, **kwargs)
        tensors.update(_name_results(function, results, [name for name in names.values() if name]))
    if image in tensors:
        tensors[image] = tf.expand_dims(tensors[image], 0)
    return tensors


def _match_parameters(
    function: Callable[..., Any],
    kwargs: Mapping[str, Any],
    tensors: Mapping[str, Any],
    func_arg_map: Mapping[Callable[..., Any], Sequence[str | None]] | None,
) -> dict[str, str | None]:
    """Returns parameter -> name of its tensor, or None for a parameter to omit."""
    parameters = inspect.signature(function).parameters
    if func_arg_map is not None:
        if function not in func_arg_map:
            raise ValueError(f"The function {_name(function)} does not exist in func_arg_map")
        names = dict(zip(parameters, func_arg_map[function], strict=False))
    else:
        names = {
            name: _TENSORS.get(name, name)
            for name, parameter in parameters.items()
            if name not in kwargs
            and (parameter.default is parameter.empty or _TENSORS.get(name, name) in tensors)
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        }
    for name in names.values():
        if name is not None and name not in tensors:
            raise ConfigError(
                f"The function {_name(function)} requires argument {name}; the example has "
                f"{listed(sorted(tensors))}"
            )
    return names


def _name_results(
    function: Callable[..., Any], results: Any, names: Sequence[str]
) -> dict[str, Any]:
    results = results if isinstance(results, (tuple, list)) else (results,)
    if len(results) != len(names):
        raise ConfigError(
            f"the function {_name(function)} got {listed(names)} and returned {len(results)} "
            "values; it must return each of them, in this order"
        )
    return dict(zip(names, results, strict=True))


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", repr(function))


def _apply_named_change(
    tensors: Mapping[str, Any], name: str, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Applies a change of `tf_frame_detection.augmentation`; returns the tensors that it replaces.

    Args:
      name: name of the change.
      options: options of the change.

    Raises:
      ConfigError: an unknown name or option, a value that is no number, or an example with
        tensors that cannot move with the image.
    """
    words = [name, *(f"{key}={value}" for key, value in options.items())]
    changes = named_changes.parse([":".join(words)], "data_augmentation_options")
    return change_objects(
        tensors, lambda before, seed: named_changes.apply(before, changes, seed), name
    )
