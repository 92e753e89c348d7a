"""Output of `tf-frame checkpoint`: tables for a terminal, and JSON (`--json`) for scripts."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import Any

from tf_frame.text import columns, readable_bytes


def size_text(size_bytes: int | None) -> str:
    """Returns a size with its unit; `-` for None."""
    return "-" if size_bytes is None else readable_bytes(size_bytes)


def entries(checkpoints: Sequence[Any], folder: str) -> str:
    """Returns the table of `list` from the result of `list_checkpoints`."""
    if not checkpoints:
        return f"no checkpoints in {folder}"
    rows = [("CHECKPOINT", "STEP", "SAVED", "SIZE", "VARIABLES", "PARAMETERS", "STATE")]
    for entry in checkpoints:
        rows.append(
            (
                entry.path,
                _cell(entry.step),
                _time_text(entry.saved_at_secs),
                size_text(entry.size_bytes),
                _cell(entry.variables),
                _cell(entry.parameters),
                f"damaged: {entry.damage}" if entry.damage else "ok",
            )
        )
    return columns(rows, indent=0)


def entries_as_json(checkpoints: Sequence[Any]) -> list[dict[str, Any]]:
    """Returns the result of `list --json`."""
    return [{**dataclasses.asdict(entry), "readable": not entry.damage} for entry in checkpoints]


def contents(path: str, step: int | None, described: Sequence[Any]) -> str:
    """Returns the table of `show` from the result of `describe_variables`."""
    values = any(content.statistics for content in described)
    heading = ["VARIABLE", "SHAPE", "TYPE", "BYTES"]
    heading += ["MIN", "MAX", "MEAN", "NORM", "NAN", "INF"] if values else []
    rows = [heading]
    for content in described:
        row = [content.name, str(content.shape), content.dtype, _cell(content.size_bytes)]
        rows.append(row + (_statistics(content.statistics) if values else []))
    totals = _totals(described)
    at_step = "" if step is None else f" at step {step}"
    summary = (
        f"{path}{at_step}: {totals['variables']} variables, {totals['parameters']} parameters, "
        f"{size_text(totals['size_bytes'])}"
    )
    return f"{columns(rows, indent=0)}\n{summary}"


def contents_as_json(path: str, step: int | None, variables: Sequence[Any]) -> dict[str, Any]:
    """Returns the result of `show --json`."""
    described = [dataclasses.asdict(content) for content in variables]
    return {"path": path, "step": step, **_totals(variables), "contents": described}


def _totals(described: Sequence[Any]) -> dict[str, int]:
    return {
        "variables": len(described),
        "parameters": sum(content.size for content in described),
        "size_bytes": sum(content.size_bytes or 0 for content in described),
    }


def _statistics(statistics: Any) -> list[str]:
    return list(map(_cell, dataclasses.astuple(statistics))) if statistics else ["-"] * 6


def difference(first: str, second: str, result: Any) -> str:
    """Returns the lists of `diff` from the result of `compare_checkpoints`."""
    lists = [
        (f"only in {first}", [(name,) for name in result.only_in_first]),
        (f"only in {second}", [(name,) for name in result.only_in_second]),
        ("other shape or type", result.other_shapes),
        ("other values (largest absolute difference)", result.other_values),
    ]
    texts = [
        f"{title}: {len(rows)}\n{columns([[_cell(value) for value in row] for row in rows])}"
        for title, rows in lists
        if rows
    ]
    if not texts:
        return f"no difference in {len(result.same)} variables"
    return "\n".join([*texts, f"the same: {len(result.same)}"])


def difference_as_json(result: Any) -> dict[str, Any]:
    """Returns the result of `diff --json`."""
    return {
        "only_in_first": result.only_in_first,
        "only_in_second": result.only_in_second,
        "other_shapes": [
            {"name": name, "first": first, "second": second}
            for name, first, second in result.other_shapes
        ],
        "other_values": [
            {"name": name, "max_abs_difference": largest} for name, largest in result.other_values
        ],
        "same": len(result.same),
    }


def rewriting(plan: Any, *, written: bool) -> str:
    """Returns the table of `rename` from the result of `plan_rewriting`."""
    rows = [(old, "->", new) for old, new in plan.changed.items()]
    rows += [(name, "->", "(dropped)") for name in plan.dropped]
    summary = (
        f"{'wrote' if written else 'would write'} {plan.destination}: {len(plan.changed)} "
        f"variables renamed, {len(plan.dropped)} dropped, "
        f"{len(plan.renamed) - len(plan.changed)} as they were"
    )
    return f"{columns(rows)}\n{summary}"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "-" if value is None else str(value)


def _time_text(secs: float | None) -> str:
    return "-" if secs is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(secs))
