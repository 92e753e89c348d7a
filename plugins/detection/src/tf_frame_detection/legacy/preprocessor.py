"""Applies functions to the tensors of an example, one after the other, as the API's preprocessor.

    from tf_frame_detection.legacy import preprocessor  # was: object_detection.core

    def dim(image, factor): return image * factor
    tensor_dict = preprocessor.preprocess(tensor_dict, [(dim, {"factor": 0.5})])

`data_augmentation_options` of the trainers are such pairs. A function takes and returns tensors in
the order of its parameters; their names say which. A name in place of a function, such as
`("random_horizontal_flip", {})`, is that of a change of `tf_frame_detection.augmentation`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.text import short_repr
from tf_frame_detection.legacy.named_changes import changed
from tf_frame_detection.legacy.standard_fields import InputDataFields

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
    preprocess_options: Sequence[tuple[Callable[..., Any] | str, Mapping[str, Any]]],
    func_arg_map: Mapping[Callable[..., Any], Sequence[str | None]] | None = None,
) -> dict[str, Any]:
    """Applies the functions in the order given.

    Args:
      tensor_dict: name -> tensor; `image` `[1, height, width, channels]`. It is not changed.
      preprocess_options: functions, each with its other arguments by name. A function gets the
        image as `[height, width, channels]`. It returns a tensor or a tuple of them, without those
        that it did not get. A name is one of the option `data_augmentation` of inputs.
      func_arg_map: function -> names of the tensors that it takes, None for an argument to leave
        out; without it the names of the function's parameters tell (`image`, `boxes`, `labels`,
        `masks` ... or those of the tensors). One with a default is left out if there is no such
        tensor.

    Returns:
      A dictionary with the new tensors.

    Raises:
      ValueError: `image` has another rank, or `func_arg_map` lacks a function.
      ConfigError: a function needs a tensor that is missing, an option is no pair, or a function
        returned another number of tensors than it got.
    """
    tensors = dict(tensor_dict)
    name = InputDataFields.image
    if name in tensors:
        if tensors[name].shape.rank != 4:
            raise ValueError("images in tensor_dict should be rank 4")
        tensors[name] = tf.squeeze(tensors[name], axis=[0])
    for function, kwargs in map(_pair, preprocess_options):
        if isinstance(function, str):
            tensors.update(changed(tensors, function, kwargs))
            continue
        names = _arguments(function, kwargs, tensors, func_arg_map)
        given = {key: tensors[each] if each else None for key, each in names.items()}
        results = function(**given, **kwargs)
        tensors.update(_named(function, results, [each for each in names.values() if each]))
    if name in tensors:
        tensors[name] = tf.expand_dims(tensors[name], 0)
    return tensors


def _pair(option: Any) -> tuple[Callable[..., Any] | str, Mapping[str, Any]]:
    is_pair = isinstance(option, (tuple, list)) and len(option) == 2
    if not (is_pair and (callable(option[0]) or isinstance(option[0], str))):
        raise ConfigError(
            f"the augmentation {short_repr(option)} is not a pair of a function, or the name of "
            "one, and its arguments; give (function, {'name': value})"
        )
    return option[0], option[1]


def _arguments(
    function: Callable[..., Any],
    kwargs: Mapping[str, Any],
    tensors: Mapping[str, Any],
    func_arg_map: Mapping[Callable[..., Any], Sequence[str | None]] | None,
) -> dict[str, str | None]:
    """Parameters of a function that are tensors -> names of the tensors; None: to leave out."""
    parameters = inspect.signature(function).parameters
    if func_arg_map is not None:
        if function not in func_arg_map:
            raise ValueError(f"The function {_name(function)} does not exist in func_arg_map")
        found = dict(zip(parameters, func_arg_map[function], strict=False))
    else:
        found = {
            name: _TENSORS.get(name, name)
            for name, parameter in parameters.items()
            if name not in kwargs
            and (parameter.default is parameter.empty or _TENSORS.get(name, name) in tensors)
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        }
    for name in found.values():
        if name is not None and name not in tensors:
            raise ConfigError(
                f"The function {_name(function)} requires argument {name}; the example has "
                f"{', '.join(sorted(tensors))}"
            )
    return found


def _named(function: Callable[..., Any], results: Any, names: Sequence[str]) -> dict[str, Any]:
    results = results if isinstance(results, (tuple, list)) else (results,)
    if len(results) != len(names):
        raise ConfigError(
            f"the function {_name(function)} got {', '.join(names)} and returned {len(results)} "
            "values; it must return each of them, in this order"
        )
    return dict(zip(names, results, strict=True))


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", repr(function))
