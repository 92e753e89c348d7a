"""`tf-frame plugins`: lists the installed plugins, and shows the options of one.

With `--check` it loads every plugin, and so finds the broken ones before a run needs them.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from typing import Any

from tf_frame.cli import plugin_check, plugin_new
from tf_frame.cli.option_help import group_text
from tf_frame.cli.screen import quiet_tensorflow, report, without_chatter
from tf_frame.config.flags import parse_flags
from tf_frame.config.option import Option, options_of
from tf_frame.errors import EXIT_OK, EXIT_USAGE, ConfigError
from tf_frame.plugin.find import OK, PluginInfo, find_plugins
from tf_frame.plugin.kinds import (
    CONVERTER,
    GRADIENT_TRANSFORM,
    HOOK,
    INPUT,
    LEARNING_RATE,
    MODEL,
    NETWORK,
    OPTIMIZER,
)
from tf_frame.plugin.load import (
    BrokenPluginError,
    load_plugin_info,
    matching_plugins,
    unknown_plugin,
)
from tf_frame.text import columns

_USAGE = """usage: tf-frame plugins list [--json] [--check]
       tf-frame plugins show NAME
       tf-frame plugins check NAME [--json] [OPTIONS]
       tf-frame plugins new NAME --kind KIND [--directory FOLDER]

list   lists the installed plugins; --check loads each of them and reports those that
       are broken (then the exit code is 2), --json prints the list for programs
show   package, options and description of the plugins called NAME
check  checks whether the plugins called NAME keep their contracts; check --help
new    writes the folder of a new plugin; tf-frame plugins new --help shows the kinds"""

LIST_OPTIONS = (
    Option("json", bool, False, "print JSON"),
    Option("check", bool, False, "load each plugin"),
)
# A prefix that ends with a dot takes the plugin's name: transform.clip_by_norm.
_PREFIXES = {
    MODEL: "model",
    INPUT: "input",
    CONVERTER: "",
    GRADIENT_TRANSFORM: "transform.",
    OPTIMIZER: "optimizer",
    LEARNING_RATE: "schedule",
    HOOK: "hook.",
}


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    sub_commands = {"check": plugin_check.main, "new": plugin_new.main}
    if argv and argv[0] in sub_commands:
        return sub_commands[argv[0]](argv[1:])
    if not argv or any(arg in ("-h", "--help") for arg in argv):
        report(_USAGE)
        return EXIT_OK if argv else EXIT_USAGE
    commands = {"list": _list, "show": _show}
    if argv[0] not in commands:
        known = "list, show, check or new"
        raise ConfigError(f"unknown word {argv[0]!r}; tf-frame plugins takes {known}")
    quiet_tensorflow(None)
    # A plugin that is loaded to be shown or checked may import TensorFlow at its top.
    with without_chatter(None):
        return commands[argv[0]](argv[1:])


def _list(argv: Sequence[str]) -> int:
    flags = parse_flags(argv, LIST_OPTIONS)
    plugins = find_plugins()
    problems = [_problem(info, load=bool(flags.get("check"))) for info in plugins]
    if flags.get("json"):
        rows = [_as_json(info, text) for info, text in zip(plugins, problems, strict=True)]
        report(json.dumps(rows, indent=2))
    else:
        report(_table(plugins, problems))
    return EXIT_USAGE if flags.get("check") and any(problems) else EXIT_OK


def checked_plugins() -> list[dict[str, Any]]:
    """Loads every plugin; returns the rows of `tf-frame plugins list --check --json`."""
    return [_as_json(info, _problem(info, load=True)) for info in find_plugins()]


def _problem(info: PluginInfo, *, load: bool) -> str:
    if info.state != OK or not load:
        return info.problem
    try:
        load_plugin_info(info)
    except BrokenPluginError as error:
        return error.cause
    return ""


def _state(info: PluginInfo, problem: str) -> str:
    return "broken" if problem and info.state == OK else info.state


def _table(plugins: Sequence[PluginInfo], problems: Sequence[str]) -> str:
    if not plugins:
        return "no plugins are installed; pip install one, such as tf-frame-deeplab"
    rows = [("KIND", "NAME", "PACKAGE", "STATE")]
    for info, problem in zip(plugins, problems, strict=True):
        state = _state(info, problem) + (f": {problem}" if problem else "")
        rows.append((info.kind.word, info.name, f"{info.distribution} {info.version}", state))
    return columns(rows, indent=0)


def _as_json(info: PluginInfo, problem: str) -> dict[str, Any]:
    return {
        "kind": info.kind.word,
        "name": info.name,
        "group": info.kind.group,
        "entry_point": info.target,
        "distribution": info.distribution,
        "version": info.version,
        "state": _state(info, problem),
        "problem": problem,
    }


def _show(argv: Sequence[str]) -> int:
    if len(argv) != 1:
        raise ConfigError("tf-frame plugins show takes one NAME")
    installed = find_plugins()
    plugins = matching_plugins(argv[0], installed)
    if not plugins:
        raise unknown_plugin("plugin", argv[0], installed)
    report("\n\n".join(_description(info) for info in plugins))
    return EXIT_OK


def _description(info: PluginInfo) -> str:
    cls = load_plugin_info(info).cls
    rows = [
        ("kind", info.kind.word),
        ("package", f"{info.distribution} {info.version}"),
        ("entry point", f"{info.kind.group}: {info.target}"),
    ]
    if info.kind == MODEL:
        rows.append(("input", str(getattr(cls, "default_input", None))))
        rows.append(("transforms", ", ".join(getattr(cls, "default_transforms", ())) or "none"))
        rows.append(("presets", ", ".join(sorted(getattr(cls, "presets", {}))) or "none"))
    if info.kind == NETWORK:
        size = cls.default_image_size
        rows.append(("image size", f"{size} x {size} x {cls.channels or 'any'}"))
        rows.append(("preprocessing", cls.preprocessing))
    # The errors in a docstring are for the authors of the plugin.
    about = (inspect.getdoc(cls) or "no description").split("\n\nRaises:")[0]
    text = f"{info.name}\n{columns(rows)}\n\n{about}"
    if not options_of(cls.Params):
        return f"{text}\n\nIt takes no options."
    prefix = _PREFIXES[info.kind]
    prefix += info.name if prefix.endswith(".") else ""
    return f"{text}\n\n{group_text('Options', options_of(cls.Params, prefix), {})}"
