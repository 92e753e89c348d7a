"""`result.json`: what a run came to, for programs."""

from __future__ import annotations

import json
import os
from typing import Any

from tf_frame.atomic_output import write_file
from tf_frame.estimator.training.model_dir import RESULT_FILE


def write_result(model_dir: str, result: dict[str, Any]) -> None:
    """Writes the result of a run.

    A run that trained nothing, because the last step had been reached, keeps
    loss and throughput of the run that did.
    """
    before = read_result(model_dir)
    if result["steps_per_sec"] is None and before.get("global_step") == result["global_step"]:
        for name in ("loss", "steps_per_sec", "examples_per_sec"):
            result = {**result, name: before.get(name)}
    write_file(os.path.join(model_dir, RESULT_FILE), json.dumps(result, indent=2) + "\n")


def read_result(model_dir: str) -> dict[str, Any]:
    """Reads the result of the last run in this folder; empty if there is none."""
    try:
        with open(os.path.join(model_dir, RESULT_FILE), encoding="utf-8") as file:
            result = json.load(file)
    except (FileNotFoundError, ValueError):  # ValueError: not JSON, or not even text.
        return {}
    return result if isinstance(result, dict) else {}
