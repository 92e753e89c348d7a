"""Lists the plugins of the installed packages from their metadata, without importing any.

So a package that is broken or slow to import affects neither the list nor a run that does not
use it. The metadata is read anew in each process. stevedore's own cache can serve
entry points that are two minutes old and drops the distribution's name.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator

import tf_frame
from tf_frame.plugin.kinds import KINDS, Kind

OWN_DISTRIBUTION = "tf-frame"
OK, CONFLICT, INCOMPATIBLE = "ok", "conflict", "incompatible"


@dataclasses.dataclass(frozen=True)
class PluginInfo:
    """Metadata of an installed plugin.

    Attributes:
      kind: its kind.
      name: its name on the command line.
      target: `module:attribute` of its entry point.
      distribution, version: the package that contains it.
      state: `ok`, `conflict` or `incompatible`.
      problem: the reason why it cannot be used, empty if it can.
    """

    kind: Kind
    name: str
    target: str
    distribution: str
    version: str
    state: str = OK
    problem: str = ""

    @property
    def described(self) -> str:
        """Kind, name and package, for messages."""
        return f"the {self.kind.word} {self.name!r} of {self.distribution} {self.version}"

    @property
    def where(self) -> str:
        """The entry point and its package, for messages."""
        return (
            f"entry point {self.kind.group}: {self.name} = {self.target} "
            f"of {self.distribution} {self.version}"
        )


def find_plugins() -> list[PluginInfo]:
    """Lists the installed plugins of every kind, sorted by kind and name."""
    plugins = sorted(set(_scan()), key=lambda p: (KINDS.index(p.kind), p.name, p.distribution))
    count = Counter((p.kind, p.name) for p in plugins)
    return [
        _in_conflict(p, plugins) if p.state == OK and count[p.kind, p.name] > 1 else p
        for p in plugins
    ]


def canonical_name(distribution: str) -> str:
    """Returns a package's name in the spelling that pip compares: `My_Line` as `my-line`."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def incompatibility(requirements: Iterable[str]) -> str:
    """Checks a package's requirements against the version of this tf-frame.

    Args:
      requirements: lines of the package's metadata, such as `tf-frame<0.2,>=0.1`.

    Returns:
      The requirement that is not met, in words; empty if all are met.
    """
    from packaging.requirements import InvalidRequirement, Requirement

    for line in requirements:
        if not re.match(r"tf[-_.]+frame(?![-_.\w])", line, re.IGNORECASE):
            continue
        try:
            requirement = Requirement(line)
        except InvalidRequirement as error:
            return f"its requirement {line!r} cannot be read: {error}"
        specifier, marker = requirement.specifier, requirement.marker
        if marker is not None and not marker.evaluate({"extra": ""}):
            continue
        if not specifier.contains(tf_frame.__version__, prereleases=True):
            return f"it needs tf-frame{specifier}, this is tf-frame {tf_frame.__version__}"
    return ""


def _scan() -> Iterator[PluginInfo]:
    kinds = {kind.group: kind for kind in KINDS}
    for name, distribution in _distributions():
        entry_points = [e for e in _entry_points(distribution) if e.group in kinds]
        if not entry_points:
            continue
        # Read only for packages with plugins, because each attribute parses the whole metadata.
        problem, version = incompatibility(distribution.requires or []), distribution.version
        state = INCOMPATIBLE if problem else OK
        for each in entry_points:
            yield PluginInfo(
                kinds[each.group], each.name, each.value, name, version, state, problem
            )


def _distributions() -> Iterator[tuple[str, importlib.metadata.Distribution]]:
    """Yields each installed package once: the first one on the path, as imports find it."""
    seen = set()
    for distribution in importlib.metadata.distributions():
        name = distribution.metadata["Name"] if _has_entry_points(distribution) else None
        if name and canonical_name(name) not in seen:
            seen.add(canonical_name(name))
            yield name, distribution


def _has_entry_points(distribution: importlib.metadata.Distribution) -> bool:
    try:
        return "tf_frame." in (distribution.read_text("entry_points.txt") or "")
    except UnicodeDecodeError:
        return True  # `_entry_points` reports the error.


def _entry_points(
    distribution: importlib.metadata.Distribution,
) -> list[importlib.metadata.EntryPoint]:
    try:
        return list(distribution.entry_points)
    except (ValueError, TypeError) as error:
        # A malformed entry_points.txt must not hide the plugins of other packages.
        problem = f"its entry_points.txt cannot be read ({error})"
        print(f"tf-frame: skipping {distribution.name}: {problem}", file=sys.stderr)
        return []


def _in_conflict(info: PluginInfo, plugins: list[PluginInfo]) -> PluginInfo:
    """Returns a plugin with the state CONFLICT if plugins of other packages have its name.

    tf-frame's own plugins keep their names, so that those are not in conflict.
    """
    if canonical_name(info.distribution) == OWN_DISTRIBUTION:
        return info
    others = [p for p in plugins if (p.kind, p.name) == (info.kind, info.name) and p != info]
    places = ", ".join(f"{p.target} of {p.distribution} {p.version}" for p in others)
    problem = f"the {info.kind.word} name {info.name!r} is also taken by {places}"
    if any(canonical_name(p.distribution) == OWN_DISTRIBUTION for p in others):
        problem += f", which keeps it; name this one {info.distribution}:{info.name}"
    return dataclasses.replace(info, state=CONFLICT, problem=problem)
