"""Conversion of option values from text or YAML to Python, and back to text.

Flags and YAML keys use the same functions, so that they accept and refuse the same values.

Supported types T: `bool`, `int`, `float` and `str`; also `T | None` and
`tuple[T, ...]`. The text of a tuple separates its items by commas; the empty text
is the empty tuple; `none` is None where None is allowed.
"""

from __future__ import annotations

import difflib
import math
import types
import typing
from collections.abc import Iterable, Sequence
from typing import Any

from tf_frame.text import brief, listed

_TYPES = "bool, int, float, str, T | None and tuple[T, ...]"
_TRUE = {"true", "t", "1", "yes", "on"}
# Names of options in other trainers -> those here.
_OF_OTHER_TRAINERS = {
    "lr": "learning_rate",
    "base_learning_rate": "learning_rate",
    "batch_size": "train_batch_size",
    "epochs": "max_steps",
    "num_epochs": "max_steps",
    "steps": "max_steps",
    "num_steps": "max_steps",
    "train_steps": "max_steps",
    "max_number_of_steps": "max_steps",
    "training_number_of_steps": "max_steps",
    "seed": "random_seed",
    "checkpoint_every_n_steps": "save_checkpoint_steps",
    "save_steps": "save_checkpoint_steps",
    "output_dir": "model_dir",
    "train_dir": "model_dir",
    "train_logdir": "model_dir",
    "logdir": "model_dir",
    "checkpoint_path": "warm_start_from",
    "fine_tune_checkpoint": "warm_start_from",
    "tf_initial_checkpoint": "warm_start_from",
    "num_gpus": "num_clones",
}
_FALSE = {"false", "f", "0", "no", "off"}


def parse(raw: Any, type_: Any) -> Any:
    """Converts the text of a flag, or a value from YAML, to a type.

    Raises:
      ValueError: `raw` is no value of this type, or the type is not supported.
    """
    check_type(type_)
    present = without_none(type_)
    if present is not type_ and str(raw).lower() in ("none", "null"):
        return None
    if is_tuple(present):
        return _parse_tuple(raw, typing.get_args(present)[0])
    return _SCALARS[present](raw)


def check_type(type_: Any) -> None:
    """Raises a ValueError for a type that is not supported."""
    present = without_none(type_)
    if not (_is_scalar(present) or is_tuple(present)):
        name = str(type_) if typing.get_args(type_) else getattr(type_, "__name__", str(type_))
        raise ValueError(f"there are no options of type {name}; there are {_TYPES}")


def _is_scalar(type_: Any) -> bool:
    return any(type_ is scalar for scalar in _SCALARS)


def is_tuple(type_: Any) -> bool:
    """Returns whether a type is `tuple[T, ...]` with a supported T."""
    args = typing.get_args(type_)
    return typing.get_origin(type_) is tuple and args[1:] == (...,) and _is_scalar(args[0])


def without_none(type_: Any) -> Any:
    """Returns `T` for `T | None`, and any other type unchanged."""
    if typing.get_origin(type_) not in (typing.Union, types.UnionType):
        return type_
    present = [arg for arg in typing.get_args(type_) if arg is not type(None)]
    return present[0] if len(present) == 1 else type_


def _parse_tuple(raw: Any, item_type: Any) -> tuple[Any, ...]:
    if isinstance(raw, str):
        raw = [part.strip() for part in raw.split(",")] if raw.strip() else []
    elif not isinstance(raw, (list, tuple)):
        raw = [raw]
    return tuple(_SCALARS[item_type](item) for item in raw)


def _parse_bool(raw: Any) -> bool:
    text = str(raw).lower()
    if isinstance(raw, (bool, str)) and text in _TRUE | _FALSE:
        return text in _TRUE
    raise ValueError(f"{brief(raw)} is not true or false")


def _parse_int(raw: Any) -> int:
    try:
        if isinstance(raw, bool) or (isinstance(raw, float) and not raw.is_integer()):
            raise ValueError
        value = int(raw)
    except (TypeError, ValueError):
        raise ValueError(f"{brief(raw)} is not a whole number") from None
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{brief(raw)} is beyond 64 bits; allowed: {-(2**63)} to {2**63 - 1}")
    return value


def _parse_float(raw: Any) -> float:
    try:
        if isinstance(raw, bool):
            raise ValueError
        value = float(raw)
    except (TypeError, ValueError):
        raise ValueError(f"{brief(raw)} is not a number") from None
    except OverflowError:
        raise ValueError(f"{brief(raw)} is too large a number") from None
    if not math.isfinite(value):
        raise ValueError(f"{brief(raw)} is not a finite number")
    return value


def _parse_str(raw: Any) -> str:
    if isinstance(raw, (list, dict)) or raw is None:
        raise ValueError(f"{brief(raw)} is not a text")
    text = str(raw)
    if "\0" in text:
        raise ValueError(f"{brief(text)} has a zero character, which no path and no name can have")
    return text


_SCALARS: dict[Any, typing.Callable[[Any], Any]] = {
    bool: _parse_bool,
    int: _parse_int,
    float: _parse_float,
    str: _parse_str,
}


def to_text(value: Any) -> str:
    """Returns a value as the text of a flag."""
    if isinstance(value, (tuple, list)):
        return ",".join(to_text(item) for item in value)
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def type_text(type_: Any) -> str:
    """Returns the name of a type for `--help`: `int`, `float`, `int,...`."""
    present = without_none(type_)
    if is_tuple(present):
        return f"{type_text(typing.get_args(present)[0])},..."
    return str({str: "text"}.get(present, present.__name__))


def nearest(word: str, words: Iterable[str]) -> str | None:
    """Returns the most similar of some words, or None if none is similar."""
    close = difflib.get_close_matches(word, list(words), n=1, cutoff=0.6)
    return close[0] if close else None


def nearest_option(name: str, options: Sequence[str]) -> str | None:
    """Returns the option that another trainer calls `name`, or else the most similar; or None."""
    known = _OF_OTHER_TRAINERS.get(name, "")
    return known if known in options else nearest(name, options)


def not_a_choice(value: Any, choices: Iterable[Any]) -> str:
    """Makes the message for a value that is not among `choices`, with the nearest choice."""
    texts = [to_text(choice) for choice in choices]
    nearest_text = nearest(str(value), texts)
    hint = f"did you mean {brief(nearest_text)}? " if nearest_text else ""
    return f"{brief(value)} is not known; {hint}allowed: {listed(texts)}"
