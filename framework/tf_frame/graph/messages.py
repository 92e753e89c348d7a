"""Words that the errors of the graph share."""

from __future__ import annotations

from typing import Any


def seen(value: Any) -> str:
    """A value that a plugin returned, in one short line with its type."""
    if value is None:
        return "None"
    text = " ".join(repr(value).split())
    return f"{text:.80} of type {type(value).__name__}"
