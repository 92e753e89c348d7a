"""Pages of the reference: commands, options, plugins, checks and exit codes, from the code."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from figures import network_table

from tf_frame import errors
from tf_frame.cli.main import COMMANDS, main
from tf_frame.config.option import Option, declared_options
from tf_frame.config.run_options import GROUPS
from tf_frame.config.values import to_text, type_text
from tf_frame.plugin import kinds
from tf_frame.plugin.find import PluginInfo, find_plugins
from tf_frame.plugin.load import load_plugin_info
from tf_frame.testing.conformance.check import SUITES

_ROOT = pathlib.Path(__file__).parents[2]
_WIDTH = "90"
# Kind -> name of its page.
_KIND_PAGES = {
    kinds.MODEL: "models",
    kinds.INPUT: "inputs",
    kinds.HOOK: "hooks",
    kinds.GRADIENT_TRANSFORM: "transforms",
    kinds.OPTIMIZER: "optimizers",
    kinds.LEARNING_RATE: "learning_rates",
    kinds.NETWORK: "networks",
    kinds.PREPROCESSING: "preprocessing",
    kinds.CONVERTER: "converters",
}
_EXIT_CODES = {
    errors.EXIT_OK: "done",
    errors.EXIT_FAILED: "the run failed",
    errors.EXIT_USAGE: "a wrong option, plugin or data, or an error in the code of a plugin",
    errors.EXIT_INTERRUPTED: "Ctrl-C, after the current step was saved",
    errors.EXIT_START_AGAIN: "asks the scheduler to start the task again",
    143: "SIGTERM, after the current step was saved",
}


def pages() -> dict[str, str]:
    """Returns name -> text of each page."""
    installed = find_plugins()
    return {
        "commands": _commands(),
        "run_options": _run_options(),
        **{name: _kind_page(kind, installed) for kind, name in _KIND_PAGES.items()},
        "checks": _checks(),
        "exit_codes": _exit_codes(),
    }


def _commands() -> str:
    """The help of each command, as it is printed."""
    names = [*COMMANDS, *(info.name for info in find_plugins() if info.kind == kinds.COMMAND)]
    parts = ["# Commands", f"```text\n{_help()}\n```"]
    parts += [f"## tf-frame {name}\n\n```text\n{_help(name)}\n```" for name in names]
    return "\n\n".join(parts)


def _help(*words: str) -> str:
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = _WIDTH
    try:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = main([*words, "--help"])
    finally:
        os.environ.pop("COLUMNS") if before is None else os.environ.update(COLUMNS=before)
    assert code == errors.EXIT_OK, f"tf-frame {' '.join(words)} --help ended with {code}"
    return out.getvalue().strip()


def _run_options() -> str:
    parts = [
        "# Options of a run",
        "Each option is a flag of `tf-frame run` and a key of `config.yaml`. Options of plugins "
        "have dotted names, and are with their plugins.",
        "```{program} tf-frame run\n```",
    ]
    for group in GROUPS:
        title = (inspect.getdoc(group) or group.__name__).split("\n")[0].rstrip(".")
        parts += [f"## {title}", *map(_option, declared_options(group))]
    return "\n\n".join(parts)


def _option(option: Option) -> str:
    """An option as Sphinx lists it: with an anchor, and in the search."""
    switch = "[no]" if option.type is bool else ""
    value = "" if option.type is bool else f" {type_text(option.type).upper()}"
    if option.choices:
        value = " " + "|".join(to_text(choice) for choice in option.choices)
    default = to_text(option.default) or "empty"
    bounds = f" Allowed: {option.range_text}." if option.range_text else ""
    needs = ""
    if option.requires:
        needs = f" Only with {' or '.join(f'`--{name}`' for name in option.requires)}."
    text = _escaped(option.help[:1].upper() + option.help[1:])
    names = f"--{option.name}{value}"
    if switch:
        names += f", --no{option.name}"
    return f"```{{option}} {names}\n{text}. Default: `{default}`.{bounds}{needs}\n```"


def _escaped(text: str) -> str:
    for character in "<>*_`[]$":
        text = text.replace(character, f"\\{character}")
    return text


def _kind_page(kind: kinds.Kind, installed: Sequence[PluginInfo]) -> str:
    found = [info for info in installed if info.kind == kind]
    word = {kinds.PREPROCESSING: "preprocessing"}.get(kind, f"{kind.word}s")
    parts = [f"# {word[:1].upper()}{word[1:]}"]
    if kind == kinds.NETWORK:
        parts += [
            "With 1,000 classes, for an image of the network's own size.",
            network_table(_ROOT),
        ]
    for info in found:
        parts += _plugin(info)
    return "\n\n".join(parts)


def _plugin(info: PluginInfo) -> Iterator[str]:
    cls = load_plugin_info(info).cls
    about = (inspect.getdoc(cls) or "no description").split("\n\nRaises:")[0]
    yield f"## `{info.name}`"
    yield f"From {info.distribution}."
    yield f"```text\n{about}\n```"
    facts = dict(_facts(info, cls))
    if facts:
        yield "\n".join(f"* {name}: {value}" for name, value in facts.items())
    options = declared_options(cls.Params, info.option_prefix)
    if options:
        yield f"```{{program}} tf-frame {info.kind.word} {info.name}\n```"
        yield from map(_option, options)


def _facts(info: PluginInfo, cls: Any) -> Iterator[tuple[str, str]]:
    if info.kind == kinds.MODEL:
        yield "begin by", f"`tf-frame run --plugin {info.name}`"
        yield "presets", ", ".join(f"`{name}`" for name in sorted(cls.presets)) or "none"
        yield "input by default", f"`{cls.default_input}`"
    if info.kind == kinds.NETWORK:
        size = cls.default_image_size
        yield "image size", f"{size} x {size} x {cls.channels or 'any'}"
        yield "preprocessing", f"`{cls.preprocessing}`"


def _checks() -> str:
    """The checks of `tf-frame plugins check`, by kind of plugin."""
    parts = [
        "# Checks of plugins",
        "`tf-frame plugins check NAME` runs these; so do tests that inherit from the classes of "
        "`tf_frame.testing.conformance`.",
    ]
    for kind, suite in SUITES.items():
        rows = dict(_suite_rows(suite))
        table = "\n".join(f"| `{name}` | {text} |" for name, text in rows.items())
        parts.append(
            f"## {kind.word[:1].upper()}{kind.word[1:]}\n\n| check | |\n|---|---|\n{table}"
        )
    return "\n\n".join(parts)


def _suite_rows(suite: type) -> Iterator[tuple[str, str]]:
    for name, method in inspect.getmembers(suite, inspect.isfunction):
        if name.startswith("test_"):
            yield name.removeprefix("test_"), _first_line(method)


def _first_line(thing: Any) -> str:
    return _escaped((inspect.getdoc(thing) or "").split("\n")[0])


def _exit_codes() -> str:
    rows = "\n".join(f"| {code} | {text} |" for code, text in sorted(_EXIT_CODES.items()))
    classes = "\n".join(
        f"| `{name}` | {cls.exit_code} | {_first_line(cls)} |"
        for name, cls in _error_classes().items()
    )
    return (
        f"# Exit codes and errors\n\n| code | meaning |\n|---|---|\n{rows}\n\n"
        f"| class of `tf_frame.errors` | exit code | |\n|---|---|---|\n{classes}"
    )


def _error_classes() -> Mapping[str, Any]:
    members = inspect.getmembers(errors, inspect.isclass)
    return {name: cls for name, cls in members if issubclass(cls, errors.TfFrameError)}
