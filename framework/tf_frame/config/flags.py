"""Parses options from the command line by absl flags.

    values = parse_flags(["--num_clones", "2"], declared_options(RunOptions))
    values == {"num_clones": 2}

Only flags that were given are returned, so that a configuration file and the
defaults apply to all other options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from absl import flags

from tf_frame.config import values
from tf_frame.config.option import Option
from tf_frame.errors import ConfigError
from tf_frame.text import brief, short, short_word


class _OptionParser(flags.ArgumentParser[Any]):
    """Parses the text of a flag by its `Option`.

    absl adds text of its own to a ValueError of a parser. An option raises
    ConfigError, which is no ValueError and reaches the user unchanged.
    """

    def __init__(self, option: Option) -> None:
        super().__init__()
        self.option = option

    def parse(self, argument: Any) -> Any:
        return self.option.parse(argument)


class _Flags(flags.FlagValues):
    """Flags that absl finds by name only: it compares an unknown name with all, by recursion.

    A name of a thousand letters was too much for it, and `_unknown` has a suggestion of its own.
    """

    def __iter__(self) -> Iterator[str]:
        return iter(())


class _RepeatableFlag(flags.Flag[Any]):
    """A flag that adds up the values of all its occurrences; a plain flag keeps the last only."""

    def parse(self, argument: Any) -> None:
        earlier: Any = self.value if self.present else ()
        super().parse(argument)
        # An empty value discards the values before it.
        self.value = earlier + self.value if self.value else ()


def parse_flags(
    argv: Sequence[str],
    options: Iterable[Option],
    *,
    explain: Callable[[str], str] = lambda name: "",
) -> dict[str, Any]:
    """Parses command-line arguments.

    Args:
      argv: the arguments after the sub-command.
      options: the allowed options. A tuple of text may be given several times.
      explain: takes the name of an unknown option; returns why there is none, or empty.

    Returns:
      Option name -> value, for the options that were given.

    Raises:
      ConfigError: unknown flag, wrong value, or an argument that is no flag.
    """
    values, words = parse_words(argv, options, explain=explain)
    if words:
        raise ConfigError(_stray(words[0]))
    return values


def split_flags(argv: Sequence[str], options: Iterable[Option]) -> tuple[dict[str, Any], list[str]]:
    """Like `parse_flags`, but also returns the unknown arguments, in order."""
    return parse_words(argv, options, known_only=True)


def parse_words(
    argv: Sequence[str],
    options: Iterable[Option],
    *,
    known_only: bool = False,
    stops_at_word: bool = False,
    explain: Callable[[str], str] = lambda name: "",
) -> tuple[dict[str, Any], list[str]]:
    """Like `parse_flags`, but also returns the arguments that are no flags, in order.

    Args:
      argv, options, explain: as of `parse_flags`.
      known_only: return unknown flags, too, instead of an error.
      stops_at_word: return all arguments from the first that is no flag unread.
    """
    options = list(options)
    table = _Flags()
    table.set_gnu_getopt(not stops_at_word)
    for option in options:
        _define(table, option)
    try:
        words = table(["tf-frame", *argv], known_only=known_only)[1:]
    except flags.UnrecognizedFlagError as error:
        reason = explain(error.flagname)
        unknown = f"unknown option --{short_word(error.flagname)}; {reason}" if reason else ""
        raise ConfigError(unknown or _unknown(error.flagname, options)) from None
    except flags.Error as error:
        raise ConfigError(short(str(error).splitlines()[0])) from None
    return {o.name: table[o.name].value for o in options if table[o.name].present}, words


def _define(table: flags.FlagValues, option: Option) -> None:
    if option.type is bool:
        flag: flags.Flag[Any] = flags.BooleanFlag(option.name, None, option.help)
        flag.parser = _OptionParser(option)
    else:
        make = _RepeatableFlag if option.type == tuple[str, ...] else flags.Flag
        flag = make(_OptionParser(option), None, option.name, None, option.help)
    flags.DEFINE_flag(flag, table)


def _unknown(name: str, options: Sequence[Option]) -> str:
    names = [option.name for option in options]
    part = name.rpartition(".")[0]
    if part and not any(option.startswith(f"{part}.") for option in names):
        reason = f"{short_word(part)} takes no options, or is not in use"
        return f"unknown option --{short_word(name)}; {reason}"
    switches = [f"no{option.name}" for option in options if option.type is bool]
    nearest_name = values.nearest_option(name, [*names, *switches])
    hint = f"did you mean --{nearest_name}?" if nearest_name else "--help lists the options"
    return f"unknown option --{short_word(name)}; {hint}"


def _stray(argument: str) -> str:
    if argument.lower() in ("true", "false"):
        hint = "a switch takes no second word: --name, --noname or --name=false"
    else:
        hint = "options start with --"
    return f"unexpected word {brief(argument)}; {hint}"
