"""Files that describe an exported model.

`README.json` describes inputs, signatures, classes and versions; `class_names.txt` has a line for
each class, in the order of the labels.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tf_frame.atomic_output import write_file
from tf_frame.runs.export.serving import Request
from tf_frame.runs.export.staging import Written
from tf_frame.text_file import split_lines

README_FILE = "README.json"
CLASS_NAMES_FILE = "class_names.txt"


def write_readme(
    folder: str, format_name: str, written: Written, request: Request, about: Mapping[str, Any]
) -> None:
    """Writes `README.json` into a folder; `about` has further facts, such as versions."""
    content = {
        "format": format_name,
        "checkpoint": os.path.basename(request.checkpoint),
        **about,
        "inputs": {name: _input(name, spec, request) for name, spec in written.inputs.items()},
        "signatures": {
            name: {
                "inputs": list(written.fed[name]),
                "outputs": {key: _describe(spec) for key, spec in outputs.items()},
            }
            for name, outputs in written.signatures.items()
        },
        "class_names": find_class_names(request),
    }
    write_file(os.path.join(folder, README_FILE), json.dumps(content, indent=2) + "\n")


def write_class_names(request: Request, folder: str) -> str | None:
    """Writes `class_names.txt` into a folder; returns the path, or None without names."""
    names = find_class_names(request)
    if not names:
        return None
    path = os.path.join(folder, CLASS_NAMES_FILE)
    lines = "".join(f"{' '.join(split_lines(name))}\n" for name in names)
    write_file(path, lines.encode("utf-8", "surrogateescape"))
    return path


def find_class_names(request: Request) -> Sequence[str]:
    """Returns the names of the model's classes; empty without any."""
    info = getattr(request.model, "info", None)
    return list(getattr(info, "class_names", ()))


def _input(name: str, spec: Any, request: Request) -> dict[str, Any]:
    description = _describe(spec)
    values = request.inputs.values.get(name)
    if values:
        description["values"] = values
    array = np.asarray(request.inputs.batch[name])
    if request.inputs.is_real and array.size and array.dtype.kind in "iuf":
        description["smallest"], description["largest"] = array.min().item(), array.max().item()
    return description


def _describe(spec: Any) -> dict[str, Any]:
    shape = None if spec.shape.rank is None else spec.shape.as_list()
    return {"dtype": spec.dtype.name, "shape": shape}
