"""Loads the plugins that a run names, and no others, so that a broken one stops no other run.

Loading goes through stevedore with two corrections: the entry points come
from `find_plugins`, not from stevedore's cache, and every exception that a
plugin raises at import is reported (stevedore lets AssertionError and
SystemExit through).
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import importlib.metadata
import os
import re
import sys
import traceback
from collections.abc import Iterable, Sequence
from typing import Any

from stevedore.named import NamedExtensionManager

from tf_frame.errors import PluginError
from tf_frame.plugin.find import (
    CONFLICT,
    OK,
    OWN_DISTRIBUTION,
    PluginInfo,
    canonical_name,
    find_plugins,
)
from tf_frame.plugin.kinds import Kind, check_contract
from tf_frame.plugin.origin import register


@dataclasses.dataclass(frozen=True)
class LoadedPlugin:
    """A plugin whose class has been imported and checked.

    Attributes:
      info: its metadata.
      cls: its class.
    """

    info: PluginInfo
    cls: Any


class BrokenPluginError(PluginError):
    """An installed plugin cannot be used.

    Attributes:
      cause: the reason, in one line.
    """

    def __init__(self, info: PluginInfo, cause: str, remedy: str) -> None:
        self.cause = " ".join(cause.split())
        super().__init__(
            f"{info.described} cannot be used: {self.cause}\n  {info.where}\n  remedy: {remedy}"
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
      kind: its kind.
      name: its name; `distribution:name` where two packages share one.
      prefer: the distribution whose plugin is taken where several share the name.
      installed: the result of `find_plugins`, for callers that load several.

    Raises:
      PluginError: there is no such plugin, or it is broken; the message names entry
        point, distribution, version, cause and remedy.
    """
    of_kind = [p for p in (find_plugins() if installed is None else installed) if p.kind == kind]
    matches = matching_plugins(name, of_kind, prefer=prefer)
    if matches:
        # The error of a plugin that is only in conflict says how to choose between them.
        return load_plugin_info(min(matches, key=lambda p: p.state != CONFLICT))
    none = f"none (pip install a package with a {kind.group} entry point)"
    raise unknown_plugin(f"{kind.word} plugin", name, of_kind, none=none)


def matching_plugins(
    name: str, plugins: Sequence[PluginInfo], *, prefer: str | None = None
) -> list[PluginInfo]:
    """Returns the plugins that a name can refer to.

    Args:
      name: a plugin's name, or `distribution:name`, which resolves a conflict.
      plugins: the candidates.
      prefer: the distribution that resolves a conflict if the name does not.
    """
    distribution, _, short = name.rpartition(":")
    exact = _of_distribution(distribution, [p for p in plugins if p.name == short])
    same = [p for p in plugins if p.name == name]
    # tf-frame's own plugins keep their names even if another package uses them.
    return (
        exact or _of_distribution(prefer, same) or _of_distribution(OWN_DISTRIBUTION, same) or same
    )


def _of_distribution(distribution: str | None, plugins: Sequence[PluginInfo]) -> list[PluginInfo]:
    """Selects the plugins of one distribution, which resolves their conflicts with others."""
    own = canonical_name(distribution or "")
    return [
        dataclasses.replace(p, state=OK, problem="") if p.state == CONFLICT else p
        for p in plugins
        if canonical_name(p.distribution) == own
    ]


def unknown_plugin(
    kind: str, name: str, plugins: Iterable[PluginInfo], *, none: str = "none"
) -> PluginError:
    """Makes the error for a name that no plugin has, with similar and installed names.

    Args:
      kind: the kind of plugin, in words.
      name: the unknown name.
      plugins: the candidates.
      none: text in place of the installed names if there are none.
    """
    names = sorted({p.name for p in plugins})
    near = difflib.get_close_matches(name.rpartition(":")[2], names)
    hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    return PluginError(f"no {kind} is called {name!r}; {hint}installed: {', '.join(names) or none}")


