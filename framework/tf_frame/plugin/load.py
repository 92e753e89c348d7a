"""Loads the plugins that a run names, and no others.

Loading goes through stevedore with two corrections: the entry points come
from `find`, not from stevedore's cache, and nothing that a plugin raises at
import gets past (stevedore lets AssertionError and SystemExit through).
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib.metadata
import os
import traceback
from collections.abc import Iterable, Sequence
from typing import Any

from stevedore.named import NamedExtensionManager

from tf_frame.errors import PluginError
from tf_frame.plugin.check import check_contract
from tf_frame.plugin.find import CONFLICT, OK, PluginInfo, find_plugins, normalised
from tf_frame.plugin.kinds import Kind

_OWN = "tf-frame"


@dataclasses.dataclass(frozen=True)
class LoadedPlugin:
    """A plugin ready for use.

    Attributes:
      found: where it comes from.
      cls: its class.
    """

    found: PluginInfo
    cls: Any


class BrokenPluginError(PluginError):
    """A plugin that is installed cannot be used.

    Attributes:
      cause: why, in one line.
    """

    def __init__(self, found: PluginInfo, cause: str, remedy: str) -> None:
        self.cause = " ".join(cause.split())
        super().__init__(
            f"the {found.kind.word} plugin {found.name!r} cannot be used\n"
            f"  {found.where}\n"
            f"  cause: {self.cause}\n"
            f"  remedy: {remedy}"
        )


def load_plugin(
    kind: Kind,
    name: str,
    *,
    prefer: str | None = None,
    installed: Sequence[PluginInfo] | None = None,
) -> LoadedPlugin:
    """Loads one plugin.

    Args:
      kind: what is wanted.
      name: its name; `distribution:name` where two packages share one.
      prefer: the distribution whose plugin to take where several share the name.
      installed: what `find_plugins` gave, for those who load several.

    Raises:
      PluginError: no such plugin, or it is broken; the message names entry
        point, distribution, version, cause and remedy.
    """
    every = find_plugins() if installed is None else installed
    of_kind = [found for found in every if found.kind == kind]
    named = called(name, of_kind, prefer=prefer)
    if named:
        # Of several, one that nothing but the clash keeps from use: its error says how to choose.
        return load_plugin_info(min(named, key=lambda found: found.state != CONFLICT))
    none = f"none (pip install a package with a {kind.group} entry point)"
    raise unknown_plugin(f"{kind.word} plugin", name, of_kind, none=none)


def called(
    name: str, found: Sequence[PluginInfo], *, prefer: str | None = None
) -> list[PluginInfo]:
    """Picks the plugins that a name may mean.

    Args:
      name: a plugin's name, or `distribution:name`, which settles a clash.
      found: where to look.
      prefer: the distribution that settles a clash if the name does not.
    """
    distribution, _, short = name.rpartition(":")
    named = [f for f in found if f.name == name]
    exact = _settled(distribution, [f for f in found if f.name == short])
    # What tf-frame brings itself keeps its name, whoever else uses it.
    return exact or _settled(prefer, named) or _settled(_OWN, named) or named


def _settled(distribution: str | None, found: Sequence[PluginInfo]) -> list[PluginInfo]:
    """Those of one distribution; that others share their names no longer matters."""
    own = [f for f in found if normalised(f.distribution) == normalised(distribution or "")]
    return [dataclasses.replace(f, state=OK, problem="") if f.state == CONFLICT else f for f in own]


def unknown_plugin(
    what: str, name: str, found: Iterable[PluginInfo], *, none: str = "none"
) -> PluginError:
    """The error for a name that no plugin has, with near and installed ones.

    Args:
      what: what was looked for, in words.
      name: the name.
      found: what there is.
      none: said if there is nothing.
    """
    names = sorted({f.name for f in found})
    near = difflib.get_close_matches(name.rpartition(":")[2], names)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    installed = ", ".join(names) or none
    return PluginError(f"no {what} is called {name!r}; {hint}installed: {installed}")


def load_plugin_info(found: PluginInfo) -> LoadedPlugin:
    """Loads and checks one plugin that `find_plugins` gave; see `load_plugin`."""
    if found.state != OK:
        raise BrokenPluginError(found, found.problem, _remedy(found))
    cls = _import(found)
    problem = check_contract(cls, found.kind)
    if problem:
        remedy = f"tell the authors of {found.distribution}, or uninstall it"
        raise BrokenPluginError(found, problem, remedy)
    return LoadedPlugin(found, cls)


class _GuardedEntryPoint:
    """An entry point whose failure is always an Exception that stevedore reports."""

    def __init__(self, found: PluginInfo) -> None:
        self.name = found.name
        self._entry_point = importlib.metadata.EntryPoint(
            found.name, found.target, found.kind.group
        )

    def load(self) -> Any:
        try:
            return self._entry_point.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise RuntimeError(_cause(error)) from error


class _FreshManager(NamedExtensionManager[Any]):
    """stevedore's manager over entry points that were just read."""

    def __init__(self, found: PluginInfo) -> None:
        self._fresh: list[Any] = [_GuardedEntryPoint(found)]
        self.failure: BaseException | None = None
        super().__init__(
            found.kind.group,
            names=[found.name],
            on_load_failure_callback=_FreshManager._remember,
            on_missing_entrypoints_callback=lambda names: None,
        )

    def list_entry_points(self) -> list[Any]:
        return self._fresh

    @staticmethod
    def _remember(manager: Any, entry_point: Any, error: BaseException) -> None:
        manager.failure = error


def _import(found: PluginInfo) -> Any:
    manager = _FreshManager(found)
    if manager.failure is not None:
        remedy = f"pip install --upgrade {found.distribution}, or uninstall it"
        failure = manager.failure
        raise BrokenPluginError(found, str(failure), remedy) from failure.__cause__
    return manager[found.name].plugin


def _cause(error: BaseException) -> str:
    """The error, with the place in the plugin's code where there is one."""
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    if isinstance(error, SyntaxError) and error.filename:
        return text  # Its own text ends with the place.
    places = [
        f" ({os.path.basename(frame.f_code.co_filename)}, line {line})"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not _imports(frame.f_globals.get("__name__", ""))
    ]
    return text + "".join(places[-1:])


def _imports(module: str) -> bool:
    """Whether a module does the importing rather than being imported."""
    return module == __name__ or module.split(".")[0] == "importlib"


def _remedy(found: PluginInfo) -> str:
    if found.state == CONFLICT:
        return f"say {found.distribution}:{found.name}, or uninstall all but one of them"
    return f"pip install --upgrade tf-frame {found.distribution}"
