"""Flags as TensorFlow 1 parsed them: early, without complaints, with words after switches.

Programs read `FLAGS` while they import modules that define further flags, and write
`--is_training False`, which absl takes for `--is_training` and an argument without meaning.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tensorflow.compat.v1 as tf
from absl import flags as absl_flags

_WORDS = {"true", "false", "t", "f", "1", "0"}


class _Flags:
    """The flags of the process; the first use of a value parses those defined so far.

    `FLAGS.__flags` and `FLAGS.__dict__["__flags"]`, which programs print, hold the values.
    """

    def __getattr__(self, name: str) -> Any:
        values = absl_flags.FLAGS
        if name == "__flags":
            self._parse()
            return {name: values[name].value for name in values}
        if not values.is_parsed() and name in values:
            self._parse()
        return getattr(values, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._parse()
        setattr(absl_flags.FLAGS, name, value)

    def __getitem__(self, name: str) -> Any:
        return absl_flags.FLAGS[name]

    def __contains__(self, name: str) -> bool:
        return name in absl_flags.FLAGS

    def __iter__(self) -> Iterator[str]:
        return iter(absl_flags.FLAGS)

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        return absl_flags.FLAGS(joined(argv), known_only)

    def __dir__(self) -> list[str]:
        return dir(absl_flags.FLAGS)

    def _parse(self) -> None:
        if not absl_flags.FLAGS.is_parsed():
            absl_flags.FLAGS(joined(sys.argv), known_only=True)

    _parse_flags = _parse


FLAGS = _Flags()


def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None) -> None:
    """Parses the flags, calls the program's `main` with the other words and ends the process."""
    tf.app.run(main, joined(sys.argv if argv is None else argv))


def joined(argv: Sequence[str]) -> list[str]:
    """Returns the words with `--switch False` written as `--switch=False`."""
    words: list[str] = []
    for word in argv:
        if words and word.lower() in _WORDS and _is_switch(words[-1]):
            words[-1] += f"={word}"
        else:
            words.append(word)
    return words


def _is_switch(word: str) -> bool:
    name = word.lstrip("-")
    values = absl_flags.FLAGS
    return word.startswith("-") and name in values and bool(values[name].boolean)
