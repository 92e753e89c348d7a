"""`parse_selection`: conditions on runs, such as `learning_rate>0.1 and plugin=deeplab`.

    condition = comparison | "not" condition | condition "and"|"or" condition | "(" condition ")"
    comparison = COLUMN ("=" | "!=" | "<" | "<=" | ">" | ">=" | "~") VALUE

`~`: the value is a part of the cell. Numbers are compared as numbers; a run without a value in a
column fulfils only `!=`. Nothing is evaluated as Python.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from tf_frame.errors import ConfigError
from tf_frame.text import brief

# Takes a function from a column to its text in a run; empty: it has none.
Condition = Callable[[Callable[[str], str]], bool]
_TOKEN = re.compile(
    r"""\s*(?:(?P<op>!=|<=|>=|[=<>~()])|"(?P<text>[^"]*)"|(?P<word>[^\s=<>!~()"]+))"""
)
_MOST_CONDITIONS = 50
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    **{"=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le},
    **{">": operator.gt, ">=": operator.ge, "~": operator.contains},
}


def parse_selection(text: str) -> Condition:
    """Returns a function that says whether a run fulfils a condition.

    Raises:
      ConfigError: the text is no condition.
    """
    parser = _Parser(text)
    condition = parser.either()
    parser.end()
    return condition


class _Parser:
    """Reads tokens from the left, by recursive descent."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth = text, 0, 0

    def either(self) -> Condition:
        conditions = [self._both()]
        while self._take("or"):
            conditions.append(self._both())
        return lambda cell: any(each(cell) for each in conditions)

    def _both(self) -> Condition:
        conditions = [self._one()]
        while self._take("and"):
            conditions.append(self._one())
        return lambda cell: all(each(cell) for each in conditions)

    def _one(self) -> Condition:
        self._depth += 1
        if self._depth > _MOST_CONDITIONS:
            raise self._error("too many parentheses or conditions")
        if self._take("not"):
            inner = self._one()
            return lambda cell: not inner(cell)
        if self._take("("):
            inner = self.either()
            self._expect(")")
            return inner
        return self._comparison()

    def _comparison(self) -> Condition:
        column, comparison, value = self._word(), self._word(), self._word()
        if comparison not in _COMPARISONS:
            raise self._error("a comparison such as learning_rate>0.1 is missing")
        compare = _COMPARISONS[comparison]
        return lambda cell: _compare(compare, comparison, cell(column), value)

    def end(self) -> None:
        if self._text[self._at :].strip():
            raise self._error("it goes on after its end; join comparisons by and, or")

    def _peek(self) -> tuple[str, int]:
        match = _TOKEN.match(self._text, self._at)
        return ("", self._at) if match is None else (match[match.lastgroup or 0], match.end())

    def _word(self) -> str:
        match = _TOKEN.match(self._text, self._at)
        if match is None:
            raise self._error("a word is missing at its end")
        self._at = match.end()
        return str(match[match.lastgroup or 0])

    def _take(self, word: str) -> bool:
        found, end = self._peek()
        if found != word:
            return False
        self._at = end
        return True

    def _expect(self, word: str) -> None:
        if not self._take(word):
            raise self._error(f"{word} is missing")

    def _error(self, reason: str) -> ConfigError:
        return ConfigError(
            f"--filter {brief(self._text)}: {reason}; for example "
            '"learning_rate>0.1 and plugin=deeplab"'
        )


def _compare(compare: Callable[[Any, Any], bool], name: str, cell: str, value: str) -> bool:
    if not cell and value:
        return name == "!="
    if name == "~":
        return value in cell
    try:
        return compare(float(cell), float(value))
    except ValueError:
        return compare(cell, value)
