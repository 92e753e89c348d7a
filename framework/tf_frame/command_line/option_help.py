"""Help texts of options, made from the definitions of the flags."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tf_frame.config.option import Option, declared_options
from tf_frame.config.values import to_text, type_text
from tf_frame.text_width import terminal_width, wrapped

_INDENT = " " * 6


def group_text(title: str, options: Iterable[Option], defaults: Mapping[str, Any]) -> str:
    """Returns a heading and the help of some options.

    Args:
      title: the heading.
      options: the options, in order.
      defaults: option name -> default that replaces the option's own.
    """
    width = terminal_width()
    lines = wrapped(f"{title}:", width)
    for option in options:
        words = f"--{'[no]' if option.type is bool else ''}{option.name}{_values(option)}"
        lines += wrapped(words, width, first="  ", rest=_INDENT)
        default = to_text(defaults.get(option.name, option.default))
        bounds = f"({option.range_text}) " if option.range_text else ""
        text = f"{option.help} {bounds}[{default or 'empty'}]"
        lines += wrapped(text, width, first=_INDENT, rest=_INDENT)
    return "\n".join(lines)


def everyday_options(plugin: Any, options: Sequence[Option]) -> Sequence[Option]:
    """Returns the everyday options of a plugin's class in its order; all if it names none."""
    names = getattr(plugin, "everyday_options", ())
    by_name = {option.name.rpartition(".")[2]: option for option in options}
    return [by_name[name] for name in names if name in by_name] or options


def run_options_text(defaults: Mapping[str, Any], *, everything: bool) -> str:
    """Returns the help of all run options by group, or of the everyday options only."""
    # Imported here, because other commands do not need them.
    from tf_frame.config.option_groups import EVERYDAY
    from tf_frame.config.run_options import GROUPS, run_options

    if everything:
        titles = {group: (inspect.getdoc(group) or "").rstrip(".") for group in GROUPS}
        return "\n\n".join(group_text(titles[g], declared_options(g), defaults) for g in GROUPS)
    options = {option.name: option for option in run_options()}
    title = f"Everyday options; tf-frame run --help_all shows all {len(options)}"
    return group_text(title, [options[name] for name in EVERYDAY], defaults)


def _values(option: Option) -> str:
    if option.choices:
        return " " + "|".join(to_text(choice) for choice in option.choices)
    if option.verbatim:
        return " TEXT"
    return "" if option.type is bool else f" {type_text(option.type).upper()}"
