"""Parses the words of a sub-command that takes folders and a few options, or prints the help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tf_frame.command_line import option_help
from tf_frame.command_line.screen import report_help
from tf_frame.config.flags import parse_words
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, EXIT_USAGE, ConfigError
from tf_frame.text import short

_HELP = ("-h", "--help")
_Run = Callable[[Sequence[str], dict[str, Any]], int]


def folder_command(
    *,
    name: str,
    usage: str,
    options: Sequence[Option],
    takes: str = "one folder, MODEL_DIR",
    count: int | None = 1,
) -> Callable[[_Run], Callable[[Sequence[str]], int]]:
    """Makes the `main(argv)` of a sub-command from a function of its folders and options.

    The function gets the folders, and the value of each option, defaults included. Without words,
    and with `--help`, `main` prints the help instead. It raises a `ConfigError` for an unknown
    option, a wrong value, or another number of folders.

    Args:
      name: name of the command, such as `tf-frame status`.
      usage: the help without the options.
      options: the options of the command.
      takes: the expected words, for the error message.
      count: number of folders; None: one or more.
    """

    def decorate(run: _Run) -> Callable[[Sequence[str]], int]:
        def main(argv: Sequence[str]) -> int:
            if not argv or any(word in _HELP for word in argv):
                report_help(f"{usage}\n\n{option_help.group_text('Options', options, {})}")
                return EXIT_OK if argv else EXIT_USAGE
            values, words = parse_words(argv, options)
            if not words if count is None else len(words) != count:
                raise ConfigError(
                    f"{name} takes {takes}; given: {short(' '.join(words)) or 'none'}"
                )
            return run(words, {option.name: option.default for option in options} | values)

        return main

    return decorate
