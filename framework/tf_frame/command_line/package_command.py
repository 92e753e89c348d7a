"""Loads and runs a sub-command of `tf-frame` that a package brings."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from tf_frame.command_line.option_help import group_text
from tf_frame.command_line.screen import complain, report_help
from tf_frame.config.option import Option, declared_options, resolve
from tf_frame.errors import EXIT_FAILED, EXIT_OK
from tf_frame.plugin.configured import ConfiguredPlugin
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import COMMAND
from tf_frame.plugin.load import LoadedPlugin, load_plugin
from tf_frame.plugin.matching import matching_plugins
from tf_frame.plugin.origin import wrong_result

_HELP = (Option("help", bool, False, ""), Option("h", bool, False, ""))


def load_command(name: str) -> LoadedPlugin | None:
    """Loads the command of a package; returns None if no package has one of this name.

    Raises:
      PluginError: several packages have it, or it is broken.
    """
    installed = find_plugins(kind=COMMAND)
    commands = [info for info in installed if info.kind == COMMAND]
    is_there = matching_plugins(name, commands)
    return load_plugin(COMMAND, name, installed=installed) if is_there else None


def run_command(plugin: LoadedPlugin, argv: Sequence[str]) -> int:
    """Runs a command of a package, or prints its help; returns the exit code.

    Raises:
      ConfigError: an unknown option or a wrong value.
      PluginError: `run` returned no exit code.
    """
    cls = plugin.cls
    values, words = _values_and_words(cls, argv)
    if any(values.pop(option.name, False) for option in _HELP):
        report_help(_help(plugin))
        return EXIT_OK
    params = resolve(cls.Params, [values])
    command = ConfiguredPlugin(plugin.info.name, plugin, params).make()
    code = _run(command, words)
    if not isinstance(code, int):
        raise wrong_result(command, "run", code, "the exit code, a whole number")
    return code


def _values_and_words(cls: type[Any], argv: Sequence[str]) -> tuple[dict[str, Any], Sequence[str]]:
    stops_at_word = bool(getattr(cls, "passes_words_on", False))
    if stops_at_word and argv and not argv[0].startswith("-"):
        return {}, argv
    # Its import of absl takes a tenth of the time of a quick command.
    from tf_frame.config.flags import parse_words

    options = [*declared_options(cls.Params), *_HELP]
    return parse_words(argv, options, stops_at_word=stops_at_word)


def _run(command: Any, words: Sequence[str]) -> Any:
    try:
        return command.run(words)
    except SystemExit as error:  # argparse raises it after its help and after a wrong word.
        if isinstance(error.code, str):
            complain(error.code)
            return EXIT_FAILED
        return error.code or EXIT_OK


def _help(plugin: LoadedPlugin) -> str:
    usage = getattr(plugin.cls, "usage", "[OPTIONS]")
    parts = [f"usage: tf-frame {plugin.info.name} {usage}".rstrip()]
    parts.append(inspect.cleandoc(plugin.cls.__doc__ or ""))
    options = declared_options(plugin.cls.Params)
    parts.append(group_text("Options", options, {}) if options else "")
    return "\n\n".join(filter(None, parts))
