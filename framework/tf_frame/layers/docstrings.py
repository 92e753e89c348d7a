"""Completes the docstring of a layer with the arguments that several layers share.

A shared argument is described once. `help(layers.conv2d)` and the pages of the public names still
describe all arguments of each layer.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable

_ENTRY = re.compile(r"^  (?=\w)", re.MULTILINE)


def describe_arguments(
    doc: str | None, names: Iterable[str], shared: str | None = None
) -> str | None:
    """Returns a docstring with an `Args:` section of the given arguments, in their order.

    Args:
      doc: the docstring, with an `Args:` section; None: Python runs without docstrings, and the
        result is None.
      names: the arguments; entries of other arguments are left out.
      shared: docstring with `Attributes:`, for the arguments that `doc` does not describe.
    """
    if doc is None:
        return None
    before, own, after = _split(doc, "Args")
    entries = {**_split(shared, "Attributes")[1], **own}
    lines = [entries[name] for name in names if name in entries]
    return "\n".join([before.rstrip(), "", "Args:", *lines, *(["", after] if after else [])])


def _split(doc: str | None, heading: str) -> tuple[str, dict[str, str], str]:
    """Returns the text before a section, the entries of the section by name, and the text after."""
    before, _, rest = inspect.cleandoc(doc or "").partition(f"{heading}:\n")
    section, _, after = rest.partition("\n\n")
    parts = [part.rstrip() for part in _ENTRY.split(section) if part.strip()]
    return before, {part.partition(":")[0]: f"  {part}" for part in parts}, after
