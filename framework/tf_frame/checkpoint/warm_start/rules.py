"""REGEX=REPLACEMENT: how names of variables become other names."""

from __future__ import annotations

import dataclasses
import re
import warnings
from collections.abc import Iterable, Sequence

from tf_frame.config.values import nearest
from tf_frame.errors import ConfigError, UnmatchedPatternWarning


@dataclasses.dataclass(frozen=True)
class Rule:
    r"""One rule; `MobilenetV2/(.*)=FeatureExtractor/MobilenetV2/\1` is one.

    Attributes:
      text: as the user wrote it.
      pattern: has to match a name from its beginning to its end.
      replacement: the new name; `\1` or `\g<name>` is what a group matched.
    """

    text: str
    pattern: re.Pattern[str]
    replacement: str

    def renamed(self, name: str) -> str | None:
        """The new name, or None if the rule does not match."""
        found = self.pattern.fullmatch(name)
        return found.expand(self.replacement) if found else None


def parse_rules(option: str, texts: Iterable[str]) -> Sequence[Rule]:
    """Reads rules. The last `=` is the one between the two halves.

    Args:
      option: the option that they come from, such as `--rule`.
      texts: one rule each.

    Raises:
      ConfigError: a rule without `=` or replacement, or a regular expression
        that is not valid.
    """
    return [_parse_rule(option, text) for text in texts]


def _parse_rule(option: str, text: str) -> Rule:
    regex, equals, replacement = text.rpartition("=")
    if not equals or not regex or not replacement:
        raise ConfigError(
            f"{option} {text!r}: expected REGEX=REPLACEMENT, such as "
            r"'MobilenetV2/(.*)=FeatureExtractor/MobilenetV2/\1'"
        )
    rule = Rule(text, parse_regex(option, regex), replacement)
    try:
        # The empty alternative always matches, so that wrong groups show up here.
        re.compile(f"{regex}|").sub(replacement, "", count=1)
    except (re.error, IndexError) as error:
        raise ConfigError(f"{option} {text!r}: {error} in {replacement!r}") from None
    return rule


def parse_regex(option: str, text: str) -> re.Pattern[str]:
    """Compiles a regular expression.

    Raises:
      ConfigError: it is not valid.
    """
    try:
        return re.compile(text)
    except re.error as error:
        raise ConfigError(f"{option} {text!r} is not a regular expression: {error}") from None


def rename(name: str, rules: Iterable[Rule]) -> str:
    """The new name of a variable: by the first rule that matches, else the old one."""
    return next((new for rule in rules if (new := rule.renamed(name)) is not None), name)


def warn_of_unmatched(
    option: str, patterns: Iterable[tuple[str, re.Pattern[str]]], names: Sequence[str]
) -> None:
    """Warns of patterns that match no name from its beginning to its end.

    Args:
      option: the option that they come from.
      patterns: what the user wrote, and the regular expression in it.
      names: the names there are.
    """
    for text, pattern in patterns:
        if not any(pattern.fullmatch(name) for name in names):
            problem = f"{option} {text!r} matches the whole name of none of the"
            warn(f"{problem} {len(names)} variables", pattern.pattern, names)


def warn_of_prefixes(option: str, prefixes: Iterable[str], names: Sequence[str]) -> None:
    """Warns of prefixes with which no name begins."""
    for prefix in prefixes:
        if not any(name.startswith(prefix) for name in names):
            problem = f"none of the {len(names)} variables begins with {option} {prefix!r}"
            warn(problem, prefix, names)


def warn(problem: str, text: str, names: Iterable[str]) -> None:
    """Issues the warning for a pattern that matches nothing, with the name that is nearest."""
    near = nearest(text, {part for name in names for part in _scopes(name)})
    hint = f"; did you mean {near!r}?" if near else ""
    warnings.warn(UnmatchedPatternWarning(problem + hint), stacklevel=2)


def _scopes(name: str) -> Iterable[str]:
    """A name and the scopes that it is in: `a/b/c`, `a/b`, `a`."""
    while name:
        yield name
        name = name.rpartition("/")[0]
