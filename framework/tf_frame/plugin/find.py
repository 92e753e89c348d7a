"""Lists the plugins of the installed packages from their metadata, without importing any.

So a package that is broken or slow to import affects neither the list nor the runs without this
package. The metadata is read anew in each process, so that a new package is there at once.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
from collections import Counter
from collections.abc import Callable, Iterator

from tf_frame.plugin.kinds import KINDS, Kind
from tf_frame.plugin.modules import find_missing_part, malformed, target_module
from tf_frame.plugin.packages import (
    OWN_DISTRIBUTION,
    EntryPoint,
    Package,
    is_own,
    packages,
    reinstall,
    tell_authors,
)
from tf_frame.plugin.requirements import incompatibility, installed_version, unmet, unreadable
from tf_frame.plugin.switches import Switches, read_switches

__all__ = ["OWN_DISTRIBUTION", "PluginInfo", "find_plugins"]

OK, CONFLICT, INCOMPATIBLE, DISABLED = "ok", "conflict", "incompatible", "disabled"
# A broken plugin may load nonetheless: a package of another name, such as tensorflow-cpu, may meet
# a requirement, and a package may find its modules only when it is imported.
BROKEN = "broken"


@dataclasses.dataclass(frozen=True)
class PluginInfo:
    """Metadata of an installed plugin.

    Attributes:
      kind: its kind.
      name: its name on the command line.
      target: `module:attribute` of its entry point.
      distribution, version: the package that contains it.
      state: `ok`, `conflict`, `incompatible`, `disabled` or, as far as metadata tells, `broken`.
      problem: the reason why it cannot be used, empty if it can.
      remedy: advice for the user.
      summary: one line about the package, from its metadata.
    """

    kind: Kind
    name: str
    target: str
    distribution: str
    version: str
    state: str = OK
    problem: str = ""
    remedy: str = ""
    summary: str = ""

    @property
    def option_prefix(self) -> str:
        """Prefix of the plugin's options on the command line, such as `transform.clip_by_norm`."""
        return self.kind.prefix.format(name=self.name)

    @property
    def described(self) -> str:
        """Kind, name and package, for messages."""
        return f"the {self.kind.word} {self.name!r} of {self.distribution} {self.version}"

    @property
    def where(self) -> str:
        """Entry point and package, for messages."""
        return (
            f"entry point {self.kind.group}: {self.name} = {self.target} "
            f"of {self.distribution} {self.version}"
        )


def find_plugins(switches: Switches | None = None) -> list[PluginInfo]:
    """Lists the installed plugins of every kind, sorted by kind and name.

    Args:
      switches: the plugins that may be used; by default read from environment and file.

    Raises:
      ConfigError: the variables or the file that disable plugins cannot be read.
      PluginError: the metadata of a package cannot be read, and plugins are strict.
    """
    plugins = sorted(set(_scan(switches or read_switches())), key=_order)
    count = Counter((p.kind, p.name) for p in plugins if p.state != DISABLED)
    return [
        _in_conflict(p, plugins) if p.state in (OK, BROKEN) and count[p.kind, p.name] > 1 else p
        for p in plugins
    ]


def _order(info: PluginInfo) -> tuple[int, str, str, str]:
    return KINDS.index(info.kind), info.name, info.distribution, info.target


def _scan(switches: Switches) -> Iterator[PluginInfo]:
    kinds = {kind.group: kind for kind in KINDS}
    version_of = functools.cache(installed_version)
    missing = functools.cache(find_missing_part)
    for package in packages(strict=switches.strict):
        package_problem = _package_problem(package, version_of)
        for point in package.entry_points:
            kind = kinds.get(point.group) or _similar_kind(point.group)
            if kind is None:
                continue
            state, problem, remedy = (
                _disabled(switches, package.name, point.name)
                or package_problem
                or _group_problem(point.group, kind, package.name)
                or _name_problem(point.name, kind, package.name)
                or _entry_point_problem(point, package.name, missing)
                or (OK, "", "")
            )
            names = point.name, point.value, package.name
            yield PluginInfo(kind, *names, package.version, state, problem, remedy, package.summary)


_State = tuple[str, str, str]


def _similar_kind(group: str) -> Kind | None:
    """Returns the kind of a misspelled group; None for other groups, as of a later tf-frame."""
    similar_groups = difflib.get_close_matches(
        group, [kind.group for kind in KINDS], n=1, cutoff=0.9
    )
    return next((kind for kind in KINDS if kind.group in similar_groups), None)


def _group_problem(group: str, kind: Kind, distribution: str) -> _State | None:
    if group == kind.group:
        return None
    problem = f"its entry-point group is {group}; expected {kind.group}"
    return INCOMPATIBLE, problem, tell_authors(distribution)


def _name_problem(name: str, kind: Kind, distribution: str) -> _State | None:
    if name not in kind.reserved:
        return None
    problem = f"tf-frame itself has a {kind.word} {name!r}"
    return INCOMPATIBLE, problem, tell_authors(distribution)


def _disabled(switches: Switches, distribution: str, name: str) -> _State | None:
    problem, remedy = switches.why_disabled(distribution, name)
    return (DISABLED, problem, remedy) if problem else None


def _package_problem(package: Package, version_of: Callable[[str], str | None]) -> _State | None:
    """Returns the problem of all plugins of a package; None if there is none."""
    if is_own(package.name):
        return None
    problem = unreadable(package.requires)
    if problem:
        return INCOMPATIBLE, problem, tell_authors(package.name)
    problem = incompatibility(package.requires)
    if problem:
        return INCOMPATIBLE, problem, f"pip install --upgrade tf-frame {package.name}"
    missing = unmet(package.requires, version_of)
    return (BROKEN, missing[1], f"pip install '{missing[0]}'") if missing else None


def _entry_point_problem(
    entry_point: EntryPoint, distribution: str, missing: Callable[[str], str]
) -> _State | None:
    """Returns the problem of a single entry point; None if there is none."""
    if is_own(distribution):
        return None
    problem = malformed(entry_point.name, entry_point.value)
    if problem:
        return BROKEN, problem, tell_authors(distribution)
    part = missing(target_module(entry_point.value))
    return (BROKEN, f"there is no module {part!r}", reinstall(distribution)) if part else None


def _in_conflict(info: PluginInfo, plugins: list[PluginInfo]) -> PluginInfo:
    """Returns a plugin with the state CONFLICT and the plugins of the same name.

    tf-frame's own plugins keep their names, and have no conflict.
    """
    if is_own(info.distribution):
        return info
    rivals = [
        p
        for p in plugins
        if (p.kind, p.name) == (info.kind, info.name) and p != info and p.state != DISABLED
    ]
    twice = [p.target for p in rivals if p.distribution == info.distribution]
    if twice:
        problem = f"its package has this name more than once: {info.target}, {', '.join(twice)}"
        remedy = tell_authors(info.distribution)
        return dataclasses.replace(info, state=CONFLICT, problem=problem, remedy=remedy)
    places = ", ".join(f"{p.target} of {p.distribution} {p.version}" for p in rivals)
    problem = f"the {info.kind.word} name {info.name!r} is also taken by {places}"
    if any(is_own(p.distribution) for p in rivals):
        problem += f", which keeps it; name this one {info.distribution}:{info.name}"
    usable = [p for p in rivals if p.state in (OK, BROKEN) and not is_own(p.distribution)]
    names = [f"{p.distribution}:{p.name}" for p in (info, *usable)]
    remedy = f"use {' or '.join(dict.fromkeys(names))}, or uninstall all but one of them"
    return dataclasses.replace(info, state=CONFLICT, problem=problem, remedy=remedy)
