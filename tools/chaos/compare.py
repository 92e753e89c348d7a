"""Compares the folder of a killed run with that of a run that was never killed."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.by_name.early_stopping import EvalMetricsReader

# Position in the input: serialised iterators are equal in what they yield, not in bytes.
_POSITION = "input_position/"
_TIMES = re.compile(r"time|.*_per_sec")
_STEPS_OF_PROFILE = re.compile(r"_step_([0-9]+)$")


def differences(expected: Path, killed: Path) -> Iterator[str]:
    """Yields a line for each part of the killed run that differs."""
    one, other = _checkpoints(expected), _checkpoints(killed)
    for name in one.keys() & other.keys():
        if one[name] != other[name]:
            yield f"variables of {name}: {', '.join(_different(one[name], other[name]))}"
    for what, read in _PARTS.items():
        one, other = read(expected), read(killed)
        if one != other:
            yield f"{what}: {', '.join(_different(one, other))}"


def _different(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Returns the first keys with different values."""
    return [key for key in {**one, **other} if one.get(key) != other.get(key)][:5]


def _checkpoints(folder: Path) -> dict[str, dict[str, bytes]]:
    """Returns checkpoint -> variable -> bytes, of the run and of the best ones."""
    paths = [*folder.glob("*.index"), *(folder / "best").glob("*.index")]
    return {
        str(path.relative_to(folder).with_suffix("")): _variables(path.with_suffix(""))
        for path in sorted(paths)
    }


def _variables(prefix: Path) -> dict[str, bytes]:
    reader = tf.train.NewCheckpointReader(str(prefix))
    return {
        name: reader.get_tensor(name).tobytes()
        for name in reader.get_variable_to_shape_map()
        if not name.startswith(_POSITION)
    }


def _last_checkpoints(folder: Path) -> dict[str, str]:
    """Returns folder -> newest checkpoint: a resumed run may save at other steps before it."""
    folders = {"run": folder, "best": folder / "best"}
    return {
        name: str(tf.train.latest_checkpoint(str(path)) or "").rpartition("/")[2]
        for name, path in folders.items()
    }


def _rows(folder: Path) -> dict[str, Any]:
    path = folder / "metrics.csv"
    rows = list(csv.DictReader(path.open(newline=""))) if path.exists() else []
    return {
        f"{row['split']} {row['step']}": {n: v for n, v in row.items() if not _TIMES.fullmatch(n)}
        for row in rows
    } | {"rows": len(rows)}


def _evaluations(folder: Path) -> dict[str, Any]:
    evaluations = EvalMetricsReader(str(folder / "eval")).read()
    # As texts: NaN is equal to NaN.
    return {str(step): repr(sorted(values.items())) for step, values in evaluations.items()}


def _json(name: str, *keys: str) -> Any:
    def read(folder: Path) -> dict[str, Any]:
        path = folder / name
        content = json.loads(path.read_text()) if path.exists() else {}
        return {key: content.get(key) for key in keys}

    return read


def _exports(folder: Path) -> dict[str, Any]:
    path = folder / "export" / "best" / ".best.json"
    entries = json.loads(path.read_text())["exports"] if path.exists() else []
    return {str(number): entry["metrics"] for number, entry in enumerate(entries)}


def _profiles(folder: Path) -> dict[str, Any]:
    """Returns whether there is a profile of a scheduled step; a killed run makes it later."""
    names = [path.name for path in (folder / "plugins" / "profile").glob("*")]
    return {"any": any(_STEPS_OF_PROFILE.search(name) for name in names)}


_PARTS = {
    "last checkpoints": _last_checkpoints,
    "metrics.csv": _rows,
    "evaluations": _evaluations,
    "result.json": _json("result.json", "global_step", "metrics", "metrics_step"),
    "best.json": _json("best/best.json", "metric", "higher_is_better", "checkpoints"),
    "exports": _exports,
    "profiles": _profiles,
}
