"""Patterns of variable names, as every transform that chooses variables takes them.

A pattern is a regular expression that must match from the first character of
a variable's `op.name` on, but not up to its last (`re.match`), as in
variables_helper of tensorflow/models, research/object_detection/utils.
"""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Iterable, Sequence

from tf_frame.errors import ConfigError, UnmatchedPatternWarning

_SHOWN = 3
# What a regular expression says besides letters: `\d`, `\.`.
_ESCAPE = re.compile(r"\\.")
# Shorter parts stand in too many names.
_PART = re.compile(r"\w{3,}")


def compiled(owner: str, patterns: Iterable[str]) -> list[re.Pattern[str]]:
    """Compiles patterns.

    Args:
      owner: who asks, for the error.
      patterns: regular expressions.

    Raises:
      ConfigError: one of them is empty or no regular expression.
    """
    return [_compile(owner, pattern) for pattern in patterns]


def _compile(owner: str, pattern: str) -> re.Pattern[str]:
    if not pattern:
        raise ConfigError(f"{owner}: an empty pattern matches every variable; write .* for that")
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigError(
            f"{owner}: the pattern {pattern!r} is not a regular expression: {error}; "
            "put a backslash before a character that stands for itself"
        ) from None


def matches_any(patterns: Iterable[re.Pattern[str]], name: str) -> bool:
    """Whether one of the patterns matches a variable's name."""
    return any(pattern.match(name) for pattern in patterns)


def unmatched(patterns: Iterable[re.Pattern[str]], names: Sequence[str]) -> list[re.Pattern[str]]:
    """The patterns that match none of the names."""
    return [pattern for pattern in patterns if not any(map(pattern.match, names))]


def warn_of_unmatched(
    owner: str, patterns: Iterable[re.Pattern[str]], names: Sequence[str]
) -> None:
    """Issues an `UnmatchedPatternWarning` for each pattern that matches none of the names.

    Args:
      owner: who asks.
      patterns: what was wanted.
      names: the variables' op names.
    """
    for pattern in unmatched(patterns, names):
        message = f"{owner}: the pattern {pattern.pattern!r} matches no variable; "
        warnings.warn(
            UnmatchedPatternWarning(message + _hint(pattern.pattern, names)), stacklevel=3
        )


def _hint(pattern: str, names: Sequence[str]) -> str:
    near = near_names(pattern, names)
    if near:
        return f"near: {', '.join(near)}"
    shown = ", ".join(names[:_SHOWN]) or "none"
    return f"nothing comes near; of {len(names)} variables the first are: {shown}"


def near_names(pattern: str, names: Sequence[str], count: int = _SHOWN) -> list[str]:
    """The names most like a pattern, those that share most parts with it first.

    Args:
      pattern: a regular expression.
      names: where to look.
      count: how many at most.
    """
    parts = set(_PART.findall(_ESCAPE.sub(" ", pattern).lower()))
    known = sorted({part for name in names for part in name.lower().split("/")})
    for part in tuple(parts):
        parts.update(difflib.get_close_matches(part, known))
    hits = {name: sum(part in name.lower() for part in parts) for name in names}
    return sorted((name for name in hits if hits[name]), key=lambda name: -hits[name])[:count]
