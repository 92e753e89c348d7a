"""What a warm start does with each variable of the graph."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.match import saved_as
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.checkpoint.text import aligned
from tf_frame.checkpoint.warm_start.rules import (
    parse_rules,
    rename,
    warn_of_prefixes,
    warn_of_unmatched,
)
from tf_frame.config.option_groups import WarmStartOptions


class Outcome(str, enum.Enum):
    """What becomes of a variable."""

    RESTORED = "restored"
    EXCLUDED = "excluded"
    NOT_INCLUDED = "not included"
    MISSING = "missing"
    MISMATCHED = "mismatched"


@dataclasses.dataclass(frozen=True)
class Row:
    """One variable of the graph.

    Attributes:
      name: its name; the parts of a partitioned variable are one row.
      shape: its shape.
      source: its name in the checkpoint, after `--warm_start_map`.
      outcome: what becomes of it.
      found: shape in the checkpoint, and type if that differs; for MISMATCHED.
      parts: the variable, or its parts.
    """

    name: str
    shape: Sequence[int]
    source: str
    outcome: Outcome
    found: str
    parts: Sequence[Any] = dataclasses.field(repr=False, compare=False)

    def cells(self) -> Sequence[str]:
        """The row of the table; the source is left out where nobody looked for it."""
        looked_for = self.outcome not in (Outcome.EXCLUDED, Outcome.NOT_INCLUDED)
        shape = f"{list(self.shape)}" + (f", {self.found} in the checkpoint" if self.found else "")
        return self.outcome.value, self.name, shape, self.source if looked_for else ""


def rows_of(
    config: WarmStartOptions, variables: Iterable[Any], checkpoint: Checkpoint
) -> Sequence[Row]:
    """Decides about each variable.

    Args:
      config: include, exclude and map; the global step passes by all three.
      variables: those of the graph, parts of partitioned ones among them.
      checkpoint: where values come from.

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
        elif outcome := _passed_over(config, name):
            rows.append(Row(name, saved_as(parts)[1], "", outcome, "", parts))
        else:
            rows.append(_compared(name, rename(name, rules), parts, checkpoint))
    return rows


def table_of(rows: Iterable[Row]) -> str:
    """The rows as text, with a heading."""
    heading = ("OUTCOME", "VARIABLE", "SHAPE", "IN THE CHECKPOINT")
    return aligned([heading, *(row.cells() for row in rows)])


def _whole_variables(variables: Iterable[Any]) -> dict[str, list[Any]]:
    """Name -> the variable, or its parts; each once."""
    whole: dict[str, list[Any]] = {}
    for variable in variables:
        for part in [variable] if hasattr(variable, "op") else list(variable):
            parts = whole.setdefault(saved_as(part)[0], [])
            if not any(part is other for other in parts):
                parts.append(part)
    return whole


def _is_global_step(parts: Sequence[Any]) -> bool:
    return parts[0] is tf.train.get_global_step()


def _passed_over(config: WarmStartOptions, name: str) -> Outcome | None:
    include = config.warm_start_include
    if include and not name.startswith(include):
        return Outcome.NOT_INCLUDED
    return Outcome.EXCLUDED if name.startswith(config.warm_start_exclude) else None


def _compared(name: str, source: str, parts: Sequence[Any], checkpoint: Checkpoint) -> Row:
    """The row of a variable that is to be restored, if it can be."""
    shape = saved_as(parts)[1]
    if source not in checkpoint:
        return Row(name, shape, source, Outcome.MISSING, "", parts)
    dtype, found = checkpoint.dtype(source), checkpoint.shape(source)
    if dtype != parts[0].dtype.base_dtype:
        return Row(name, shape, source, Outcome.MISMATCHED, f"{found} {dtype.name}", parts)
    if found != shape:
        return Row(name, shape, source, Outcome.MISMATCHED, str(found), parts)
    return Row(name, shape, source, Outcome.RESTORED, "", parts)