def load_plugin_info(info: PluginInfo) -> LoadedPlugin:
    """Imports and checks one plugin of `find_plugins`; raises as `load_plugin` does."""
    if info.state == CONFLICT:
        remedy = f"use {info.distribution}:{info.name}, or uninstall all but one of them"
        raise BrokenPluginError(info, info.problem, remedy)
    if info.state != OK:
        remedy = f"pip install --upgrade tf-frame {info.distribution}"
        raise BrokenPluginError(info, info.problem, remedy)
    cls = _import(info)
    problem = check_contract(cls, info.kind)
    if problem:
        remedy = f"tell the authors of {info.distribution}, or uninstall it"
        raise BrokenPluginError(info, problem, remedy)
    register(cls, info)
    return LoadedPlugin(info, cls)


class _GuardedEntryPoint:
    """An entry point whose failure is always an Exception, which stevedore reports."""

    def __init__(self, info: PluginInfo) -> None:
        self.name = info.name
        self._entry_point = importlib.metadata.EntryPoint(info.name, info.target, info.kind.group)

    def load(self) -> Any:
        try:
            return self._entry_point.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise RuntimeError(_cause(error)) from error


class _FreshManager(NamedExtensionManager[Any]):
    """stevedore's manager for one entry point that was just read."""

    def __init__(self, info: PluginInfo) -> None:
        self._entry_point = _GuardedEntryPoint(info)
        self.failure: BaseException | None = None
        super().__init__(
            info.kind.group,
            names=[info.name],
            on_load_failure_callback=_FreshManager._keep_failure,
            on_missing_entrypoints_callback=lambda names: None,
        )

    def list_entry_points(self) -> list[Any]:
        return [self._entry_point]

    @staticmethod
    def _keep_failure(manager: Any, entry_point: Any, error: BaseException) -> None:
        manager.failure = error


def _import(info: PluginInfo) -> Any:
    # What a plugin prints must not get into results, such as JSON or YAML.
    with contextlib.redirect_stdout(sys.stderr):
        manager = _FreshManager(info)
    failure = manager.failure
    if failure is not None:
        remedy = _remedy(failure.__cause__, info)
        raise BrokenPluginError(info, str(failure), remedy) from failure.__cause__
    return manager[info.name].plugin


def _remedy(error: BaseException | None, info: PluginInfo) -> str:
    """Returns a remedy for an error of an import."""
    own = info.target.split(":")[0].split(".")[0]
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if not missing or missing.split(".")[0] == own:
        return f"pip install --upgrade {info.distribution}, or uninstall it"
    return missing_module(missing, info.distribution)


def missing_module(name: str, distribution: str) -> str:
    """Returns a remedy for a module that a package imports and that is not installed.

    Args:
      name: the module.
      distribution: the package that imports it.
    """
    top = name.split(".")[0]
    try:
        required = importlib.metadata.requires(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        required = []
    names = [re.split(r"[^-\w.]", line.strip(), maxsplit=1)[0] for line in required]
    package = next((each for each in names if canonical_name(each) == canonical_name(top)), None)
    if package:
        return f"pip install {package}, which {distribution} requires"
    return (
        f"pip install the package that has the module {top!r}, and tell the authors of "
        f"{distribution} to list it among the requirements (install_requires)"
    )


def _cause(error: BaseException) -> str:
    """The error, with the line of the plugin's code that raised it if there is one."""
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    if isinstance(error, SyntaxError) and error.filename:
        return text  # The text of a SyntaxError ends with the place.
    places = [
        f" ({os.path.basename(frame.f_code.co_filename)}, line {line})"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not _is_importer(frame.f_globals.get("__name__", ""))
    ]
    return text + "".join(places[-1:])


def _is_importer(module: str) -> bool:
    """Returns whether a module imports plugins, rather than being part of one."""
    return module == __name__ or module.split(".")[0] == "importlib"
