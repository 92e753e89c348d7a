"""Matches the graph's variables with a checkpoint for a warm start, and reports each outcome.

A variable that is missing or has another shape is an error, because a wrong name would leave
pretrained weights unused without notice. Options allow such variables.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.reader import Checkpoint, saved_name, saved_name_and_shape
from tf_frame.checkpoint.warm_start.rules import (
    parse_rules,
    rename,
    warn_about_prefixes,
    warn_about_unmatched,
)
from tf_frame.config.option_groups import WarmStartOptions
from tf_frame.config.values import nearest
from tf_frame.errors import CheckpointError
from tf_frame.text import columns, indented, short

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
      name, shape: name and shape.
      source: name in the checkpoint, after `--warm_start_map`.
      outcome: the outcome.
      saved: for MISMATCHED: shape in the checkpoint, and the type if it differs.
      parts: the variable, or its parts.
    """

    name: str
    shape: Sequence[int]
    source: str
    outcome: Outcome
    saved: str
    parts: Sequence[Any] = dataclasses.field(repr=False, compare=False)

    def cells(self) -> Sequence[str]:
        """Returns the cells of the table; the source of a variable that was left out is empty."""
        has_source = self.outcome not in (Outcome.EXCLUDED, Outcome.NOT_INCLUDED)
        shape = f"{list(self.shape)}" + (f", {self.saved} in the checkpoint" if self.saved else "")
        return self.outcome.value, self.name, shape, self.source if has_source else ""


def match_variables(
    config: WarmStartOptions, variables: Iterable[Any], checkpoint: Checkpoint
) -> Sequence[Row]:
    """Returns a row for each variable.

    Args:
      config: include, exclude and map, which do not apply to the global step.
      variables: variables of the graph, or parts of them.
      checkpoint: source of the values.

    Raises:
      ConfigError: a rule of `--warm_start_map` is malformed.
    """
    rules = parse_rules("--warm_start_map", config.warm_start_map)
    parts_by_name = _group_parts(variables)
    names = [name for name, parts in parts_by_name.items() if not _is_global_step(parts)]
    warn_about_prefixes("--warm_start_include", config.warm_start_include, names)
    warn_about_prefixes("--warm_start_exclude", config.warm_start_exclude, names)
    warn_about_unmatched("--warm_start_map", [(rule.text, rule.pattern) for rule in rules], names)
    rows = []
    for name, parts in parts_by_name.items():
        if _is_global_step(parts):
            rows.append(_compare(name, name, parts, checkpoint))
        elif outcome := _left_out(config, name):
            rows.append(Row(name, saved_name_and_shape(parts)[1], "", outcome, "", parts))
        else:
            rows.append(_compare(name, rename(name, rules), parts, checkpoint))
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
      CheckpointError: the options do not allow that variables are missing or mismatched, or that
        no variable is restored.
    """
    problems = []
    missing = [row for row in rows if row.outcome == Outcome.MISSING]
    if missing and not config.warm_start_ignore_missing:
        problems.append(_describe_missing(missing, checkpoint))
    mismatched = [row for row in rows if row.outcome == Outcome.MISMATCHED]
    if mismatched and not config.warm_start_skip_mismatched:
        problems.append(_describe_mismatched(mismatched))
    if problems:
        raise CheckpointError(
            f"--warm_start_from {short(checkpoint.path)} does not fit the graph\n"
            + "\n".join(problems)
        )
    if not allow_nothing and not any(r.outcome == Outcome.RESTORED for r in rows):
        raise CheckpointError(
            f"--warm_start_from {short(checkpoint.path)}: none of the {len(rows)} variables was "
            f"restored; the graph has {_shorten([row.name for row in rows])}, the checkpoint "
            f"{_shorten(checkpoint.names)}. Map the names with --warm_start_map, or leave "
            "--warm_start_from out"
        )


def format_rows(rows: Iterable[Row]) -> str:
    """Returns the rows as text, with a heading."""
    heading = ("OUTCOME", "VARIABLE", "SHAPE", "IN THE CHECKPOINT")
    return columns([heading, *(row.cells() for row in rows)], indent=0)


def _group_parts(variables: Iterable[Any]) -> dict[str, list[Any]]:
    """Returns name -> the variable, or its parts, without duplicates."""
    grouped: dict[str, list[Any]] = {}
    for variable in variables:
        for part in [variable] if hasattr(variable, "op") else list(variable):
            parts = grouped.setdefault(saved_name(part), [])
            if not any(part is known for known in parts):
                parts.append(part)
    return grouped


def _is_global_step(parts: Sequence[Any]) -> bool:
    return parts[0] is tf.train.get_global_step()


def _left_out(config: WarmStartOptions, name: str) -> Outcome | None:
    include = config.warm_start_include
    if include and not name.startswith(include):
        return Outcome.NOT_INCLUDED
    return Outcome.EXCLUDED if name.startswith(config.warm_start_exclude) else None


def _compare(name: str, source: str, parts: Sequence[Any], checkpoint: Checkpoint) -> Row:
    """Returns the row of a variable that is not left out."""
    shape = saved_name_and_shape(parts)[1]
    if source not in checkpoint:
        return Row(name, shape, source, Outcome.MISSING, "", parts)
    dtype, saved_shape = checkpoint.dtype(source), checkpoint.shape(source)
    if dtype != parts[0].dtype.base_dtype:
        return Row(name, shape, source, Outcome.MISMATCHED, f"{saved_shape} {dtype.name}", parts)
    if saved_shape != shape:
        return Row(name, shape, source, Outcome.MISMATCHED, str(saved_shape), parts)
    return Row(name, shape, source, Outcome.RESTORED, "", parts)


def _describe_missing(rows: Sequence[Row], checkpoint: Checkpoint) -> str:
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


def _describe_mismatched(rows: Sequence[Row]) -> str:
    lines = [f"{row.name} {row.cells()[2]}" for row in rows]
    return (
        f"{len(rows)} variables have another shape or type in the checkpoint:\n"
        f"{indented(lines, _SHOWN)}\nname them in --warm_start_exclude, or pass over them all "
        "with --warm_start_skip_mismatched"
    )


def _shorten(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (" ..." if len(names) > 3 else "") if names else "none"
