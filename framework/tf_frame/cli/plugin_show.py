"""`tf-frame plugins show NAME`: what the plugins called NAME are, and their options.

The short form has the first paragraph of the description, the facts that a user of the plugin
needs, and the everyday options; `--all` shows everything. `--schema` prints the JSON schema of
`config.yaml` for a model instead.
"""

from __future__ import annotations

import importlib.metadata
import inspect
import json
from collections.abc import Iterator, Sequence
from typing import Any

from tf_frame.cli.plugin_schema import config_schema
from tf_frame.command_line.option_help import everyday_options, group_text
from tf_frame.command_line.screen import report, report_help
from tf_frame.config.flags import parse_words
from tf_frame.config.option import Option, declared_options
from tf_frame.errors import EXIT_OK, ConfigError
from tf_frame.plugin import API_VERSION
from tf_frame.plugin.find import PluginInfo, find_plugins
from tf_frame.plugin.kinds import INPUT, MODEL, NETWORK
from tf_frame.plugin.load import load_plugin_info
from tf_frame.plugin.matching import matching_plugins, unknown_plugin
from tf_frame.plugin.needs import declares, fitting_inputs, fitting_models
from tf_frame.plugin.packages import metadata_fields
from tf_frame.text import brief, columns

OPTIONS = (
    Option("all", bool, False, "the whole description and all options"),
    Option("schema", bool, False, "the JSON schema of config.yaml for a model"),
)


def main(argv: Sequence[str]) -> int:
    """Prints the description; returns the exit code."""
    flags, names = parse_words(argv, OPTIONS)
    if len(names) != 1:
        raise ConfigError("tf-frame plugins show takes one NAME")
    installed = find_plugins()
    plugins = matching_plugins(names[0], installed)
    if not plugins:
        raise unknown_plugin("plugin", names[0], installed)
    if flags.get("schema"):
        report(_schema_text(plugins))
        return EXIT_OK
    everything = bool(flags.get("all"))
    report_help("\n\n".join(_description(info, everything=everything) for info in plugins))
    return EXIT_OK


def _schema_text(plugins: Sequence[PluginInfo]) -> str:
    models = [info for info in plugins if info.kind == MODEL]
    if not models:
        words = plugins[0].kind.word
        raise ConfigError(f"--schema is for a model; {brief(plugins[0].name)} is of kind {words}")
    return json.dumps(config_schema(models[0], load_plugin_info(models[0]).cls), indent=2)


def _description(info: PluginInfo, *, everything: bool) -> str:
    cls = load_plugin_info(info).cls
    rows = [*_rows(info, cls), *(_technical_rows(info, cls) if everything else ())]
    # The errors in a docstring are for the authors of the plugin.
    about = (inspect.getdoc(cls) or "no description").split("\n\nRaises:")[0]
    shown = about if everything else about.split("\n\n")[0]
    options = declared_options(cls.Params, info.option_prefix)
    few = options if everything else everyday_options(cls, options)
    parts = [f"{info.name}\n{columns(rows)}", shown, _options_text(options, few)]
    if not everything:
        parts.append(f"tf-frame plugins show {info.name} --all shows the rest.")
    return "\n\n".join(parts)


def _options_text(options: Sequence[Option], few: Sequence[Option]) -> str:
    if not options:
        return "It takes no options."
    is_whole = len(few) == len(options)
    return group_text("Options" if is_whole else f"Everyday options, of {len(options)}", few, {})


def _rows(info: PluginInfo, cls: Any) -> Iterator[tuple[str, str]]:
    yield "kind", info.kind.word
    yield "package", f"{info.distribution} {info.version}"
    page = homepage(info.distribution)
    if page:
        yield "homepage", page
    if info.kind == MODEL:
        yield "begin by", f"tf-frame run --plugin {info.name}"
        yield "input", str(getattr(cls, "default_input", None))
        if declares(cls):
            yield "works with", ", ".join(fitting_inputs(cls)) or "no installed input"
        yield "transforms", ", ".join(getattr(cls, "default_transforms", ())) or "none"
        yield "presets", ", ".join(sorted(getattr(cls, "presets", {}))) or "none"
    if info.kind == INPUT and declares(cls):
        yield "works with", ", ".join(fitting_models(cls)) or "no installed model"
    if info.kind == NETWORK:
        size = cls.default_image_size
        yield "image size", f"{size} x {size} x {cls.channels or 'any'}"
        yield "preprocessing", cls.preprocessing


def _technical_rows(info: PluginInfo, cls: Any) -> Iterator[tuple[str, str]]:
    yield "entry point", f"{info.kind.group}: {info.target}"
    declared = getattr(cls, "api_version", None)
    of_frame = f"tf-frame has version {API_VERSION}"
    yield "contract", f"version {declared}" if declared else f"no version declared; {of_frame}"


def homepage(distribution: str) -> str:
    """Returns the address of a package's page in its metadata; empty without one."""
    fields = metadata_fields(importlib.metadata.distribution(distribution))
    labelled = {
        label.strip().lower(): address.strip()
        for label, _, address in (line.partition(",") for line in fields["project-url"])
    }
    for label in ("homepage", "home", "home-page", "source", "repository"):
        if label in labelled:
            return labelled[label]
    return next(iter(fields["home-page"] or labelled.values()), "")
