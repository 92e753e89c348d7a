"""`tf-frame plugins check NAME`: checks whether a plugin keeps its contract.

The checks are those of `tf_frame.testing.conformance`, which plugin authors can run by pytest.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from tf_frame.command_line.option_help import group_text
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.command_line.screen import output_to_stderr, report, report_help
from tf_frame.config.flags import parse_flags, split_flags
from tf_frame.config.option import Option, declared_options
from tf_frame.config.values import nearest
from tf_frame.errors import EXIT_OK, EXIT_USAGE, ConfigError
from tf_frame.plugin.find import BROKEN, OK, PluginInfo, find_plugins
from tf_frame.plugin.imports import BrokenPluginError
from tf_frame.plugin.kinds import INPUT, KINDS, MODEL
from tf_frame.plugin.load import load_plugin_info
from tf_frame.plugin.matching import matching_plugins, unknown_plugin
from tf_frame.tensorflow_log import log_level, quiet_import
from tf_frame.text import columns

USAGE = """usage: tf-frame plugins check NAME [--kind KIND] [--json] [OPTIONS]

Builds and runs the plugin in small graphs, and says for each check of its contract whether it
is ok, failed (then the exit code is 2) or skipped. OPTIONS are options of the plugin, such as
--input.data_dir (tf-frame plugins show NAME lists them), and for a model all of tf-frame run.
Several plugins of one name are all checked, each with the options that it has; --kind chooses
one of them."""

_KINDS = {kind.word.replace(" ", "_"): kind for kind in KINDS}
OPTIONS = (
    Option("json", bool, False, "print JSON"),
    Option("kind", str, None, "the kind of the plugin", choices=tuple(_KINDS)),
)
_NOT_TAKEN = ("config", "set", "preset", "model_dir", "mode", "transform", "hook")


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if not argv or any(arg in ("-h", "--help") for arg in argv):
        report_help(f"{USAGE}\n\n{group_text('Options', OPTIONS, {'kind': 'all'})}")
        return EXIT_OK if argv else EXIT_USAGE
    name, *words = argv
    if name.startswith("-"):
        raise ConfigError("tf-frame plugins check takes the NAME of a plugin first")
    flags, plugin_words = split_flags(words, OPTIONS)
    infos = _named(name, flags.get("kind"))
    # The checks run trainings. Nobody needs their log.
    with quiet_import(), log_level("tf_frame", logging.ERROR), output_to_stderr():
        options = _options(infos, plugin_words)
        # Imports TensorFlow: a wrong name or option is refused before.
        from tf_frame.testing.conformance import check_plugin

        results = [(info, check_plugin(info, options.get(info, {}))) for info in infos]
    if flags.get("json"):
        rows = [row for info, checks in results for row in _as_json(info, checks)]
        report(json.dumps(rows, indent=2))
    else:
        report("\n\n".join(_table(info, checks) for info, checks in results))
    failed = any(check.state == "failed" for _, checks in results for check in checks)
    return EXIT_USAGE if failed else EXIT_OK


def _named(name: str, kind: str | None) -> list[PluginInfo]:
    installed = find_plugins()
    plugins = [
        p for p in matching_plugins(name, installed) if kind is None or p.kind == _KINDS[kind]
    ]
    if not plugins:
        of_kind = [p for p in installed if kind is None or p.kind == _KINDS[kind]]
        word = f"{_KINDS[kind].word} plugin" if kind else "plugin"
        raise unknown_plugin(word, name, of_kind, installed=installed)
    for info in plugins:
        if info.state not in (OK, BROKEN):
            load_plugin_info(info)  # Raises, because there is nothing to check.
    return plugins


def _options(infos: Sequence[PluginInfo], words: Sequence[str]) -> dict[PluginInfo, dict[str, Any]]:
    """Returns for each plugin the checked values of its options."""
    declared: dict[PluginInfo, list[Option]] = {}
    for info in infos:
        with contextlib.suppress(BrokenPluginError):  # A check reports it.
            declared[info] = declared_options(load_plugin_info(info).cls.Params, info.option_prefix)
    values = {info: split_flags(words, options)[0] for info, options in declared.items()}
    models = [info for info in declared if info.kind == MODEL]
    # A model is checked together with its input, which may have the same name.
    other_options = [
        o for info, options in declared.items() if info.kind not in (MODEL, INPUT) for o in options
    ]
    model_words = split_flags(words, other_options)[1]
    for model in models if model_words else ():
        values[model] = _parse_run_options(f"{model.distribution}:{model.name}", model_words)
    if not models and len(declared) == len(infos):
        _refuse_unknown(words, [o for options in declared.values() for o in options], infos[0].name)
    return values


def _parse_run_options(model: str, words: Sequence[str]) -> dict[str, Any]:
    flags = parse_command_line(["--plugin", model, *words]).flags
    refused = [name for name in _NOT_TAKEN if name in flags]
    if refused:
        raise ConfigError(f"tf-frame plugins check takes no --{refused[0]}; give single options")
    return {name: value for name, value in flags.items() if name != "plugin"}


def _refuse_unknown(words: Sequence[str], options: Iterable[Option], plugin: str) -> None:
    by_name = {option.name: option for option in options}
    hint = f"tf-frame plugins show {plugin} lists its options"
    parse_flags(
        words, by_name.values(), explain=lambda name: "" if nearest(name, by_name) else hint
    )


def _table(info: PluginInfo, checks: Sequence[Any]) -> str:
    causes = Counter(
        check.problem
        for check in checks
        if check.state == "skipped" and check.problem.startswith("not checked, because")
    )
    rows = [
        (check.name.removeprefix("test_"), check.state, _first_line(check))
        for check in checks
        if causes[check.problem] < 2
    ]
    # A plugin that cannot be loaded has one row for all checks that need it.
    rows += [(f"{n} more", "skipped", cause) for cause, n in causes.items() if n > 1]
    count = {state: sum(c.state == state for c in checks) for state in ("ok", "failed", "skipped")}
    summary = ", ".join(f"{number} {state}" for state, number in count.items() if number)
    return f"{info.described}\n{columns([('CHECK', 'STATE', ''), *rows])}\n{summary}"


def _first_line(check: Any) -> str:
    """Returns the problem that a check found, or else its description, in one line."""
    return " ".join(check.problem.split()) or check.description


def _as_json(info: PluginInfo, checks: Sequence[Any]) -> list[dict[str, Any]]:
    plugin = {"kind": info.kind.word, "plugin": info.name, "distribution": info.distribution}
    return [{**plugin, **dataclasses.asdict(check)} for check in checks]
