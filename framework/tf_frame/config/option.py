"""Definition of an option: a dataclass field with help text and bounds.

    @dataclasses.dataclass(frozen=True)
    class Params:
        output_stride: int = option(16, "input size over feature size", choices=(8, 16))

The field is the only definition of an option. `declared_options(Params)` returns the `Option`s,
from which flags, YAML keys, help and checks are made. `resolve(Params, sources)` merges several
sources of values to one `Params`.
"""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from tf_frame.config import values
from tf_frame.errors import ConfigError
from tf_frame.text import brief, short, short_word

_META = "tf_frame.option"
T = TypeVar("T")
# Setting one option of a pair in a source unsets the value of the other from earlier sources.
EXCLUSIVE = {
    "save_checkpoint_secs": "save_checkpoint_steps",
    "save_checkpoint_steps": "save_checkpoint_secs",
    "save_summaries_secs": "save_summaries_steps",
    "save_summaries_steps": "save_summaries_secs",
}


def option(
    default: Any,
    help: str,
    *,
    min: float | None = None,
    max: float | None = None,
    choices: Sequence[Any] | None = None,
    verbatim: bool = False,
    requires: str | Sequence[str] = (),
) -> Any:
    """Declares a dataclass field that is also a flag and a YAML key.

    Args:
      default: the value of an option that is not set. Use a tuple for several values.
      help: one line for `--help`, with the unit if there is one.
      min, max: the smallest and the largest value allowed.
      choices: the only values allowed.
      verbatim: for a tuple of texts: a comma is part of a text, so that the
        command line has one flag for each text.
      requires: for run options: the option without which this option has no effect, or
        several options, one of them is enough. See `run_options.without_effect`.

    Returns:
      A dataclass field.
    """
    choices = None if choices is None else tuple(choices)
    requires = (requires,) if isinstance(requires, str) else tuple(requires)
    declared = Option("", None, default, help, min, max, choices, verbatim, requires)
    return dataclasses.field(default=default, metadata={_META: declared})


@dataclasses.dataclass(frozen=True)
class Option:
    """The definition of one option.

    Attributes:
      name: full name, dotted for plugin options (`model.output_stride`).
      type: the annotated type, one that `values.parse` understands.
      default: the value of an option that is not set.
      help, min, max, choices, verbatim, requires: see `option`.
    """

    name: str
    type: Any
    default: Any
    help: str = ""
    min: float | None = None
    max: float | None = None
    choices: tuple[Any, ...] | None = None
    verbatim: bool = False
    requires: tuple[str, ...] = ()

    def parse(self, raw: Any) -> Any:
        """Converts a flag's text or a YAML value and checks it.

        Raises:
          ConfigError: wrong type or out of range; the message names the option.
        """
        if self.verbatim and isinstance(raw, str):
            raw = [raw] if raw else []
        try:
            value = values.parse(raw, self.type)
            self._check(value)
        except ValueError as error:
            raise ConfigError(f"--{self.name}: {error}") from None
        return value

    def check_definition(self) -> None:
        """Checks the type and the default of the option.

        Raises:
          ConfigError: options of this type are not supported, or the default is not valid.
        """
        try:
            values.check_type(self.type)
        except ValueError as error:
            raise ConfigError(f"option {brief(self.name)}: {error}") from None
        try:
            parsed = self.parse(self.default)
            if parsed != self.default:
                raise ConfigError(f"{brief(self.default)} should be {brief(parsed)}")
        except (ConfigError, TypeError) as error:
            cause = str(error).removeprefix(f"--{self.name}: ")
            raise ConfigError(
                f"option {brief(self.name)}: its default is refused: {cause}"
            ) from None

    def _check(self, value: Any) -> None:
        for item in value if isinstance(value, tuple) else (value,):
            if item is None:
                continue
            if self.choices is not None and item not in self.choices:
                raise ValueError(values.not_a_choice(item, self.choices))
            too_small = self.min is not None and item < self.min
            if too_small or (self.max is not None and item > self.max):
                raise ValueError(f"{brief(item)} is out of range; allowed: {self.range_text}")

    @property
    def range_text(self) -> str:
        """The bounds in words, empty if there are none."""
        if self.min is not None and self.max is not None:
            return f"{self.min} to {self.max}"
        if self.min is not None:
            return f"{self.min} or more"
        return "" if self.max is None else f"{self.max} or less"


