"""`tf-frame plugins`: which plugins are installed, and what one of them takes."""

from __future__ import annotations

import contextlib
import inspect
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tf_frame.cli.option_help import group_text
from tf_frame.cli.quiet import quiet_tensorflow, without_chatter
from tf_frame.cli.screen import columns, report
from tf_frame.config.flags import parse_flags
from tf_frame.config.option import Option, options_of
from tf_frame.errors import EXIT_OK, EXIT_USAGE, ConfigError
from tf_frame.plugin.find import OK, PluginInfo, find_plugins
from tf_frame.plugin.kinds import (
    GRADIENT_TRANSFORM,
    HOOK,
    INPUT,
    LEARNING_RATE,
    MODEL,
    NETWORK,
    OPTIMIZER,
)
from tf_frame.plugin.load import BrokenPluginError, called, load_plugin_info, unknown_plugin

_USAGE = """usage: tf-frame plugins list [--json] [--check]
       tf-frame plugins show NAME

list   names every installed plugin; --check loads each one to see whether it works
       (exit code 2 if one does not), --json prints the same for programs
show   package, options and description of the plugins called NAME"""

_PREFIXES = {
    MODEL: "model",
    INPUT: "input",
    GRADIENT_TRANSFORM: "transform.",
    OPTIMIZER: "optimizer",
    LEARNING_RATE: "schedule",
    HOOK: "hook.",
}


def main(words: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if not words or any(word in ("-h", "--help") for word in words):
        report(_USAGE)
        return EXIT_OK if words else EXIT_USAGE
    commands: dict[str, Callable[[Sequence[str]], int]] = {"list": _list, "show": _show}
    if words[0] not in commands:
        raise ConfigError(f"unknown word {words[0]!r}; tf-frame plugins takes list or show")
    quiet_tensorflow(None)
    # A plugin that is loaded to be shown or checked may import TensorFlow at its top.
    with without_chatter(None):
        return commands[words[0]](words[1:])


def _list(words: Sequence[str]) -> int:
    options = [
        Option("json", bool, False, "print JSON"),
        Option("check", bool, False, "load each plugin"),
    ]
    given = parse_flags(words, options)
    found = find_plugins()
    problems = [_problem(f, load=bool(given.get("check"))) for f in found]
    if given.get("json"):
        rows = [_as_json(f, problem) for f, problem in zip(found, problems, strict=True)]
        report(json.dumps(rows, indent=2))
    else:
        report(_table(found, problems))
    return EXIT_USAGE if given.get("check") and any(problems) else EXIT_OK


def _problem(found: PluginInfo, *, load: bool) -> str:
    if found.state != OK or not load:
        return found.problem
    try:
        _load(found)
    except BrokenPluginError as error:
        return error.cause
    return ""


def _load(found: PluginInfo) -> Any:
    # What a plugin prints must not get between the lines of JSON.
    with contextlib.redirect_stdout(sys.stderr):
        return load_plugin_info(found).cls


def _table(found: Sequence[PluginInfo], problems: Sequence[str]) -> str:
    if not found:
        return "no plugins are installed; pip install one, such as tf-frame-deeplab"
    rows = [("KIND", "NAME", "PACKAGE", "STATE")]
    for f, problem in zip(found, problems, strict=True):
        state = f"{f.state if f.state != OK else 'broken'}: {problem}" if problem else OK
        rows.append((f.kind.word, f.name, f"{f.distribution} {f.version}", state))
    return columns(rows, indent=0)


def _as_json(found: PluginInfo, problem: str) -> dict[str, Any]:
    return {
        "kind": found.kind.word,
        "name": found.name,
        "group": found.kind.group,
        "entry_point": found.target,
        "distribution": found.distribution,
        "version": found.version,
        "state": "broken" if problem and found.state == OK else found.state,
        "problem": problem,
    }


def _show(words: Sequence[str]) -> int:
    if len(words) != 1:
        raise ConfigError("tf-frame plugins show takes one NAME")
    installed = find_plugins()
    found = called(words[0], installed)
    if not found:
        raise unknown_plugin("plugin", words[0], installed)
    report("\n\n".join(_description(f) for f in found))
    return EXIT_OK


def _about(cls: Any) -> str:
    """The description of a class, without the errors that only its authors care about."""
    return (inspect.getdoc(cls) or "no description").split("\n\nRaises:")[0]


def _description(found: PluginInfo) -> str:
    cls = _load(found)
    rows = [
        ("kind", found.kind.word),
        ("package", f"{found.distribution} {found.version}"),
        ("entry point", f"{found.kind.group}: {found.target}"),
    ]
    if found.kind == MODEL:
        rows.append(("input", str(getattr(cls, "default_input", None))))
        rows.append(("transforms", ", ".join(getattr(cls, "default_transforms", ())) or "none"))
        rows.append(("presets", ", ".join(sorted(getattr(cls, "presets", {}))) or "none"))
    if found.kind == NETWORK:
        size = cls.default_image_size
        rows.append(("image size", f"{size} x {size} x {cls.channels or 'any'}"))
        rows.append(("preprocessing", cls.preprocessing))
    text = f"{found.name}\n{columns(rows)}\n\n{_about(cls)}"
    if not options_of(cls.Params):
        return f"{text}\n\nIt takes no options."
    prefix = _PREFIXES[found.kind]
    prefix += found.name if prefix.endswith(".") else ""
    return f"{text}\n\n{group_text('Options', options_of(cls.Params, prefix), {})}"
