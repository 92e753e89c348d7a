"""Lists the plugins of the installed packages from their metadata, without importing any.

A package that is broken or slow to import therefore does not affect the list, or runs that do not
use the package. Each process reads the metadata anew, and again once a package was changed, and so
lists a new package at once.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from tf_frame.errors import PluginError
from tf_frame.plugin.kinds import KINDS, Kind
from tf_frame.plugin.modules import find_missing_part, malformed, target_module
from tf_frame.plugin.packages import (
    EntryPoint,
    Package,
    is_own,
    packages,
    reinstall,
    state_of_files,
    tell_authors,
)
from tf_frame.plugin.requirements import incompatibility, installed_version, unmet, unreadable
from tf_frame.plugin.switches import Switches, read_switches
from tf_frame.text import brief

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
        return f"the {self.kind.word} {brief(self.name)} of {self.distribution} {self.version}"

    @property
    def where(self) -> str:
        """Entry point and package, for messages."""
        return (
            f"entry point {self.kind.group}: {self.name} = {self.target} "
            f"of {self.distribution} {self.version}"
        )


def find_plugins(switches: Switches | None = None, kind: Kind | None = None) -> list[PluginInfo]:
    """Lists the installed plugins, sorted by kind and name.

    Args:
      switches: the plugins that may be used; by default read from environment and file.
      kind: the only kind that is listed, which is quicker; None, or if plugins are strict: every
        kind.

    Raises:
      ConfigError: the variables or the file that disable plugins cannot be read.
      PluginError: the metadata of a package cannot be read, and plugins are strict.
    """
    switches = switches or read_switches()
    kinds = KINDS if kind is None or switches.strict else (kind,)
    for listed in _LISTED:
        is_enough = listed.switches == switches and {*kinds} <= {*listed.kinds}
        if is_enough and listed.files == state_of_files(listed.folders):
            return [plugin for plugin in listed.plugins if plugin.kind in kinds]
    _LISTED.clear()
    before = state_of_files(())
    found = list(packages())
    folders = [package.folder for package in found]
    files = state_of_files(folders)
    plugins = _list_plugins(found, switches, kinds)
    is_same = files[: len(before)] == before
    if is_same and not any(package.problem for package in found):  # Each call tells those.
        _LISTED.append(_Listed(switches, kinds, folders, files, plugins))
    return list(plugins)


@dataclasses.dataclass(frozen=True)
class _Listed:
    """The result of `find_plugins`; it holds as long as the state of the files is the same."""

    switches: Switches
    kinds: Sequence[Kind]
    folders: list[str]
    files: tuple[object, ...]
    plugins: list[PluginInfo]


# A run asks five to ten times, and a scan takes 25 ms. There is one result at most.
_LISTED: list[_Listed] = []


def _list_plugins(
    found: Iterable[Package], switches: Switches, kinds: Sequence[Kind]
) -> list[PluginInfo]:
    plugins = sorted(
        set(_scan(found, switches, kinds)),
        key=lambda p: (KINDS.index(p.kind), p.name, p.distribution, p.target),
    )
    count = Counter((p.kind, p.name) for p in plugins if p.state != DISABLED)
    return [
        _in_conflict(p, plugins) if p.state in (OK, BROKEN) and count[p.kind, p.name] > 1 else p
        for p in plugins
    ]


def _scan(
    found: Iterable[Package], switches: Switches, kinds: Sequence[Kind]
) -> Iterator[PluginInfo]:
    version_of = functools.cache(installed_version)
    missing = functools.cache(find_missing_part)
    for package in found:
        if package.problem and switches.strict:
            unset = "uninstall it, or unset TF_FRAME_STRICT_PLUGINS"
            raise PluginError(f"{package.name}: {package.problem}; {unset}")
        if package.problem:
            print(f"tf-frame: skipping {package.name}: {package.problem}", file=sys.stderr)
            continue
        points = [(point, _kind_of_group(point.group)) for point in package.entry_points]
        listed = [(point, kind) for point, kind in points if kind is not None and kind in kinds]
        package_problem = next(_package_problems(package, version_of), None) if listed else None
        for point, kind in listed:
            state = (
                _disabled(switches, package.name, point.name)
                or package_problem
                or next(_entry_point_problems(point, kind, package.name, missing), None)
                or (OK, "", "")
            )
            names = point.name, point.value, package.name
            yield PluginInfo(kind, *names, package.version, *state, package.summary)


# State, problem and remedy.
_State = tuple[str, str, str]


def _kind_of_group(group: str) -> Kind | None:
    """Returns the kind of a group, perhaps misspelled; None for those of a later tf-frame."""
    kinds = {kind.group: kind for kind in KINDS}
    if group in kinds:
        return kinds[group]
    groups = difflib.get_close_matches(group, kinds, n=1, cutoff=0.9)
    return kinds[groups[0]] if groups else None


def _disabled(switches: Switches, distribution: str, name: str) -> _State | None:
    problem, remedy = switches.why_disabled(distribution, name)
    return (DISABLED, problem, remedy) if problem else None


def _package_problems(
    package: Package, version_of: Callable[[str], str | None]
) -> Iterator[_State]:
    """Yields the problems of all plugins of a package."""
    if is_own(package.name):
        return
    if problem := unreadable(package.requires):
        yield INCOMPATIBLE, problem, tell_authors(package.name)
    if problem := incompatibility(package.requires):
        yield INCOMPATIBLE, problem, f"pip install --upgrade tf-frame {package.name}"
    if missing := unmet(package.requires, version_of):
        yield BROKEN, missing[1], f"pip install '{missing[0]}'"


def _entry_point_problems(
    point: EntryPoint, kind: Kind, distribution: str, missing: Callable[[str], str]
) -> Iterator[_State]:
    """Yields the problems of a single entry point."""
    if is_own(distribution):
        return
    if point.group != kind.group:
        problem = f"its entry-point group is {point.group}; expected {kind.group}"
        yield INCOMPATIBLE, problem, tell_authors(distribution)
    if point.name in kind.reserved:
        problem = f"tf-frame itself has a {kind.word} {brief(point.name)}"
        yield INCOMPATIBLE, problem, tell_authors(distribution)
    if problem := malformed(point.name, point.value):
        yield BROKEN, problem, tell_authors(distribution)
    if part := missing(target_module(point.value)):
        yield BROKEN, f"there is no module {brief(part)}", reinstall(distribution)


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
    problem = f"the {info.kind.word} name {brief(info.name)} is also taken by {places}"
    if any(is_own(p.distribution) for p in rivals):
        problem += f", which keeps it; name this one {info.distribution}:{info.name}"
    usable = [p for p in rivals if p.state in (OK, BROKEN) and not is_own(p.distribution)]
    names = [f"{p.distribution}:{p.name}" for p in (info, *usable)]
    remedy = f"use {' or '.join(dict.fromkeys(names))}, or uninstall all but one of them"
    return dataclasses.replace(info, state=CONFLICT, problem=problem, remedy=remedy)
