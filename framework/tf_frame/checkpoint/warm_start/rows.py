"""Matches the graph's variables with a checkpoint for a warm start, and reports each outcome.

A variable that is missing or has another shape is an error unless the options allow it: else a
wrong name would leave pretrained weights unused, and nobody would see it.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.reader import Checkpoint, saved_name_and_shape
from tf_frame.checkpoint.warm_start.rules import (
    parse_rules,
    rename,
    warn_of_prefixes,
    warn_of_unmatched,
)
from tf_frame.config.option_groups import WarmStartOptions
from tf_frame.config.values import nearest
from tf_frame.errors import CheckpointError
from tf_frame.text import columns, indented

_SHOWN = 8


class Outcome(str, enum.Enum):
    """The outcome of a warm start for a variable."""

    RESTORED = "restored"
    EXCLUDED = "excluded"
    NOT_INCLUDED = "not included"
    MISSING = "missing"
    MISMATCHED = "mismatched"


@dataclasses.dataclass(frozen=True)
class Row:
    """A variable of the graph; the parts of a partitioned variable are one row.

    Attributes:
      name, shape: its name and shape.
      source: its name in the checkpoint, after `--warm_start_map`.
      outcome: restored, or why not.
      found: for MISMATCHED: shape in the checkpoint, and the type if that differs.
      parts: the variable, or its parts.
    """

    name: str
    shape: Sequence[int]
    source: str
    outcome: Outcome
    found: str
    parts: Sequence[Any] = dataclasses.field(repr=False, compare=False)

    def cells(self) -> Sequence[str]:
        """The row of the table; without a source where none was looked for."""
        looked_for = self.outcome not in (Outcome.EXCLUDED, Outcome.NOT_INCLUDED)
        shape = f"{list(self.shape)}" + (f", {self.found} in the checkpoint" if self.found else "")
        return self.outcome.value, self.name, shape, self.source if looked_for else ""


def match_variables(
    config: WarmStartOptions, variables: Iterable[Any], checkpoint: Checkpoint
) -> Sequence[Row]:
    """Decides about each variable.

    Args:
      config: include, exclude and map; they do not apply to the global step.
      variables: variables of the graph, or parts of them.
      checkpoint: source of the values.

    Raises:
      ConfigError: a rule of `--warm_start_map` is malformed.
    """
    rules = parse_rules("--warm_start_map", config.warm_start_map)
    whole = _whole_variables(variables)
    names = [name for name in whole if not _is_global_step(whole[name])]
    warn_of_prefixes("--warm_start_include", config.warm_start_include, names)
    warn_of_prefixes("--warm_start_exclude", config.warm_start_exclude, names)
    warn_of_unmatched("--warm_start_map", [(rule.text, rule.pattern) for rule in rules], names)
    rows = []
    for name, parts in whole.items():
        if _is_global_step(parts):
            rows.append(_compared(name, name, parts, checkpoint))
        elif outcome := _left_out(config, name):
            rows.append(Row(name, saved_name_and_shape(parts)[1], "", outcome, "", parts))
        else:
            rows.append(_compared(name, rename(name, rules), parts, checkpoint))
    return rows


def check_rows(
    config: WarmStartOptions,
    rows: Sequence[Row],
    checkpoint: Checkpoint,
    *,
    allow_nothing: bool = False,
) -> None:
    """Checks that the options allow the outcomes.

    Raises:
      CheckpointError: variables are missing or mismatched, or no variable is restored, and
        the options do not allow it.
    """
    problems = []
    missing = [row for row in rows if row.outcome == Outcome.MISSING]
    if missing and not config.warm_start_ignore_missing:
        problems.append(_missing(missing, checkpoint))
    mismatched = [row for row in rows if row.outcome == Outcome.MISMATCHED]
    if mismatched and not config.warm_start_skip_mismatched:
        problems.append(_mismatched(mismatched))
    if problems:
        raise CheckpointError(
            f"--warm_start_from {checkpoint.path} does not fit the graph\n" + "\n".join(problems)
        )
    if not allow_nothing and not any(r.outcome == Outcome.RESTORED for r in rows):
        raise CheckpointError(
            f"--warm_start_from {checkpoint.path}: none of the {len(rows)} variables was restored; "
            f"the graph has {_names([row.name for row in rows])}, the checkpoint "
            f"{_names(checkpoint.names)}. Map the names with --warm_start_map, or leave "
            "--warm_start_from out"
        )


def format_rows(rows: Iterable[Row]) -> str:
    """The rows as text, with a heading."""
    heading = ("OUTCOME", "VARIABLE", "SHAPE", "IN THE CHECKPOINT")
    return columns([heading, *(row.cells() for row in rows)], indent=0)


def _whole_variables(variables: Iterable[Any]) -> dict[str, list[Any]]:
    """Name -> the variable, or its parts; each once."""
    whole: dict[str, list[Any]] = {}
    for variable in variables:
        for part in [variable] if hasattr(variable, "op") else list(variable):
            parts = whole.setdefault(saved_name_and_shape(part)[0], [])
            if not any(part is other for other in parts):
                parts.append(part)
    return whole


def _is_global_step(parts: Sequence[Any]) -> bool:
    return parts[0] is tf.train.get_global_step()


def _left_out(config: WarmStartOptions, name: str) -> Outcome | None:
    include = config.warm_start_include
    if include and not name.startswith(include):
        return Outcome.NOT_INCLUDED
    return Outcome.EXCLUDED if name.startswith(config.warm_start_exclude) else None


def _compared(name: str, source: str, parts: Sequence[Any], checkpoint: Checkpoint) -> Row:
    """The row of a variable that is neither excluded nor left out."""
    shape = saved_name_and_shape(parts)[1]
    if source not in checkpoint:
        return Row(name, shape, source, Outcome.MISSING, "", parts)
    dtype, found = checkpoint.dtype(source), checkpoint.shape(source)
    if dtype != parts[0].dtype.base_dtype:
        return Row(name, shape, source, Outcome.MISMATCHED, f"{found} {dtype.name}", parts)
    if found != shape:
        return Row(name, shape, source, Outcome.MISMATCHED, str(found), parts)
    return Row(name, shape, source, Outcome.RESTORED, "", parts)


def _missing(rows: Sequence[Row], checkpoint: Checkpoint) -> str:
    lines = []
    for row in rows[:_SHOWN]:
        near = nearest(row.source, checkpoint.names)
        looked_for = f" (looked for as {row.source})" if row.source != row.name else ""
        lines.append(f"{row.name} {list(row.shape)}{looked_for}" + (f": {near}?" if near else ""))
    lines += [row.name for row in rows[_SHOWN:]]
    return (
        f"{len(rows)} variables are not in the checkpoint:\n{indented(lines, _SHOWN)}\nname them "
        "in --warm_start_exclude, map their names with --warm_start_map, or pass over them all "
        "with --warm_start_ignore_missing"
    )


def _mismatched(rows: Sequence[Row]) -> str:
    lines = [f"{row.name} {row.cells()[2]}" for row in rows]
    return (
        f"{len(rows)} variables have another shape or type in the checkpoint:\n"
        f"{indented(lines, _SHOWN)}\nname them in --warm_start_exclude, or pass over them all "
        "with --warm_start_skip_mismatched"
    )


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (" ..." if len(names) > 3 else "") if names else "none"
