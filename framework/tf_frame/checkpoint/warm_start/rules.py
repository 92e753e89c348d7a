"""Rules REGEX=REPLACEMENT that rename variables, for warm starts and `checkpoint rename`.

The scope of a network in a checkpoint often differs from its scope in the model. If a rule
matches no variable, a warning shows the rule and the most similar variable name.
"""

from __future__ import annotations

import dataclasses
import re
import warnings
from collections.abc import Iterable, Sequence

from tf_frame.config.values import nearest
from tf_frame.errors import ConfigError, UnmatchedPatternWarning
from tf_frame.text import brief


@dataclasses.dataclass(frozen=True)
class Rule:
    r"""A rule such as `MobilenetV2/(.*)=FeatureExtractor/MobilenetV2/\1`.

    Attributes:
      text: the text of the user.
      pattern: has to match the whole name.
      replacement: the new name; `\1` or `\g<name>` stands for the text of a group.
    """

    text: str
    pattern: re.Pattern[str]
    replacement: str

    def renamed(self, name: str) -> str | None:
        """Returns the new name of a variable; None if the rule does not match."""
        match = self.pattern.fullmatch(name)
        return match.expand(self.replacement) if match else None


def parse_rules(option: str, texts: Iterable[str]) -> Sequence[Rule]:
    """Parses the rules of an option; the last `=` separates pattern and replacement.

    Raises:
      ConfigError: a rule has no `=` or replacement, or a regular expression is not valid.
    """
    return [_parse_rule(option, text) for text in texts]


def _parse_rule(option: str, text: str) -> Rule:
    regex, equals, replacement = text.rpartition("=")
    if not equals or not regex or not replacement:
        raise ConfigError(
            f"{option} {brief(text)}: expected REGEX=REPLACEMENT, such as "
            r"'MobilenetV2/(.*)=FeatureExtractor/MobilenetV2/\1'"
        )
    rule = Rule(text, parse_regex(option, regex), replacement)
    try:
        # The empty alternative always matches: an unknown group raises an error here.
        re.compile(f"{regex}|").sub(replacement, "", count=1)
    except (re.error, IndexError) as error:
        raise ConfigError(f"{option} {brief(text)}: {error} in {brief(replacement)}") from None
    return rule


def parse_regex(option: str, text: str) -> re.Pattern[str]:
    """Compiles a regular expression; raises a ConfigError if it is not valid."""
    try:
        return re.compile(text)
    except re.error as error:
        raise ConfigError(f"{option} {brief(text)} is not a regular expression: {error}") from None


def rename(name: str, rules: Iterable[Rule]) -> str:
    """Returns the new name by the first rule that matches; else the old name."""
    return next((new for rule in rules if (new := rule.renamed(name)) is not None), name)


def warn_about_unmatched(
    option: str, patterns: Iterable[tuple[str, re.Pattern[str]]], names: Sequence[str]
) -> None:
    """Warns about patterns, by the user's text, that match no whole name of a variable."""
    for text, pattern in patterns:
        if not any(pattern.fullmatch(name) for name in names):
            problem = f"{option} {brief(text)} matches the whole name of none of the"
            _warn(f"{problem} {len(names)} variables", pattern.pattern, names)


def warn_about_prefixes(option: str, prefixes: Iterable[str], names: Sequence[str]) -> None:
    """Warns about prefixes without a name that begins with them."""
    for prefix in prefixes:
        if not any(name.startswith(prefix) for name in names):
            problem = f"none of the {len(names)} variables begins with {option} {brief(prefix)}"
            _warn(problem, prefix, names)


def _warn(problem: str, text: str, names: Iterable[str]) -> None:
    """Issues the warning about a pattern that matches nothing, with the nearest name."""
    near = nearest(text, {part for name in names for part in _scopes(name)})
    hint = f"; did you mean {brief(near)}?" if near else ""
    warnings.warn(UnmatchedPatternWarning(problem + hint), stacklevel=2)


def _scopes(name: str) -> Iterable[str]:
    """A name and its scopes: `a/b/c`, `a/b`, `a`."""
    while name:
        yield name
        name = name.rpartition("/")[0]
