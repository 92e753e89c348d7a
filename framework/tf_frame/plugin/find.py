"""Finds plugins in the metadata of installed packages; imports none of them.

The metadata is read afresh in each process. stevedore's own cache can serve
entry points that are two minutes old and drops the distribution's name.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import re
import sys
from collections import Counter
from collections.abc import Iterator

from tf_frame.plugin.kinds import KINDS, Kind
from tf_frame.plugin.version import incompatibility

OK, CONFLICT, INCOMPATIBLE = "ok", "conflict", "incompatible"


@dataclasses.dataclass(frozen=True)
class PluginInfo:
    """A plugin that is installed, seen from outside.

    Attributes:
      kind: what it is.
      name: what users call it.
      target: `module:attribute` of its entry point.
      distribution, version: the package that brings it.
      state: `ok`, `conflict` or `incompatible`.
      problem: why it cannot be used, empty if it can.
    """

    kind: Kind
    name: str
    target: str
    distribution: str
    version: str
    state: str = OK
    problem: str = ""

    @property
    def where(self) -> str:
        """The entry point and its package, for messages."""
        return (
            f"entry point {self.kind.group}: {self.name} = {self.target} "
            f"of {self.distribution} {self.version}"
        )


def normalised(distribution: str) -> str:
    """Spells a package's name the one way that pip compares: `My_Line` as `my-line`."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def find_plugins() -> list[PluginInfo]:
    """Lists the installed plugins of every kind, sorted by kind and name."""
    found = sorted(set(_scan()), key=lambda f: (KINDS.index(f.kind), f.name, f.distribution))
    names = Counter((f.kind, f.name) for f in found)
    return [_judge(f, found) if f.state == OK and names[f.kind, f.name] > 1 else f for f in found]


def _scan() -> Iterator[PluginInfo]:
    kinds = {kind.group: kind for kind in KINDS}
    for name, distribution in _distributions():
        problem, version = None, ""
        for entry_point in _entry_points(distribution):
            if entry_point.group not in kinds:
                continue
            if problem is None:
                # Each of these parses the whole metadata.
                problem = incompatibility(distribution.requires or [])
                version = distribution.version
            yield PluginInfo(
                kinds[entry_point.group],
                entry_point.name,
                entry_point.value,
                name,
                version,
                INCOMPATIBLE if problem else OK,
                problem,
            )


def _distributions() -> Iterator[tuple[str, importlib.metadata.Distribution]]:
    """Yields each installed package once, the first on the path, as imports see it."""
    seen = set()
    for distribution in importlib.metadata.distributions():
        name = distribution.metadata["Name"] if _has_entry_points(distribution) else None
        if name and normalised(name) not in seen:
            seen.add(normalised(name))
            yield name, distribution


def _has_entry_points(distribution: importlib.metadata.Distribution) -> bool:
    try:
        return "tf_frame." in (distribution.read_text("entry_points.txt") or "")
    except UnicodeDecodeError:
        return True  # `_entry_points` reports it.


def _entry_points(
    distribution: importlib.metadata.Distribution,
) -> list[importlib.metadata.EntryPoint]:
    try:
        return list(distribution.entry_points)
    except (ValueError, TypeError) as error:
        # A malformed entry_points.txt must not hide the others.
        problem = f"its entry_points.txt cannot be read ({error})"
        print(f"tf-frame: passing over {distribution.name}: {problem}", file=sys.stderr)
        return []


def _judge(found: PluginInfo, others: list[PluginInfo]) -> PluginInfo:
    rivals = [f for f in others if (f.kind, f.name) == (found.kind, found.name) and f != found]
    places = ", ".join(f"{f.target} of {f.distribution} {f.version}" for f in rivals)
    problem = f"the {found.kind.word} name {found.name!r} is also taken by {places}"
    return dataclasses.replace(found, state=CONFLICT, problem=problem)
