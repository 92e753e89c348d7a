"""Loads the plugins that a run names, and no others.

Loading goes through stevedore with two corrections: the entry points come
from `find`, not from stevedore's cache, and nothing that a plugin raises at
import gets past (stevedore lets AssertionError and SystemExit through).
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib.metadata
from typing import Any

from stevedore.named import NamedExtensionManager

from tf_frame.errors import PluginError
from tf_frame.plugin.check import check_contract
from tf_frame.plugin.find import CONFLICT, OK, Found, find_plugins
from tf_frame.plugin.kinds import Kind


@dataclasses.dataclass(frozen=True)
class Loaded:
    """A plugin ready for use.

    Attributes:
      found: where it comes from.
      cls: its class.
    """

    found: Found
    cls: Any


def load_plugin(kind: Kind, name: str) -> Loaded:
    """Loads one plugin.

    Args:
      kind: what is wanted.
      name: its name; `distribution:name` where two packages share one.

    Raises:
      PluginError: no such plugin, or it is broken; the message names entry
        point, distribution, version, cause and remedy.
    """
    of_kind = [found for found in find_plugins() if found.kind == kind]
    for found in of_kind:
        if name == f"{found.distribution}:{found.name}":
            state = OK if found.state == CONFLICT else found.state
            return load_found(dataclasses.replace(found, state=state))
    named = [found for found in of_kind if found.name == name]
    if named:
        # Of several, one that nothing but the clash keeps from use: its error says how to choose.
        return load_found(min(named, key=lambda found: found.state != CONFLICT))
    raise PluginError(_unknown(kind, name, sorted({found.name for found in of_kind})))


def load_found(found: Found) -> Loaded:
    """Loads and checks one plugin that `find_plugins` gave; see `load_plugin`."""
    if found.state != OK:
        raise _broken(found, found.problem, _remedy(found))
    cls = _import(found)
    problem = check_contract(cls, found.kind)
    if problem:
        raise _broken(found, problem, f"tell the authors of {found.distribution}, or uninstall it")
    return Loaded(found, cls)


class _GuardedEntryPoint:
    """An entry point whose failure is always an Exception that stevedore reports."""

    def __init__(self, found: Found) -> None:
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
            raise RuntimeError(f"{type(error).__name__}: {error}".rstrip(": ")) from error


class _FreshManager(NamedExtensionManager[Any]):
    """stevedore's manager over entry points that were just read."""

    def __init__(self, found: Found) -> None:
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


def _import(found: Found) -> Any:
    manager = _FreshManager(found)
    if manager.failure is not None:
        remedy = f"pip install --upgrade {found.distribution}, or uninstall it"
        raise _broken(found, str(manager.failure), remedy) from manager.failure.__cause__
    return manager[found.name].plugin


def _remedy(found: Found) -> str:
    if found.state == CONFLICT:
        return f"say {found.distribution}:{found.name}, or uninstall all but one of them"
    return f"pip install --upgrade tf-frame {found.distribution}"


def _broken(found: Found, cause: str, remedy: str) -> PluginError:
    return PluginError(
        f"the {found.kind.word} plugin {found.name!r} cannot be used\n"
        f"  {found.where}\n"
        f"  cause: {cause}\n"
        f"  remedy: {remedy}"
    )


def _unknown(kind: Kind, name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names)
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
    installed = ", ".join(names) or f"none (pip install a package with a {kind.group} entry point)"
    return f"no {kind.word} plugin is called {name!r}{hint} Installed: {installed}"
