"""Modules and members of Python's library that have other names in Python 3."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any


def StringIO(text: Any = "") -> Any:
    """Returns a file in memory, of text or bytes."""
    return io.BytesIO(text) if isinstance(text, bytes) else io.StringIO(text)


def join(words: Iterable[str], sep: str = " ") -> str:
    """Returns the words with `sep` between them."""
    return sep.join(words)
