"""The space of a sweep: option -> the values that trials may take.

learning_rate=log 0.001..1       real numbers, evenly in their logarithm
dropout=0..0.9                   real numbers
model.depth=64..256 step 64      whole numbers
optimizer=momentum,adam          choices
model.rates=6,12|12,24           choices with commas
"""

from __future__ import annotations

import itertools
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from tf_frame.errors import ConfigError
from tf_frame.text import brief

Space = Mapping[str, BaseDistribution]
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"(log\s+)?({_NUMBER}?)\s*\.\.\s*({_NUMBER})(?:\s+step\s+({_NUMBER}))?")
_WHOLE = re.compile(r"[+-]?\d+")


def parse_space(
    texts: Sequence[str], types: Mapping[str, Any] | None = None
) -> dict[str, BaseDistribution]:
    """Returns the values of each option.

    Args:
      texts: of `--space`.
      types: name -> type of the options that are known; 0..1 are real numbers for one of them.

    Raises:
      ConfigError: a text is not OPTION=VALUES, or an option is given twice.
    """
    space: dict[str, BaseDistribution] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = name.strip().lstrip("-")
        if not (name and equals):
            raise _error(text, "expected OPTION=VALUES, such as learning_rate=log 0.001..1")
        if name in space:
            raise _error(text, "the option is given twice")
        is_real = _is_real((types or {}).get(name))
        space[name] = _parse_values(text, values.strip(), is_real=is_real)
    if not space:
        raise ConfigError("--space is missing: name an option, such as 'learning_rate=log 0.01..1'")
    return space


def _is_real(kind: Any) -> bool:
    return float in (kind, *typing.get_args(kind))


def _parse_values(text: str, values: str, *, is_real: bool) -> BaseDistribution:
    match = _RANGE.fullmatch(values)
    if match is None:
        choices = [part.strip() for part in values.split("|" if "|" in values else ",")]
        if len(choices) < 2 or len(set(choices)) < len(choices):
            raise _error(text, "give a range such as 0..1, or several different choices")
        return CategoricalDistribution(choices)
    is_log, *ends = match.groups()
    low, high, step = (end or None for end in ends)
    assert low and high
    if is_log and step:
        raise _error(text, "a range has either log or a step")
    is_whole = not is_real and all(_WHOLE.fullmatch(end) for end in (low, high, step) if end)
    number = int if is_whole else float
    if number(low) >= number(high):
        raise _error(text, "the first number must be below the second")
    if is_log and number(low) <= 0:
        raise _error(text, "a logarithmic range begins above 0")
    if step and number(step) <= 0:
        raise _error(text, "the step must be positive")
    if is_whole:
        return IntDistribution(int(low), int(high), log=bool(is_log), step=int(step or 1))
    of_step = {"step": float(step)} if step else {}
    return FloatDistribution(float(low), float(high), log=bool(is_log), **of_step)


def suggest(trial: Any, space: Space) -> dict[str, Any]:
    """Returns the values of a trial; those that it has already stay."""
    return {name: _suggest(trial, name, values) for name, values in space.items()}


def _suggest(trial: Any, name: str, values: BaseDistribution) -> Any:
    if isinstance(values, CategoricalDistribution):
        return trial.suggest_categorical(name, values.choices)
    assert isinstance(values, (IntDistribution, FloatDistribution))
    ask = trial.suggest_int if isinstance(values, IntDistribution) else trial.suggest_float
    if isinstance(values, FloatDistribution) and values.step is None:
        return ask(name, values.low, values.high, log=values.log)
    return ask(name, values.low, values.high, step=values.step, log=values.log)


def grid(space: Space) -> list[dict[str, Any]]:
    """Returns all combinations.

    Raises:
      ConfigError: an option has infinitely many values.
    """
    columns = []
    for name, values in space.items():
        if isinstance(values, CategoricalDistribution):
            columns.append(list(values.choices))
        elif isinstance(values, IntDistribution):
            columns.append(list(range(values.low, values.high + 1, values.step)))
        elif isinstance(values, FloatDistribution) and values.step is not None:
            count = round((values.high - values.low) / values.step) + 1
            steps = (round(values.low + number * values.step, 12) for number in range(count))
            columns.append(list(steps))
        else:
            raise ConfigError(f"--sampler grid: give {name} a step, or choices")
    return [dict(zip(space, row, strict=True)) for row in itertools.product(*columns)]


def within(
    space: Space, values: Mapping[str, Any], parse: Callable[[str, str], Any]
) -> dict[str, Any] | None:
    """Returns values as a trial has them; None if one is missing or lies outside of the space.

    Args:
      space: the space.
      values: option -> value.
      parse: takes an option and the text of a choice; returns its value.
    """
    found: dict[str, Any] = {}
    for name, allowed in space.items():
        value = values.get(name)
        if isinstance(allowed, CategoricalDistribution):
            same = [choice for choice in allowed.choices if parse(name, str(choice)) == value]
            if not same:
                return None
            value = same[0]
        elif not isinstance(value, (int, float)) or not _contains(allowed, value):
            return None
        found[name] = value
    return found


def _contains(allowed: BaseDistribution, value: float) -> bool:
    assert isinstance(allowed, (IntDistribution, FloatDistribution))
    of_steps = (value - allowed.low) / (allowed.step or 1)
    on_step = allowed.step is None or abs(of_steps - round(of_steps)) < 1e-9
    return allowed.low <= value <= allowed.high and on_step


def as_text(value: Any) -> str:
    """Returns a value as a word of the command line, exactly."""
    return repr(value) if isinstance(value, float) else str(value)


def low_ends(space: Space) -> dict[str, str]:
    """Returns one value of each option, to check that the option exists."""
    return {name: as_text(_first(values)) for name, values in space.items()}


def _first(values: BaseDistribution) -> Any:
    if isinstance(values, CategoricalDistribution):
        return values.choices[0]
    assert isinstance(values, (IntDistribution, FloatDistribution))
    return values.low


def _error(text: str, reason: str) -> ConfigError:
    return ConfigError(f"--space {brief(text)}: {reason}")
