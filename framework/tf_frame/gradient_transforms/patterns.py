"""Patterns of variable names, for the transforms that select variables.

A pattern is a regular expression that must match the beginning of a variable's `op.name`
(`re.match`), as in variables_helper of tensorflow/models, research/object_detection/utils. A
pattern that matches nothing is usually a typing error; a warning then shows similar names.
"""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Iterable, Sequence

from tf_frame.errors import ConfigError, UnmatchedPatternWarning
from tf_frame.text import brief

_NUM_NAMES = 3
# Escape sequences of regular expressions: `\d`, `\.`.
_ESCAPE = re.compile(r"\\.")
# Shorter parts occur in too many names.
_PART = re.compile(r"\w{3,}")


def compile_patterns(owner: str, patterns: Iterable[str]) -> list[re.Pattern[str]]:
    """Compiles patterns; `owner` is the name of the transform, for the message.

    Raises:
      ConfigError: a pattern is empty or not a regular expression.
    """
    compiled = []
    for pattern in patterns:
        if not pattern:
            raise ConfigError(
                f"{owner}: an empty pattern matches every variable; write .* for that"
            )
        try:
            compiled.append(re.compile(pattern))
        except re.error as error:
            raise ConfigError(
                f"{owner}: the pattern {brief(pattern)} is not a regular expression: {error}; "
                "put a backslash before a character that is meant literally"
            ) from None
    return compiled


def matches_any(patterns: Iterable[re.Pattern[str]], name: str) -> bool:
    """Returns whether a pattern matches a variable's name."""
    return any(pattern.match(name) for pattern in patterns)


def unmatched(patterns: Iterable[re.Pattern[str]], names: Sequence[str]) -> list[re.Pattern[str]]:
    """Returns the patterns that match none of the names."""
    return [pattern for pattern in patterns if not any(map(pattern.match, names))]


def warn_unmatched(owner: str, patterns: Iterable[re.Pattern[str]], names: Sequence[str]) -> None:
    """Issues an `UnmatchedPatternWarning` for each pattern that matches no variable's op name."""
    for pattern in unmatched(patterns, names):
        message = f"{owner}: the pattern {brief(pattern.pattern)} matches no variable; "
        warnings.warn(
            UnmatchedPatternWarning(message + _hint(pattern.pattern, names)), stacklevel=3
        )


def _hint(pattern: str, names: Sequence[str]) -> str:
    if similar := similar_names(pattern, names):
        return f"similar names: {', '.join(similar)}"
    first_names = ", ".join(names[:_NUM_NAMES]) or "none"
    return f"no name is similar; the first of {len(names)} variables are: {first_names}"


def similar_names(pattern: str, names: Sequence[str], count: int = _NUM_NAMES) -> list[str]:
    """Returns at most `count` names that share parts with a pattern, most similar names first."""
    parts = set(_PART.findall(_ESCAPE.sub(" ", pattern).lower()))
    name_parts = sorted({part for name in names for part in name.lower().split("/")})
    for part in tuple(parts):
        parts.update(difflib.get_close_matches(part, name_parts))
    hits = {name: sum(part in name.lower() for part in parts) for name in names}
    return sorted((name for name in hits if hits[name]), key=lambda name: -hits[name])[:count]