def declared_options(params: type, prefix: str = "") -> list[Option]:
    """Returns the options of a dataclass, in the order of its fields.

    Args:
      params: a dataclass; fields made by `option` carry help and bounds.
      prefix: text before every name and a dot (`model` -> `model.depth`).
    """
    return list(_declared_options(params, prefix))


@functools.cache
def _declared_options(params: type, prefix: str) -> Sequence[Option]:
    # A command asks some twenty times, and evaluating the types of a class takes milliseconds.
    types = typing.get_type_hints(params)
    start = f"{prefix}." if prefix else ""
    return [
        dataclasses.replace(
            field.metadata.get(_META, Option("", None, None)),
            name=start + field.name,
            type=types[field.name],
            default=_default_value(field),
        )
        for field in dataclasses.fields(params)
    ]


def _default_value(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    if field.default is dataclasses.MISSING:
        raise ConfigError(f"option {brief(field.name)} has no default; every option needs one")
    return field.default


def check_names(
    raw: Mapping[str, Any],
    options: Iterable[Option],
    source: str,
    *,
    explain: Callable[[str], str] = lambda name: "",
) -> None:
    """Raises a `ConfigError` for a name that no option has, with the reason or the nearest name.

    Args:
      raw: option name -> value.
      options: the options there are.
      source: origin of the names, for the message.
      explain: takes the name of an unknown option; returns why there is none, or empty.
    """
    names = [option.name for option in options]
    for name in raw:
        if name in ("transform", "hook"):
            raise ConfigError(
                f"{short(source)}: unknown option {name}; write a list, {name}s: [...]"
            )
        if name not in names:
            near_name = values.nearest_option(name, names)
            hint = explain(name) or (
                f"did you mean {near_name}?" if near_name else "tf-frame run --help_all lists them"
            )
            raise ConfigError(f"{short(source)}: unknown option {short_word(name)}; {hint}")


def resolve(params: type[T], sources: Iterable[Mapping[str, Any]], prefix: str = "") -> T:
    """Builds a dataclass from its defaults and the sources.

    Args:
      params: the dataclass.
      sources: dotted option name -> raw value, each source overriding those before
        it; names of other options are ignored.
      prefix: prefix of the option names in `sources`, without the dot.

    Raises:
      ConfigError: a value of the wrong type or out of range.
    """
    start = len(prefix) + 1 if prefix else 0
    merged = _merged(params, sources, prefix)
    return params(**{name[start:]: value for name, (value, _) in merged.items()})


def origins(
    params: type, sources: Iterable[Mapping[str, Any]], prefix: str = ""
) -> dict[str, int | None]:
    """Dotted name of every option -> number of the source that `resolve` takes its value from.

    None: its default. Arguments and errors as of `resolve`.
    """
    merged = _merged(params, sources, prefix)
    names = (option.name for option in declared_options(params, prefix))
    return {name: merged[name][1] if name in merged else None for name in names}


def _merged(
    params: type, sources: Iterable[Mapping[str, Any]], prefix: str
) -> dict[str, tuple[Any, int]]:
    """The value of each option that a source sets, and the number of that source."""
    merged: dict[str, tuple[Any, int]] = {}
    options = {option.name: option for option in declared_options(params, prefix)}
    for number, source in enumerate(sources):
        for name, rival in EXCLUSIVE.items():
            if source.get(name) is not None and rival in options and rival not in source:
                merged[rival] = None, number
        merged.update({k: (options[k].parse(v), number) for k, v in source.items() if k in options})
    return merged
