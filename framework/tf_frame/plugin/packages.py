"""Reads the metadata of installed packages that have plugins, without importing any of them.

`importlib.metadata` parses the whole file, long description included, for each attribute; here
its header is read once, so that hundreds of packages with plugins cost little.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator

from tf_frame.errors import PluginError

OWN_DISTRIBUTION = "tf-frame"


@dataclasses.dataclass(frozen=True)
class Package:
    """An installed package with entry points of tf-frame.

    Attributes:
      name, version: those of its metadata.
      requires: the lines of its requirements.
      entry_points: all its entry points.
    """

    name: str
    version: str
    requires: tuple[str, ...]
    entry_points: tuple[importlib.metadata.EntryPoint, ...]


@functools.lru_cache(maxsize=4096)
def canonical_name(distribution: str) -> str:
    """Returns a package's name in the spelling that pip compares: `My_Line` as `my-line`."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def is_own(distribution: str) -> bool:
    """Returns whether a package is tf-frame itself."""
    return canonical_name(distribution) == OWN_DISTRIBUTION


def packages(*, strict: bool = False) -> Iterator[Package]:
    """Yields each package with plugins once: the first one on the path, as imports find it.

    Args:
      strict: whether a package whose entry points cannot be read is an error.

    Raises:
      PluginError: entry points cannot be read, and `strict` is set.
    """
    seen = set()
    for distribution in importlib.metadata.distributions():
        if _is_remnant(distribution) or not _has_plugins(distribution):
            continue
        fields = metadata_fields(distribution)
        name = next(iter(fields["name"]), "")
        if not name or canonical_name(name) in seen:
            continue
        seen.add(canonical_name(name))
        version = next(iter(fields["version"]), "")
        requires = fields["requires-dist"]
        if not requires and distribution.read_text("requires.txt"):  # From before wheels.
            requires = distribution.requires or []
        yield Package(name, version, tuple(requires), _entry_points(distribution, name, strict))


def metadata_fields(distribution: importlib.metadata.Distribution) -> dict[str, list[str]]:
    """Returns the one-line fields of a package's metadata.

    Returns:
      Name in lower case -> its values; an empty list for a field that is not there.
    """
    # The second is that of packages from before wheels.
    text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
    fields: dict[str, list[str]] = defaultdict(list)
    for line in text.splitlines():
        if not line:
            break  # The description follows.
        if not line[0].isspace():
            name, _, value = line.partition(":")
            fields[name.lower()].append(value.strip())
    return fields


def _is_remnant(distribution: importlib.metadata.Distribution) -> bool:
    """Returns whether this is what pip has renamed to remove it, and was stopped before."""
    return os.path.basename(str(getattr(distribution, "_path", ""))).startswith("~")


def _has_plugins(distribution: importlib.metadata.Distribution) -> bool:
    try:
        return "tf_frame." in (distribution.read_text("entry_points.txt") or "")
    except UnicodeDecodeError:
        return True  # `_entry_points` reports the error.


def _entry_points(
    distribution: importlib.metadata.Distribution, name: str, strict: bool
) -> tuple[importlib.metadata.EntryPoint, ...]:
    try:
        return tuple(distribution.entry_points)
    except (ValueError, TypeError) as error:
        # A malformed entry_points.txt must not hide the plugins of other packages.
        problem = f"its entry_points.txt cannot be read ({error})"
    if strict:
        raise PluginError(f"{name}: {problem}; uninstall it, or unset TF_FRAME_STRICT_PLUGINS")
    print(f"tf-frame: skipping {name}: {problem}", file=sys.stderr)
    return ()
