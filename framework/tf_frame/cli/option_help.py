"""The options of a run as text, grouped, from the same definitions as the flags."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from tf_frame.config.option import Option, options_of
from tf_frame.config.run_options import GROUPS
from tf_frame.config.values import to_text, type_text

_WIDTH = 100
_INDENT = 6


def group_text(title: str, options: Iterable[Option], defaults: Mapping[str, Any]) -> str:
    """One heading with its options below.

    Args:
      title: the heading.
      options: what to list.
      defaults: option name -> default that replaces the option's own.
    """
    lines = [f"{title}:"]
    for option in options:
        lines.append(f"  --{'[no]' if option.type is bool else ''}{option.name}{_values(option)}")
        default = to_text(defaults.get(option.name, option.default))
        text = f"{option.help} {_bounds(option)}[{default or 'empty'}]"
        lines += textwrap.wrap(
            text, _WIDTH, initial_indent=" " * _INDENT, subsequent_indent=" " * _INDENT
        )
    return "\n".join(lines)


def run_groups(defaults: Mapping[str, Any]) -> str:
    """The options of `RunOptions`, group by group."""
    return "\n\n".join(
        group_text((inspect.getdoc(group) or "").rstrip("."), options_of(group), defaults)
        for group in GROUPS
    )


def _values(option: Option) -> str:
    if option.choices:
        return " " + "|".join(to_text(choice) for choice in option.choices)
    if option.verbatim:
        return " TEXT"
    return "" if option.type is bool else f" {type_text(option.type).upper()}"


def _bounds(option: Option) -> str:
    return f"({option.range_text}) " if option.range_text else ""
