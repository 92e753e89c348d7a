"""Options of runs as `config.yaml` has them, and the options that differ between runs."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

# Sections that say how a run came about: what differs in them is no option.
ORIGIN = ("versions", "lock")
_NONE = " null"


def differing_options(
    blocks_of_runs: Iterable[Mapping[str, str]], *, origin: bool = False
) -> list[dict[str, str]]:
    """Returns option name -> value of each run, for the options that not all runs share.

    Args:
      blocks_of_runs: the `blocks` of each `RunRecord`.
      origin: versions and lock of the plugins instead of options.
    """
    runs = list(blocks_of_runs)
    known = [blocks for blocks in runs if blocks]  # A damaged run differs in nothing.
    names = dict.fromkeys(name for blocks in known for name in blocks if (name in ORIGIN) == origin)
    changed = [name for name in names if len({blocks.get(name, _NONE) for blocks in known}) > 1]
    options = [
        {key: value for name in changed for key, value in _flat(name, blocks.get(name, _NONE))}
        if blocks
        else {}
        for blocks in runs
    ]
    keys = dict.fromkeys(key for each in options for key in each)
    values = {key: {each.get(key) for each in options if each} for key in keys}
    return [{key: each.get(key, "") for key in keys if len(values[key]) > 1} for each in options]


def find_option(blocks: Mapping[str, str], name: str) -> str:
    """Returns the value of an option of a run; empty without it."""
    section = name.partition(".")[0]
    return dict(_flat(section, blocks[section])).get(name, "") if section in blocks else ""


def all_options(blocks: Mapping[str, str]) -> dict[str, str]:
    """Returns option name -> value of a run."""
    names = (name for name in blocks if name not in ORIGIN)
    return dict(pair for name in names for pair in _flat(name, blocks[name]))


@functools.lru_cache(maxsize=10_000)
def _flat(name: str, text: str) -> tuple[tuple[str, str], ...]:
    """Returns the options of a section, or the single option."""
    try:
        value = yaml.safe_load(f"{name}:{text}")
        return tuple(_leaves(name, value[name]))
    except (yaml.YAMLError, TypeError, KeyError):
        return ((name, text),)  # Somebody has edited the file.


def _leaves(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(value, Mapping):
        yield name, _text(value)
        return
    for key, inner in value.items():
        # The name of the plugin of a section stands for the section.
        yield from _leaves(name if key == "name" else f"{name}.{key}", inner)


def _text(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ",".join(_text(each) for each in value)
    if isinstance(value, Mapping):
        return " ".join(f"{key}={_text(inner)}" for key, inner in value.items())
    return f"{value:.12g}" if isinstance(value, float) else str(value)
