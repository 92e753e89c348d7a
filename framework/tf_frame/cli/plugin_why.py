"""`tf-frame plugins why NAME`: whether a plugin can be used, and if not, the cause and a remedy."""

from __future__ import annotations

from collections.abc import Sequence

import tf_frame
from tf_frame.command_line.screen import report_help
from tf_frame.errors import EXIT_OK, EXIT_USAGE, ConfigError
from tf_frame.plugin import API_VERSION
from tf_frame.plugin.find import BROKEN, OK, PluginInfo, find_plugins
from tf_frame.plugin.imports import BrokenPluginError
from tf_frame.plugin.load import load_plugin_info
from tf_frame.plugin.matching import did_you_mean, explain_name, matching_plugins
from tf_frame.text import brief, columns


def main(argv: Sequence[str]) -> int:
    """Prints the answer; returns 0 if every plugin of this name can be used, else 2."""
    if len(argv) != 1:
        raise ConfigError("tf-frame plugins why takes one NAME")
    (name,) = argv
    installed = find_plugins()
    plugins = matching_plugins(name, installed)
    if not plugins:
        report_help(_explain_unknown(name, installed))
        return EXIT_USAGE
    answers = [_answer(info, installed) for info in plugins]
    report_help("\n\n".join(text for text, _ in answers))
    return EXIT_OK if all(usable for _, usable in answers) else EXIT_USAGE


def _explain_unknown(name: str, installed: Sequence[PluginInfo]) -> str:
    """Returns the answer for a name without a plugin; it may be the name of a package."""
    start = f"no installed package has a plugin {brief(name)}"
    if reason := explain_name(name, installed):
        return f"{start}; {reason}"
    hint = did_you_mean(name, installed)
    return (
        f"{start}{hint and '; '}{hint}\n\n"
        "tf-frame plugins list shows all. If a package should have it: pip show --files PACKAGE "
        "tells whether it is installed here and has an entry_points.txt, which must have the name "
        "in a group such as [tf_frame.models]."
    )


def _answer(info: PluginInfo, installed: Sequence[PluginInfo]) -> tuple[str, bool]:
    """Returns the answer for one plugin, and whether it can be used."""
    try:
        load_plugin_info(info)
    except BrokenPluginError as error:
        rows = [
            ("cause", error.cause),
            ("entry point", f"{info.kind.group}: {info.name} = {info.target}"),
            ("versions", _versions(info)),
        ]
        if info.state == BROKEN and info.problem != error.cause:
            rows.append(("metadata", info.problem))
        rows.append(("remedy", error.remedy))
        return f"{info.described} cannot be used\n{columns(rows)}", False
    lines = [f"{info.described} can be used"]
    if info.state == BROKEN:
        lines.append(f"  although by its metadata {info.problem}; {info.remedy}")
    # Such as the plugin of another package with the same name.
    rivals = [p for p in installed if (p.kind, p.name) == (info.kind, info.name)]
    lines += [
        f"  but {rival.described} cannot ({rival.state}): {rival.problem}"
        for rival in rivals
        if rival.distribution != info.distribution and rival.state != OK
    ]
    return "\n".join(lines), True


def _versions(info: PluginInfo) -> str:
    return (
        f"{info.distribution} {info.version}, tf-frame {tf_frame.__version__} "
        f"(plugin contracts {API_VERSION})"
    )
