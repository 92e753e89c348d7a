"""Whether the options of a warm start allow what it found."""

from __future__ import annotations

from collections.abc import Sequence

from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.checkpoint.text import some
from tf_frame.checkpoint.warm_start.rows import Outcome, Row
from tf_frame.config.option_groups import WarmStartOptions
from tf_frame.config.values import nearest
from tf_frame.errors import CheckpointError

_SHOWN = 8


def check_rows(config: WarmStartOptions, rows: Sequence[Row], checkpoint: Checkpoint) -> None:
    """Compares what became of the variables with the options.

    Raises:
      CheckpointError: variables are missing or mismatched, or nothing at all
        was restored, and the options do not allow it.
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
    if not config.warm_start_allow_nothing and not any(r.outcome == Outcome.RESTORED for r in rows):
        raise CheckpointError(
            f"--warm_start_from {checkpoint.path}: none of the {len(rows)} variables was restored; "
            f"the graph has {_names([row.name for row in rows])}, the checkpoint "
            f"{_names(checkpoint.names)}. Map the names with --warm_start_map, or go on without "
            "by --warm_start_allow_nothing"
        )


def _missing(rows: Sequence[Row], checkpoint: Checkpoint) -> str:
    lines = []
    for row in rows[:_SHOWN]:
        near = nearest(row.source, checkpoint.names)
        looked_for = f" (looked for as {row.source})" if row.source != row.name else ""
        lines.append(f"{row.name} {list(row.shape)}{looked_for}" + (f": {near}?" if near else ""))
    lines += [row.name for row in rows[_SHOWN:]]
    return (
        f"{len(rows)} variables are not in the checkpoint:\n{some(lines, _SHOWN)}\nname them in "
        "--warm_start_exclude, map their names with --warm_start_map, or pass over them all with "
        "--warm_start_ignore_missing"
    )


def _mismatched(rows: Sequence[Row]) -> str:
    lines = [f"{row.name} {row.cells()[2]}" for row in rows]
    return (
        f"{len(rows)} variables have another shape or type in the checkpoint:\n"
        f"{some(lines, _SHOWN)}\nname them in --warm_start_exclude, or pass over them all with "
        "--warm_start_skip_mismatched"
    )


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (" ..." if len(names) > 3 else "") if names else "none"
