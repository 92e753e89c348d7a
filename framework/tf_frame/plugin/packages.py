"""Reads the metadata of installed packages that have plugins, without importing any of them.

`importlib.metadata` parses the whole file, long description included, for each attribute; this
module parses only the header, once, so that hundreds of packages with plugins cost little.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

from packaging.utils import canonicalize_name

from tf_frame.shell_text import shell_word
from tf_frame.text import brief

OWN_DISTRIBUTION = "tf-frame"
# The beginning of the entry-point groups of all kinds.
_GROUPS = "tf_frame."
_METADATA_FILES = ("METADATA", "PKG-INFO", "entry_points.txt")


class EntryPoint(NamedTuple):
    """A line of entry_points.txt and the section above it."""

    group: str
    name: str
    value: str


@dataclasses.dataclass(frozen=True)
class Package:
    """An installed package with entry points of tf-frame.

    Attributes:
      name, version, summary: fields of its metadata.
      requires: the lines of its requirements.
      entry_points: the entry points in groups of tf-frame.
      folder: the folder of its metadata.
      problem: why it cannot be read; empty if it can.
    """

    name: str
    version: str
    summary: str
    requires: tuple[str, ...]
    entry_points: tuple[EntryPoint, ...]
    folder: str
    problem: str


def is_own(distribution: str) -> bool:
    """Returns whether a package is tf-frame itself."""
    return canonicalize_name(distribution) == OWN_DISTRIBUTION


def packages() -> Iterator[Package]:
    """Yields each package with plugins once: the first one on the path, as imports find it."""
    seen = set()
    for distribution in importlib.metadata.distributions():
        entry_points, problem = _read_entry_points(distribution)
        if not (entry_points or problem) or _is_remnant(distribution):
            continue
        fields = metadata_fields(distribution)
        name = next(iter(fields["name"]), "")
        if not name:
            name, problem = _folder(distribution), "its METADATA is missing or has no name"
        if canonicalize_name(name) in seen:
            continue
        seen.add(canonicalize_name(name))
        version, summary = (next(iter(fields[key]), "") for key in ("version", "summary"))
        requires = _requires(distribution, fields)
        folder = _folder(distribution)
        yield Package(name, version, summary, requires, entry_points, folder, problem)


def state_of_files(folders: Iterable[str]) -> tuple[object, ...]:
    """Returns a value that differs once a package was installed, removed or changed.

    Args:
      folders: the folders of the metadata of the packages with plugins.
    """
    files = [os.path.join(folder, name) for folder in folders for name in _METADATA_FILES]
    return tuple(map(_state_of_file, [*(path or "." for path in sys.path), *files]))


def _state_of_file(path: str) -> tuple[object, ...]:
    try:
        state = os.stat(path)
    except OSError:
        return (path,)
    return path, state.st_ino, state.st_size, state.st_mtime_ns


def metadata_fields(distribution: importlib.metadata.Distribution) -> dict[str, list[str]]:
    """Returns name in lower case -> values of the one-line fields of a package's metadata."""
    # Packages from before wheels have PKG-INFO.
    text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
    fields: dict[str, list[str]] = defaultdict(list)
    for line in text.splitlines():
        if not line:
            break  # The description follows.
        if not line[0].isspace():
            name, _, value = line.partition(":")
            fields[name.lower()].append(value.strip())
    return fields


def source_folder(name: str) -> tuple[str, bool]:
    """Returns the folder that a package was installed from, and whether by `pip install -e`.

    The folder is empty for a package from elsewhere. pip records both:
    https://packaging.python.org/specifications/direct-url.
    """
    try:
        text = importlib.metadata.distribution(name).read_text("direct_url.json")
        record = json.loads(text or "{}")
        url, is_editable = record.get("url", ""), record.get("dir_info", {}).get("editable", False)
    except (importlib.metadata.PackageNotFoundError, ValueError, AttributeError):
        return "", False
    folder = unquote(url.removeprefix("file://")) if url.startswith("file://") else ""
    return (folder, bool(is_editable)) if os.path.isdir(folder) else ("", False)


def tell_authors(distribution: str) -> str:
    """Returns the remedy for a defect that only the authors of a package can mend."""
    return _remedy(distribution, f"tell the authors of {distribution}")


def reinstall(distribution: str) -> str:
    """Returns the remedy for a package that lacks files."""
    return _remedy(distribution, f"pip install --force-reinstall {distribution}")


def upgrade(distribution: str) -> str:
    """Returns the remedy for a package with code that fails."""
    return _remedy(distribution, f"pip install --upgrade {distribution}")


def _remedy(distribution: str, advice: str) -> str:
    """Returns the advice; for a package that was installed from a folder, to correct it there."""
    folder, is_editable = source_folder(distribution)
    if folder:
        again = f"pip install {'-e ' if is_editable else ''}{shell_word(folder)}"
        when = " if its setup.py or pyproject.toml changes" if is_editable else " again"
        advice = f"correct it in {folder}, {again}{when}"
        if is_editable:
            return advice  # The user is its author.
    return f"{advice}, or uninstall it"


def _is_remnant(distribution: importlib.metadata.Distribution) -> bool:
    """Returns whether pip has renamed the folder to remove the package, and was stopped."""
    return os.path.basename(_folder(distribution)).startswith("~")


def _folder(distribution: importlib.metadata.Distribution) -> str:
    """Returns the folder of a package's metadata."""
    return str(getattr(distribution, "_path", ""))


def _requires(
    distribution: importlib.metadata.Distribution, fields: dict[str, list[str]]
) -> tuple[str, ...]:
    if not fields["requires-dist"] and distribution.read_text("requires.txt"):
        return tuple(distribution.requires or ())  # Of packages from before wheels.
    return tuple(fields["requires-dist"])


def _read_entry_points(
    distribution: importlib.metadata.Distribution,
) -> tuple[tuple[EntryPoint, ...], str]:
    """Returns a package's entry points for tf-frame, and why they cannot be read."""
    try:
        text = distribution.read_text("entry_points.txt") or ""
        return tuple(_entry_points(text)) if _GROUPS in text else (), ""
    except ValueError as error:  # Also of bytes that are no text.
        # It must not hide the plugins of other packages.
        return (), f"its entry_points.txt cannot be read ({error})"


def _entry_points(text: str) -> Iterator[EntryPoint]:
    """Parses entry_points.txt; `importlib.metadata` would read it once more.

    Raises:
      ValueError: a line is neither a section nor `name = value`.
    """
    group = ""
    for line in filter(None, map(str.strip, text.splitlines())):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif not line.startswith("#"):
            name, equals, value = line.partition("=")
            if not equals:
                raise ValueError(f"{brief(line)} has no value")
            if group.startswith(_GROUPS):
                yield EntryPoint(group, name.strip(), value.strip())
