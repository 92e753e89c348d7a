"""Quotes words for a shell: commands that are printed to be pasted, and scripts.

A word with a control character, which a terminal would take for an order and which some shells
lose, is written as `$'...'` (bash, zsh, ksh, POSIX 2024).
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable

from tf_frame.text import printable


def shell_word(word: str | os.PathLike[str]) -> str:
    """Returns a word as a shell reads it, in quotes where it needs them."""
    text = os.fspath(word)
    if printable(text) == text:
        return shlex.quote(text)
    # Bytes of a file name that are no text stay those bytes.
    return f"$'{''.join(map(_escaped, text.encode(errors='surrogateescape')))}'"


def shell_line(words: Iterable[str]) -> str:
    """Returns a command with its words as a shell reads them."""
    return " ".join(map(shell_word, words))


def _escaped(byte: int) -> str:
    character = chr(byte)
    is_plain = 0x20 <= byte < 0x7F and character not in "\\'"
    return character if is_plain else f"\\x{byte:02x}"
