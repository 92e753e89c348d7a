"""Finds the plugins that a name can refer to, or explains a name without a plugin."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import glob
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from packaging.utils import canonicalize_name

from tf_frame.errors import PluginError
from tf_frame.plugin.find import CONFLICT, DISABLED, OK, PluginInfo
from tf_frame.plugin.packages import OWN_DISTRIBUTION
from tf_frame.shell_text import shell_word
from tf_frame.text import brief, listed, short

# With more names the message of an error would be a page.
_MOST_NAMES = 40
# Files with the entry points of a package.
_SOURCES = ("pyproject.toml", "setup.py", "setup.cfg")


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
    installed: Sequence[PluginInfo] = (),
) -> PluginError:
    """Makes the error for a name that no plugin has.

    Args:
      kind: the kind in words.
      name: the name.
      plugins: the plugins that it could mean; the message has similar names, or all of them.
      none: the words for no plugin.
      shown_by: the command that lists the plugins, which stands for many names.
      installed: the plugins of all kinds, if `plugins` are of one.
    """
    plugins = list(plugins)
    if reason := explain_name(name, installed or plugins):
        return PluginError(f"no {kind} is called {brief(name)}; {reason}")
    names = sorted({p.name for p in plugins})
    found = f"installed: {listed(names, none=none)}"
    if len(names) > _MOST_NAMES:
        found = f"{shown_by} shows the {len(names)} names that there are"
    parts = [f"no {kind} is called {brief(name)};", did_you_mean(name, plugins), found]
    return PluginError(" ".join(filter(None, parts)))


def explain_name(name: str, installed: Sequence[PluginInfo]) -> str:
    """Says which package a name without a plugin belongs to, installed or not; may be empty."""
    if not name or any(p.name == name for p in installed):
        return ""
    package = canonicalize_name(name)
    of_package = [p for p in installed if canonicalize_name(p.distribution) == package]
    if of_package:
        words = ", ".join(f"{p.kind.word} {p.name}" for p in of_package)
        return f"{name} is a package, not a plugin; it has: {words}"
    if folder := _find_source(name):
        place = f"{short(folder)} is the folder of its package, which is not installed yet"
        return f"{place}: pip install -e {shell_word(folder)}"
    return ""


def _find_source(name: str) -> str:
    """Returns the folder, here or below, of a package of this name or with its entry point."""
    package = "[-_.]+".join(map(re.escape, canonicalize_name(name).split("-")))
    pattern = re.compile(
        rf"[\"'\s]{re.escape(name)}[\"']?\s*=\s*[\"']?[\w.]+:\w"
        rf"|(?i:\bname\s*=\s*[\"']?{package}[\"']?\s*(?:,|$))",
        re.MULTILINE,
    )
    for file in _SOURCES:
        for path in sorted(glob.glob(file) + glob.glob(f"*/{file}")):
            with contextlib.suppress(OSError, UnicodeDecodeError):
                text = Path(path).read_text(encoding="utf-8")
                if "tf_frame." in text and pattern.search(text):
                    return os.path.dirname(path) or "."
    return ""


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
