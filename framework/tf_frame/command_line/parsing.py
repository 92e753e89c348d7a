"""Loads the plugins named on a command line, in its configuration files and in a preset.

`CommandLine.setup` then makes the `TrainingSetup` of `tf-frame run`; `folder_setup` makes the setup
of `evaluate`, `predict` and `export` from the `config.yaml` in MODEL_DIR.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tf_frame import file_system
from tf_frame.command_line.lock import adding_plugin_changes, refuse_changed
from tf_frame.command_line.selection import LOCKED, MODEL_DIR
from tf_frame.command_line.words import CommandLine, split_words
from tf_frame.config.flags import split_flags
from tf_frame.config.option import Option, declared_options
from tf_frame.config.option_groups import BEST_WEIGHTS
from tf_frame.config.run_options import run_options
from tf_frame.config.yaml_file import (
    Named,
    Settings,
    parse_assignments,
    read_settings,
    to_settings,
)
from tf_frame.errors import ConfigError
from tf_frame.plugin.kinds import MODEL
from tf_frame.plugin.load import load_plugin
from tf_frame.plugin.model_settings import find_variant, model_settings, preset_settings
from tf_frame.plugin.weights_contract import Weights
from tf_frame.runs.setup.model_dir import CONFIG_FILE
from tf_frame.runs.setup.plugin_choice import COMMAND_LINE, choose_plugins
from tf_frame.tensorflow_log import quiet_import
from tf_frame.weights.plugins import (
    fitting_weights,
    is_weights_name,
    load_weights,
    network_option,
)


def parse_command_line(argv: Sequence[str], own_options: Sequence[Option] = ()) -> CommandLine:
    """Splits the words after a sub-command, and loads the plugins that they name.

    Arguments and errors: see `split_words` and `load_plugins`.
    """
    return load_plugins(split_words(argv, own_options))


def load_plugins(line: CommandLine) -> CommandLine:
    """Reads the configuration files, and loads the plugins that they and the words name.

    Raises:
      PluginError: a plugin cannot be used.
      ConfigError: a wrong value, or a configuration file cannot be read.
        Both messages also list plugins that differ from a record.
    """
    files = [
        *_configuration_files(line.values),
        parse_assignments(line.values.get("set", ())),
    ]
    line = dataclasses.replace(line, files=files)
    if line.values.get(LOCKED.name):
        # Before any code of a plugin runs.
        refuse_changed(line.records(), files[:-1])
    models = [line.values.get("plugin"), *(file.plugin for file in reversed(files))]
    model = next(filter(None, models), None)
    if model is None:
        return line
    verbosity = _value(line, "verbosity")
    # A plugin may import TensorFlow at its top, against the advice of the contract.
    with quiet_import(verbosity), adding_plugin_changes(line.records):
        return _choose(line, model)


def _value(line: CommandLine, name: str) -> Any:
    """Returns the value of a run option from the command line, or else from the files; or None."""
    option = next(option for option in run_options() if option.name == name)
    return line.values.get(name) or line.value_in_files(option)


def _choose(line: CommandLine, name: str) -> CommandLine:
    """Loads the model called `name`, and the other plugins, which may depend on its variant."""
    model = load_plugin(MODEL, name)
    line = _with_best_weights(line, name, model.cls)
    weights = _weights_settings(line, name, model.cls)
    preset = preset_settings(model.cls, name, line.values.get("preset") or weights.preset)
    sources = [source.values for source in (preset, *line.files) if source.plugin in (None, name)]
    if getattr(model.cls, "variants", {}):
        words = line.plugin_words.get("model", ())
        values, other_words = split_flags(words, declared_options(model.cls.Params, "model"))
        plugin_words = {**line.plugin_words, "model": other_words}
        line = dataclasses.replace(line, plugin_values=values, plugin_words=plugin_words)
        sources.append(values)
    defaults = model_settings(model.cls, name, find_variant(model.cls, sources))
    *files, assigned = line.files
    strongest = dataclasses.replace(assigned, **_named_plugins(line, name), path=COMMAND_LINE)
    chosen = choose_plugins(
        [defaults, preset, weights.settings, *files, strongest], model=(name, model)
    )
    return dataclasses.replace(line, chosen=chosen)


def _with_best_weights(line: CommandLine, model: str, cls: Any) -> CommandLine:
    """Returns the command line with the name of weights instead of `--warm_start_from auto`."""
    if _value(line, "warm_start_from") != BEST_WEIGHTS:
        return line
    network, is_chosen = _named_network(line, cls)
    names = fitting_weights(model, network, is_chosen=is_chosen)
    if not names:
        fitted = f"are those of the network {network}" if is_chosen else f"fit the model {model}"
        raise ConfigError(
            f"--warm_start_from {BEST_WEIGHTS}: no verified weights {fitted}; "
            "tf-frame weights list shows those that there are"
        )
    return line.with_values(warm_start_from=names[0])


def _named_network(line: CommandLine, cls: Any) -> tuple[str, bool]:
    """Returns the network of a model, and whether the user named it; an empty string for none."""
    options = declared_options(cls.Params, "model")
    typed, _ = split_flags(line.plugin_words.get("model", ()), options)
    for option in options:
        if option.name == f"model.{network_option(cls)}":
            chosen = typed.get(option.name) or line.value_in_files(option)
            return str(chosen or option.default), bool(chosen)
    return "", False


class _WeightsOptions(NamedTuple):
    """The options that weights need, and the name of a preset, or None."""

    settings: Settings
    preset: str | None


def _weights_settings(line: CommandLine, model: str, cls: Any) -> _WeightsOptions:
    """Returns the options that the weights of `--warm_start_from` need, if it names any."""
    name = _value(line, "warm_start_from") or ""
    if not is_weights_name(name):
        return _WeightsOptions(to_settings({}, "no weights"), None)
    weights = load_weights(name)
    options = dict(weights.options if weights.model == model else _network_options(weights, cls))
    preset = options.pop("preset", None)
    return _WeightsOptions(to_settings(options, f"the weights {name}"), preset)


def _network_options(weights: Weights, cls: Any) -> dict[str, Any]:
    """Returns the options of a model plugin for the network of weights of another model."""
    values = {network_option(cls): weights.network, "depth_multiplier": weights.depth_multiplier}
    declared = {option.name for option in declared_options(cls.Params)}
    return {"model": {name: value for name, value in values.items() if name in declared}}


def _named_plugins(line: CommandLine, model: str) -> dict[str, Any]:
    """Returns the plugins that the command line names, as attributes of `Settings`."""
    values = line.values
    # Whichever model --set names, the other plugins on the command line are used.
    model_is_typed = values.get("plugin") or line.files[-1].plugin
    named: dict[str, Any] = {"plugin": model if model_is_typed else None}
    named |= {key: values[key] for key in ("input", "optimizer", "schedule") if values.get(key)}
    for word in ("transform", "hook"):
        if values.get(word) is not None:
            named[f"{word}s"] = tuple(Named(text) for text in values[word])
    return named


def _configuration_files(values: Mapping[str, Any]) -> list[Settings]:
    """Reads the files of `--config`; else, with a folder but no plugin, the file in the folder."""
    if values.get("config"):
        return [read_settings(path) for path in values["config"]]
    folder = os.path.expanduser(values.get(MODEL_DIR.name) or "")
    path = os.path.join(folder, CONFIG_FILE)
    if folder and not values.get("plugin") and file_system.exists(path):
        return [read_settings(path)]
    return []
