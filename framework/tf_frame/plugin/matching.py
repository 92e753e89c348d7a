"""Finds the plugins that a name can refer to, or suggests other names."""

from __future__ import annotations

import dataclasses
import difflib
from collections import Counter
from collections.abc import Iterable, Sequence

from packaging.utils import canonicalize_name

from tf_frame.errors import PluginError
from tf_frame.plugin.find import CONFLICT, DISABLED, OK, PluginInfo
from tf_frame.plugin.packages import OWN_DISTRIBUTION
from tf_frame.text import brief, listed

# With more names the message of an error would be a page.
_MOST_NAMES = 40


def matching_plugins(
    name: str, plugins: Sequence[PluginInfo], *, prefer: str | None = None
) -> list[PluginInfo]:
    """Returns the plugins that a name can refer to.

    Args:
      name: a plugin's name, or `distribution:name`, which resolves a conflict.
      plugins: the candidates.
      prefer: the distribution that resolves a conflict if the name does not.
    """
    enabled = [p for p in plugins if p.state != DISABLED]
    return _matching(name, enabled, prefer) or _matching(name, plugins, prefer)


def _matching(name: str, plugins: Sequence[PluginInfo], prefer: str | None) -> list[PluginInfo]:
    distribution, _, short = name.rpartition(":")
    exact = _from(distribution, [p for p in plugins if p.name == short])
    same = [p for p in plugins if p.name == name]
    # tf-frame's own plugins keep their names even if another package uses them.
    return exact or _from(prefer, same) or _from(OWN_DISTRIBUTION, same) or same


def _from(distribution: str | None, plugins: Sequence[PluginInfo]) -> list[PluginInfo]:
    """Selects the plugins of one distribution; their conflicts with other plugins are resolved."""
    name = canonicalize_name(distribution or "")
    chosen = [p for p in plugins if canonicalize_name(p.distribution) == name]
    count = Counter((p.kind, p.name) for p in chosen)
    return [
        dataclasses.replace(p, state=OK, problem="", remedy="")
        if p.state == CONFLICT and count[p.kind, p.name] == 1
        else p
        for p in chosen
    ]


def unknown_plugin(
    kind: str,
    name: str,
    plugins: Iterable[PluginInfo],
    *,
    none: str = "none",
    shown_by: str = "tf-frame plugins list",
) -> PluginError:
    """Makes the error for a name that no plugin has, with similar and installed names or `none`.

    With many plugins the command that lists them, `shown_by`, stands for their names.
    """
    plugins = list(plugins)
    names = sorted({p.name for p in plugins})
    found = f"installed: {listed(names, none=none)}"
    if len(names) > _MOST_NAMES:
        found = f"{shown_by} shows the {len(names)} names that there are"
    parts = [f"no {kind} is called {brief(name)};", did_you_mean(name, plugins), found]
    return PluginError(" ".join(filter(None, parts)))


def did_you_mean(name: str, plugins: Sequence[PluginInfo]) -> str:
    """Returns a question with the plugins of similar names; empty if there are none."""
    similar = difflib.get_close_matches(name.rpartition(":")[2], sorted({p.name for p in plugins}))
    names = [
        f"{p.distribution}:{p.name}" if p.state == CONFLICT else p.name
        for similar_name in similar
        for p in plugins
        if p.name == similar_name
    ]
    return f"did you mean {' or '.join(map(repr, dict.fromkeys(names)))}?" if names else ""
