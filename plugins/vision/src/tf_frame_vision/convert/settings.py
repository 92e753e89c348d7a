"""Writes the files next to the shards: names of classes, and settings that a rerun must repeat.

A rerun with other settings or files is refused, because it would mix shards of two data sets.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tf_frame.atomic_output import write_file
from tf_frame.errors import ConfigError, DataError
from tf_frame.text import brief, listed, short
from tf_frame.text_file import is_unicode, read_json, split_lines


def settings_path(output: Path, split: str) -> Path:
    """Returns the path of the settings of a split."""
    return output / f"{split}.conversion.json"


def claim(output: Path, split: str, settings: Mapping[str, Any]) -> None:
    """Writes the settings of a new conversion, or compares them with those of the shards there.

    Raises:
      ConfigError: the shards were made with other settings, or with unknown ones.
    """
    path = settings_path(output, split)
    shards = sorted(output.glob(f"{split}-*-of-*"))
    if shards and not path.exists():
        raise ConfigError(
            f"{output} holds {shards[0].name}, but no {path.name} that says how it was made; "
            f"choose another folder, or delete the files {split}-*"
        )
    if shards:
        _compare(path, split, settings)
    else:
        write_file(str(path), _as_json({"settings": settings}))


def same_files(output: Path, split: str, settings: Mapping[str, Any]) -> list[str]:
    """Returns a warning for each other split in the folder with the same source files."""
    lines = []
    for path in sorted(output.glob("*.conversion.json")):
        other = path.name.removesuffix(".conversion.json")
        with contextlib.suppress(DataError, ValueError, KeyError, TypeError):
            theirs = dict(read_json(path)["settings"])
            if other != split and _same_files(theirs, settings, {other, split}):
                lines.append(
                    f"{split} is made of the same files as {other}, so evaluation would measure "
                    "examples of the training; divide them by --eval_fraction"
                )
    return lines


def _same_files(one: Mapping[str, Any], other: Mapping[str, Any], splits: set[str]) -> bool:
    # Published data sets have one set of files for both.
    if splits == {"test", "validation"} or one["source"] != other["source"]:
        return False
    # Two parts of one division have no picture in common.
    same_division = all(one[key] == other[key] for key in ("eval_fraction", "seed"))
    return not (one["eval_fraction"] and same_division)


def finish(
    output: Path, split: str, settings: Mapping[str, Any], result: Mapping[str, Any]
) -> None:
    """Adds the outcome of the conversion to its settings."""
    path = str(settings_path(output, split))
    write_file(path, _as_json({"settings": settings, "result": result}))


def write_names(output: Path, file: str, lines: Sequence[str]) -> None:
    """Writes the classes, a line each.

    Args:
      file: name of the file.
      lines: its lines.

    Raises:
      DataError: the file of another split names other classes, or a line cannot be read again.
    """
    path = output / file
    for line in lines:
        if split_lines(line) != [line] or "\0" in line or not is_unicode(line):
            raise DataError(
                f"{short(file)} cannot hold {brief(line)}, which has a line end, a zero or bytes "
                "that are no text; rename the class"
            )
    content = "\n".join([*lines, ""]).encode()
    if path.exists() and path.read_bytes() != content:
        raise DataError(
            f"{short(path)} names other classes than these: {listed(lines[:5])}"
            f"{' ...' if len(lines) > 5 else ''}; all splits in a folder must have the same classes"
        )
    write_file(str(path), content)


def _as_json(value: Any) -> str:
    return json.dumps(value, indent=1) + "\n"


def _compare(path: Path, split: str, settings: Mapping[str, Any]) -> None:
    try:
        earlier = dict(read_json(path)["settings"])
    except (DataError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{short(path)} is damaged ({error}); delete it and the files {split}-*"
        ) from error
    changed_keys = [key for key, value in settings.items() if earlier.get(key) != value]
    if changed_keys:
        differences = ", ".join(
            _difference(key, earlier.get(key), settings[key]) for key in changed_keys
        )
        raise ConfigError(
            f"the shards of {split} in {path.parent} were made of something else: {differences}; "
            f"choose another folder, or delete {path.name} and the files {split}-*"
        )


def _difference(key: str, earlier: Any, now: Any) -> str:
    if key == "source":
        return "the files of SOURCE have changed"
    return f"{key} was {earlier}, now {now}"
