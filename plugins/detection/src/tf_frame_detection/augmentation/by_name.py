"""Changes by name and order, as the options of inputs give them.

    random_horizontal_flip,random_image_scale:min_scale_ratio=0.7:max_scale_ratio=1.4

Names and their options are those of the object detection API's `data_augmentation_options`.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.text import brief, listed
from tf_frame_detection.augmentation import changes, crops
from tf_frame_detection.augmentation.labelled import Labelled
from tf_frame_vision.augmentation import draws

Change = Callable[..., Labelled]
# Options that are sizes, or factors on them.
_ABOVE_ZERO = re.compile(r":(\w+_ratio|\w+_size|new_\w+|scale_\w+)$")


def _public(*modules: Any) -> dict[str, Change]:
    """Functions that a module defines for others, by name."""
    return {
        name: function
        for module in modules
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and function.__module__ == module.__name__
        and not name.startswith("_")
    }


CHANGES: Mapping[str, Change] = _public(changes, crops)


def parse(words: Sequence[str], option: str) -> list[tuple[Change, dict[str, Any]]]:
    """Returns the changes that an option names, each with its own options.

    Args:
      words: `NAME` or `NAME:KEY=VALUE:...` each.
      option: the option, such as `--input.data_augmentation`.

    Raises:
      ConfigError: an unknown name or key, a value that is no number or out of range, or a least
        value above the greatest.
    """
    return [_parsed(word, option) for word in words]


def apply(
    labelled: Labelled, parsed: Sequence[tuple[Change, Mapping[str, Any]]], seed: Any
) -> Labelled:
    """Applies changes one after the other, each with a seed of its own.

    Args:
      parsed: as `parse` returns them.
    """
    if not parsed:
        return labelled
    for (change, options), own_seed in zip(parsed, draws.split(seed, len(parsed)), strict=True):
        labelled = change(labelled, own_seed, **options)
        labelled = labelled._replace(image=tf.ensure_shape(labelled.image, [None, None, 3]))
    return labelled


def _parsed(word: str, option: str) -> tuple[Change, dict[str, Any]]:
    name, *pairs = word.split(":")
    if name not in CHANGES:
        raise ConfigError(f"{option} names {brief(name)}; there are: {listed(sorted(CHANGES))}")
    change = CHANGES[name]
    defaults = {
        key: parameter.default
        for key, parameter in inspect.signature(change).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
    options = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if key not in defaults:
            names = ", ".join(defaults) or "none"
            raise ConfigError(f"{option}: {name} has no option {brief(key)}; there are: {names}")
        options[key] = _number(f"{option}: {name}:{key}", value, type(defaults[key]))
    _check_ranges(f"{option}: {name}", {**defaults, **options})
    return change, options


def _number(what: str, text: str, kind: type) -> Any:
    try:
        value = kind(text)
    except ValueError:
        a = "a whole number" if kind is int else "a number"
        raise ConfigError(f"{what} is {brief(text)}; it must be {a}") from None
    if not 0 <= value < math.inf:
        raise ConfigError(f"{what} is {text}; it must be 0 or more, and finite")
    if value == 0 and _ABOVE_ZERO.search(what):
        raise ConfigError(f"{what} is {text}; it must be above 0")
    return value


def _check_ranges(what: str, values: Mapping[str, Any]) -> None:
    for least in values:
        greatest = least.replace("min", "max")
        # Some have no greatest value, such as min_object_covered.
        if values[least] > values.get(greatest, math.inf):
            raise ConfigError(
                f"{what}: {least} {values[least]} is above {greatest} {values[greatest]}"
            )
