"""`tf-frame convert`: runs a plugin that converts a user's data to files for an input plugin."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from tf_frame.command_line.option_help import group_text
from tf_frame.command_line.screen import complain, output_may_fail, report, report_help
from tf_frame.config.flags import parse_words
from tf_frame.config.option import declared_options, resolve
from tf_frame.errors import EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, ConfigError
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.imports import BrokenPluginError
from tf_frame.plugin.kinds import CONVERTER
from tf_frame.plugin.load import load_plugin, load_plugin_info
from tf_frame.text import columns, short

_USAGE = """usage: tf-frame convert NAME SOURCE OUTPUT [OPTIONS]

Converts the data in SOURCE to files in OUTPUT, which an input reads. The same command continues a
conversion that was stopped. tf-frame convert NAME --help shows the options of a converter."""
_HELP = ("-h", "--help")


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if not argv or argv[0] in _HELP:
        report_help(f"{_USAGE}\n\nconverters:\n{_converters()}")
        return EXIT_OK if argv else EXIT_USAGE
    name, *words = argv
    cls = load_plugin(CONVERTER, name).cls
    if any(word in _HELP for word in words):
        report_help(_help(name, cls))
        return EXIT_OK
    options = declared_options(cls.Params)
    flags, paths = parse_words(words, options)
    if len(paths) != 2:
        given_paths = " ".join(paths) or "none"
        raise ConfigError(
            f"tf-frame convert {name} takes SOURCE and OUTPUT; given: {short(given_paths)}"
        )
    try:
        with output_may_fail():
            cls(params=resolve(cls.Params, [flags])).convert(*paths, report)
    except KeyboardInterrupt:
        complain("tf-frame: stopped by Ctrl-C; the same command goes on from here")
        return EXIT_INTERRUPTED
    return EXIT_OK


def _converters() -> str:
    converters = [info for info in find_plugins() if info.kind == CONVERTER]
    if not converters:
        return "  none; pip install a package that brings one, such as tf-frame-classification"
    rows = []
    for info in converters:
        try:
            about = _about(load_plugin_info(info).cls).splitlines()[0]
        except BrokenPluginError as error:
            about = f"broken: {error.cause}"
        rows.append((info.name, about))
    return columns(rows)


def _about(cls: Any) -> str:
    return inspect.getdoc(cls) or "no description"


def _help(name: str, cls: Any) -> str:
    usage = f"usage: tf-frame convert {name} SOURCE OUTPUT [OPTIONS]"
    return f"{usage}\n\n{_about(cls)}\n\n{group_text('Options', declared_options(cls.Params), {})}"
