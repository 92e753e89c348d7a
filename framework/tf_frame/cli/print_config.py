"""`tf-frame run --print_config`: the resolved options of a run as YAML, each with its source.

A user sees which file, preset or model each value comes from; `--config` accepts the output.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

import tf_frame
from tf_frame.command_line.selection import MODE, MODEL_DIR
from tf_frame.command_line.words import CommandLine
from tf_frame.config.yaml_file import plain
from tf_frame.plugin.configured import ConfiguredPlugin
from tf_frame.runs.setup.plugin_choice import COMMAND_LINE
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.text import printable
from tf_frame.yaml_text import QuotedText, to_quoted_yaml

_DEFAULT = "default"


def config_text(line: CommandLine, setup: TrainingSetup) -> str:
    """Returns the configuration of a run, a line for each option."""
    assert line.chosen is not None, "a setup has a model"
    origins = line.chosen.origins(line.flags)
    names = {key: source or _DEFAULT for key, source in line.chosen.named_by.items()}
    values = setup.settings().values
    lines = [
        f"# tf-frame {tf_frame.__version__}; run it with: tf-frame run --config THIS_FILE",
        _entry("plugin", setup.model.name if setup.model else None, names["plugin"]),
        *_command_entries(line),
        *(_entry(k, v, origins[k] or _DEFAULT) for k, v in values.items() if "." not in k),
    ]
    for key in ("model", "input", "optimizer", "schedule"):
        plugin = getattr(setup, key)
        lines.append(f"{key}:")
        if key != "model":
            lines.append("  " + _entry("name", plugin.name, names[key]))
        lines += [f"  {text}" for text in _options(plugin, key, origins)]
    for key, plugins, choices in (
        ("transforms", setup.transforms, line.chosen.transforms),
        ("hooks", setup.hooks, line.chosen.hooks),
    ):
        lines.append(f"{key}:" if plugins else _entry(key, [], names[key]))
        for plugin, choice in zip(plugins, choices, strict=True):
            lines.append("- " + _entry("name", plugin.name, names[key]))
            lines += [f"  {text}" for text in _options(plugin, choice.prefix, origins)]
    return "\n".join(line for line in lines if line)


def _command_entries(line: CommandLine) -> Iterator[str]:
    """Yields lines for the options that `config.yaml` does not have."""
    folder, mode = line.named_model_dir, line.values.get(MODE.name, MODE.default)
    is_typed = MODEL_DIR.name in line.values
    if folder:
        yield _entry(MODEL_DIR.name, folder, COMMAND_LINE if is_typed else "a file")
    else:
        yield f"# {MODEL_DIR.name}: a new folder in ./runs  # {_DEFAULT}"
    if mode != MODE.default:
        yield f"# --{MODE.name} {mode} is for the command line only"


def _options(plugin: ConfiguredPlugin, prefix: str, origins: Mapping[str, str]) -> Iterator[str]:
    default = f"default of the {plugin.plugin.info.kind.word} {plugin.name}"
    for name, value in plugin.values().items():
        yield _entry(name, value, origins[f"{prefix}.{name}"] or default)


def _entry(key: str, value: Any, origin: str) -> str:
    return f"{key}: {_yaml(value)}  # {printable(origin)}"


def _yaml(value: Any) -> str:
    """Returns a value as YAML in one line."""
    value = plain(value)
    text: str = yaml.safe_dump(value, default_flow_style=True, width=math.inf, allow_unicode=True)
    text = text.removesuffix("...\n").rstrip("\n")
    if printable(text) == text:
        return text
    items = value if isinstance(value, list) else [value]
    quoted = [QuotedText(item) if isinstance(item, str) else item for item in items]
    content = quoted if isinstance(value, list) else quoted[0]
    return to_quoted_yaml(content, flow=True).removesuffix("...\n").rstrip("\n")
