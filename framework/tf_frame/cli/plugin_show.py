"""`tf-frame plugins show NAME`: package, options and description of the plugins called NAME."""

from __future__ import annotations

import importlib.metadata
import inspect
from collections.abc import Iterator, Sequence
from typing import Any

from tf_frame.command_line.option_help import group_text
from tf_frame.command_line.screen import report
from tf_frame.config.option import declared_options
from tf_frame.errors import EXIT_OK, ConfigError
from tf_frame.plugin import API_VERSION
from tf_frame.plugin.find import PluginInfo, find_plugins
from tf_frame.plugin.kinds import MODEL, NETWORK
from tf_frame.plugin.load import load_plugin_info
from tf_frame.plugin.matching import matching_plugins, unknown_plugin
from tf_frame.plugin.needs import declares, fitting_inputs
from tf_frame.plugin.packages import metadata_fields
from tf_frame.text import columns


def main(argv: Sequence[str]) -> int:
    """Prints the description; returns the exit code."""
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
    text = f"{info.name}\n{columns(_rows(info, cls))}\n\n{_about(cls)}"
    options = declared_options(cls.Params, info.option_prefix)
    if not options:
        return f"{text}\n\nIt takes no options."
    return f"{text}\n\n{group_text('Options', options, {})}"


def _about(cls: Any) -> str:
    # The errors in a docstring are for the authors of the plugin.
    return (inspect.getdoc(cls) or "no description").split("\n\nRaises:")[0]


def _rows(info: PluginInfo, cls: Any) -> Iterator[tuple[str, str]]:
    yield "kind", info.kind.word
    yield "package", f"{info.distribution} {info.version}"
    page = homepage(info.distribution)
    if page:
        yield "homepage", page
    yield "entry point", f"{info.kind.group}: {info.target}"
    declared = getattr(cls, "api_version", None)
    of_frame = f"tf-frame has version {API_VERSION}"
    yield "contract", f"version {declared}" if declared else f"no version declared; {of_frame}"
    if info.kind == MODEL:
        yield "input", str(getattr(cls, "default_input", None))
        if declares(cls):
            yield "works with", ", ".join(fitting_inputs(cls)) or "no installed input"
        yield "transforms", ", ".join(getattr(cls, "default_transforms", ())) or "none"
        yield "presets", ", ".join(sorted(getattr(cls, "presets", {}))) or "none"
    if info.kind == NETWORK:
        size = cls.default_image_size
        yield "image size", f"{size} x {size} x {cls.channels or 'any'}"
        yield "preprocessing", cls.preprocessing


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
