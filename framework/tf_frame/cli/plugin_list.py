"""`tf-frame plugins list`: the installed plugins and their problems, as a table or as JSON.

With `--check` it loads every plugin, to find broken ones before a run needs them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tf_frame.command_line.screen import complain, report
from tf_frame.config.flags import parse_flags
from tf_frame.config.option import Option
from tf_frame.errors import EXIT_OK, EXIT_USAGE
from tf_frame.plugin.find import BROKEN, DISABLED, OK, PluginInfo, find_plugins
from tf_frame.plugin.imports import BrokenPluginError
from tf_frame.plugin.kinds import WEIGHTS
from tf_frame.plugin.load import load_plugin_info
from tf_frame.plugin.switches import read_switches
from tf_frame.text import columns

OPTIONS = (
    Option("json", bool, False, "print JSON"),
    Option("check", bool, False, "load each plugin"),
)


def main(argv: Sequence[str]) -> int:
    """Prints the list; returns 2 for problems if `--check` or strict plugins ask for it."""
    flags = parse_flags(argv, OPTIONS)
    switches = read_switches()
    plugins = find_plugins(switches)
    states = [_state(info, load=bool(flags.get("check"))) for info in plugins]
    if flags.get("json"):
        rows = [_as_json(info, *state) for info, state in zip(plugins, states, strict=True)]
        report(json.dumps(rows, indent=2))
    else:
        report(_table(plugins, states))
    for line in switches.without_effect([(info.distribution, info.name) for info in plugins]):
        complain(f"note: {line}")
    failed = any(state not in (OK, DISABLED) for state, _ in states)
    return EXIT_USAGE if failed and (flags.get("check") or switches.strict) else EXIT_OK


def checked_plugins() -> list[dict[str, Any]]:
    """Loads every plugin; returns the rows of `tf-frame plugins list --check --json`."""
    return [_as_json(info, *_state(info, load=True)) for info in find_plugins()]


def _state(info: PluginInfo, *, load: bool) -> tuple[str, str]:
    """Returns state and problem of a plugin."""
    if not load or info.state not in (OK, BROKEN):
        return info.state, info.problem
    try:
        load_plugin_info(info)
    except BrokenPluginError as error:
        return BROKEN, error.cause
    return OK, ""


def _table(plugins: Sequence[PluginInfo], states: Sequence[tuple[str, str]]) -> str:
    if not plugins:
        return "no plugins are installed; pip install one, such as tf-frame-deeplab"
    rows: list[tuple[str, ...]] = [("NAME", "PACKAGE", "STATE")]
    kind = None
    for info, (state, problem) in zip(plugins, states, strict=True):
        if info.kind != kind:
            kind = info.kind
            rows.append((kind.word,))
            rows += _weights_rows(plugins, states) if kind == WEIGHTS else []
        if kind == WEIGHTS and state == OK:
            continue
        rows.append((f"  {info.name}", f"{info.distribution} {info.version}", state))
        rows += [(f"    {state}: {problem}",)] if problem else []
    return columns(rows, indent=0)


def _weights_rows(
    plugins: Sequence[PluginInfo], states: Sequence[tuple[str, str]]
) -> list[tuple[str, ...]]:
    """Returns a row for the usable weights of each package, which may be hundreds."""
    counts = Counter(
        f"{info.distribution} {info.version}"
        for info, (state, _) in zip(plugins, states, strict=True)
        if info.kind == WEIGHTS and state == OK
    )
    rows: list[tuple[str, ...]] = []
    for package, count in counts.items():
        names = "1 name" if count == 1 else f"{count} names"
        rows += [(f"  {names}", package, OK), ("    see tf-frame weights list",)]
    return rows


def _as_json(info: PluginInfo, state: str, problem: str) -> dict[str, Any]:
    return {
        "kind": info.kind.word,
        "name": info.name,
        "group": info.kind.group,
        "entry_point": info.target,
        "distribution": info.distribution,
        "version": info.version,
        "state": state,
        "problem": problem,
    }
