"""Merges the values of several sources into one dataclass; later sources win."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from tf_frame.config import values
from tf_frame.config.option import Option, options_of
from tf_frame.errors import ConfigError

T = TypeVar("T")

# Setting one option of a pair in a source unsets the value of the other from earlier sources.
EXCLUSIVE = {
    "save_checkpoint_secs": "save_checkpoint_steps",
    "save_checkpoint_steps": "save_checkpoint_secs",
    "save_summaries_secs": "save_summaries_steps",
    "save_summaries_steps": "save_summaries_secs",
}


def check_names(raw: Mapping[str, Any], options: Iterable[Option], source: str) -> None:
    """Raises a `ConfigError` with the nearest name for a name that no option has."""
    known = [option.name for option in options]
    for name in raw:
        if name in ("transform", "hook"):
            raise ConfigError(f"{source}: unknown option {name}; write a list, {name}s: [...]")
        if name not in known:
            near = values.nearest(name, known)
            hint = f"did you mean {near}?" if near else "tf-frame run --help_all lists them"
            raise ConfigError(f"{source}: unknown option {name}; {hint}")


def resolve(params: type[T], sources: Iterable[Mapping[str, Any]], prefix: str = "") -> T:
    """Builds a dataclass from its defaults and the sources.

    Args:
      params: the dataclass.
      sources: dotted option name -> raw value, each source overriding those before
        it; names of other options are ignored.
      prefix: prefix of the option names in `sources`, without the dot.

    Raises:
      ConfigError: a value of the wrong type or out of range.
    """
    merged: dict[str, Any] = {}
    options = {option.name: option for option in options_of(params, prefix)}
    for source in sources:
        for name, rival in EXCLUSIVE.items():
            if source.get(name) is not None and rival in options and rival not in source:
                merged[rival] = None
        merged.update({k: options[k].parse(v) for k, v in source.items() if k in options})
    start = len(prefix) + 1 if prefix else 0
    return params(**{name[start:]: value for name, value in merged.items()})
