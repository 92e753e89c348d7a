"""Makes a `TrainingSetup`, what is to be trained and how, from flags, YAML files and a preset.

`tf-frame run` makes it of its command line. `evaluate`, `predict` and `export` make it of the
`config.yaml` that the run wrote to MODEL_DIR, so that its options need not be repeated.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame import file_system
from tf_frame.command_line.lock import (
    records_of,
    refuse_changed,
    refuse_unrecorded,
    told_with_changes,
    warnings_of,
)
from tf_frame.command_line.run_folder import file_of_folder, no_plugin_named
from tf_frame.command_line.screen import report
from tf_frame.command_line.selection import (
    LOCKED,
    MODE,
    MODEL_DIR,
    SELECTION,
    TRYING,
)
from tf_frame.config.flags import parse_flags, split_flags
from tf_frame.config.option import Option, options_of
from tf_frame.config.run_options import run_options
from tf_frame.config.values import nearest
from tf_frame.config.yaml_file import (
    Named,
    Settings,
    read_settings,
    settings_of_assignments,
    to_settings,
)
from tf_frame.errors import ConfigError
from tf_frame.plugin.kinds import MODEL
from tf_frame.plugin.load import load_plugin
from tf_frame.runs.setup.model_dir import CONFIG_FILE, default_model_dir
from tf_frame.runs.setup.plugin_choice import (
    COMMAND_LINE,
    ChosenPlugins,
    choose_plugins,
    settings_of_model,
    variant_of,
)
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.tensorflow_log import quiet_import


@dataclasses.dataclass(frozen=True)
class CommandLine:
    """A parsed command line of a run, with the plugins that it names.

    Attributes:
      values: name -> value of the options that do not belong to plugins.
      rest: the words that are left: options of plugins, or mistakes.
      files: the contents of the configuration files, or of the folder's own `config.yaml`; and
        last, what `--set` says.
      chosen: the plugins; None if no model is named.
    """

    values: Mapping[str, Any]
    rest: Sequence[str]
    files: Sequence[Settings]
    chosen: ChosenPlugins | None

    def setup(self, own: Sequence[Option] = ()) -> TrainingSetup:
        """Resolves every option: the model's defaults, a preset, the files, the flags.

        Args:
          own: options of the sub-command, which a misspelled option may mean as well.

        Raises:
          ConfigError: no model is named, an unknown option, a wrong value, or values
            that do not fit together. It also tells how plugins differ from those of a record.
        """
        with told_with_changes(self.records):
            setup = self._setup(own)
        if self.values.get(LOCKED.name):
            refuse_unrecorded(setup.plugins(), self.records())
        return setup

    def _setup(self, own: Sequence[Option]) -> TrainingSetup:
        flags = self.flags(own)
        if self.chosen is None:
            raise no_plugin_named(self.values.get(MODEL_DIR.name) or "")
        return self.chosen.configure(
            flags,
            model_dir=os.path.expanduser(self.given_model_dir() or self._default_model_dir()),
            mode=self.values.get(MODE.name, MODE.default),
        )

    def flags(self, own: Sequence[Option] = ()) -> dict[str, Any]:
        """Option name -> value of all options on the command line, checked; see `setup`."""
        return {**self.values, **self._flags_of_plugins(own)}

    def given_model_dir(self) -> str | None:
        """The folder that the command line, or else a file, names."""
        return _given_model_dir(self.values, self.files)

    def records(self) -> list[Settings]:
        """The files that record which plugins a run used: those read, and that of the folder."""
        return records_of(self.files, self.given_model_dir())

    def defaults(self) -> dict[str, Any]:
        """Option name -> value of the model's defaults and the preset."""
        weakest = self.chosen.sources[:2] if self.chosen else ()
        return {name: value for source in weakest for name, value in source.values.items()}

    def _flags_of_plugins(self, own: Sequence[Option]) -> dict[str, Any]:
        if not self.rest:
            return {}
        hidden = {option.name for option in own}
        of_plugins = self.chosen.plugin_options() if self.chosen else []
        # The error for a misspelled option names the nearest of all options.
        others = [*SELECTION, *TRYING, *run_options(), *of_plugins]
        return parse_flags(
            self.rest,
            [*own, *(o for o in others if o.name not in hidden)],
            explain=self.chosen.why_unknown if self.chosen else self._without_plugin,
        )

    def _without_plugin(self, name: str) -> str:
        """Refuses an option of a plugin by asking for the model first."""
        if "." in name:
            raise no_plugin_named(self.values.get(MODEL_DIR.name) or "")
        return ""

    def _default_model_dir(self) -> str:
        plugin, _ = self.chosen.single["model"] if self.chosen else ("", None)
        return default_model_dir(plugin)


def parse_command_line(argv: Sequence[str]) -> CommandLine:
    """Parses the words after `tf-frame run`, and loads the plugins that they name.

    Raises:
      PluginError: a plugin cannot be used.
      ConfigError: a wrong value, or a configuration file cannot be read.
        Both also tell how plugins differ from those of a record.
    """
    values, rest = split_flags(argv, [*SELECTION, *TRYING, *run_options()])
    files = [*_configuration_files(values), settings_of_assignments(values.get("set", ()))]
    named = [file.plugin for file in files if file.plugin]

    def records() -> list[Settings]:
        return records_of(files, _given_model_dir(values, files))

    if values.get(LOCKED.name):
        # Before any code of a plugin runs.
        refuse_changed(records(), files[:-1])
    name = values.get("plugin") or next(reversed(named), None)
    if name is None:
        return CommandLine(values, rest, files, None)
    verbosity = values.get("verbosity") or _value_in_files(files, _run_option("verbosity"))
    # A plugin may import TensorFlow at its top, against the advice of the contract.
    with quiet_import(verbosity), told_with_changes(records):
        return CommandLine(values, rest, files, _choose(name, values, files, rest))


def _choose(
    name: str, values: Mapping[str, Any], files: Sequence[Settings], rest: Sequence[str]
) -> ChosenPlugins:
    model = load_plugin(MODEL, name)
    preset = preset_settings(model.cls, name, values.get("preset"))
    of_model = [each.values for each in (preset, *files) if each.plugin in (None, name)]
    if getattr(model.cls, "variants", {}):
        of_model.append(split_flags(rest, options_of(model.cls.Params, "model"))[0])
    *files, assigned = files
    # Whatever model --set names, what stands beside it on the command line counts.
    given: dict[str, Any] = {
        "plugin": name if values.get("plugin") or assigned.plugin else None,
        **{key: values[key] for key in ("input", "optimizer", "schedule") if values.get(key)},
    }
    for word, key in (("transform", "transforms"), ("hook", "hooks")):
        if values.get(word) is not None:
            given[key] = tuple(Named(text) for text in values[word])
    return choose_plugins(
        [
            settings_of_model(model.cls, name, variant_of(model.cls, of_model)),
            preset,
            *files,
            dataclasses.replace(assigned, **given, path=COMMAND_LINE),
        ],
        model=(name, model),
    )


def setup_of_folder(
    command: str, argv: Sequence[str], own: Sequence[Option]
) -> tuple[TrainingSetup, dict[str, Any]]:
    """The setup of a folder's `config.yaml`, for commands that take `MODEL_DIR`.

    Args:
      command: the sub-command, for messages.
      argv: `MODEL_DIR` and options: those of the command, and any of `tf-frame run`,
        which win over the file; with a published checkpoint, the folder is made.
      own: the options of the command; they hide those of `tf-frame run` of the same name.

    Returns:
      The setup, and the values of the command's own options, defaults included.

    Raises:
      ConfigError: no folder is named, it holds no configuration, or an option is wrong.
      PluginError: a plugin that the configuration names cannot be used.
    """
    if not argv or argv[0].startswith("-"):
        return _setup_of_checkpoint(command, argv, own)
    folder, *words = argv
    flags = {word.partition("=")[0] for word in words}
    if flags >= {"--plugin", "--warm_start_from"}:
        return _setup_of_checkpoint(command, ["--model_dir", *argv], own)
    file = file_of_folder(folder)
    values, rest = split_flags(words, [*own, MODEL_DIR, MODE, *TRYING])
    if MODEL_DIR.name in values:
        raise ConfigError(f"the folder is {folder}, named first; leave --model_dir out")
    for of_run in (MODE, *TRYING):
        if of_run.name in values:
            raise ConfigError(f"--{of_run.name} is for tf-frame run; this is tf-frame {command}")
    line = parse_command_line(["--config", file, "--model_dir", folder, *rest])
    if line.chosen is None:
        raise ConfigError(f"{file} names no model to go by; it needs a line 'plugin: NAME'")
    setup = line.setup(own)
    for warning in warnings_of(line.records()):
        report(warning)
    return setup, {option.name: option.default for option in own} | values


def _setup_of_checkpoint(
    command: str, argv: Sequence[str], own: Sequence[Option]
) -> tuple[TrainingSetup, dict[str, Any]]:
    """The setup of a new folder for a published checkpoint; see `setup_of_folder`."""
    values, rest = split_flags(argv, [*own, MODE, *TRYING])
    line = parse_command_line(rest)
    setup = line.setup(own) if line.chosen else None
    of_run = any(option.name in values for option in (MODE, *TRYING))
    if setup is None or not setup.config.warm_start_from or of_run:
        raise ConfigError(
            f"say which folder first: tf-frame {command} MODEL_DIR [OPTIONS]; or, without a run, "
            "which published checkpoint: --plugin NAME --warm_start_from CHECKPOINT"
        )
    files = (os.path.join(setup.model_dir, name) for name in (CONFIG_FILE, "checkpoint"))
    if any(map(file_system.exists, files)):
        raise ConfigError(
            f"{setup.model_dir} holds a run; name another folder, or take its checkpoint by "
            f"tf-frame {command} {setup.model_dir}"
        )
    # The checkpoint has the values to be used, and no averages of its own.
    config = dataclasses.replace(setup.config, moving_average_decay=None)
    setup = dataclasses.replace(setup, config=config)
    return setup, {option.name: option.default for option in own} | values


def _configuration_files(values: Mapping[str, Any]) -> list[Settings]:
    """The files that `--config` names; else, with a folder but no plugin, the folder's own."""
    if values.get("config"):
        return [read_settings(path) for path in values["config"]]
    folder = os.path.expanduser(values.get(MODEL_DIR.name) or "")
    own = os.path.join(folder, CONFIG_FILE)
    if folder and not values.get("plugin") and file_system.exists(own):
        return [read_settings(own)]
    return []


def _given_model_dir(values: Mapping[str, Any], files: Sequence[Settings]) -> str | None:
    given: str | None = values.get(MODEL_DIR.name)
    return given or _value_in_files(files, MODEL_DIR)


def _value_in_files(files: Sequence[Settings], option: Option) -> Any:
    """One value of the strongest file that has it, checked; None if none does."""
    found = [file.values[option.name] for file in files if option.name in file.values]
    return option.parse(found[-1]) if found else None


def _run_option(name: str) -> Option:
    return next(option for option in run_options() if option.name == name)


def preset_settings(model: Any, model_name: str, name: str | None) -> Settings:
    """The options of a model's preset, which has the format of a configuration file.

    They override the defaults of the model; a configuration file and the command line
    override them.

    Args:
      model: the class of the model.
      model_name: name of the model, for messages.
      name: name of the preset; None: no options.

    Raises:
      ConfigError: the model has no preset of this name.
    """
    if name is None:
        return Settings()
    presets = getattr(model, "presets", {})
    if name not in presets:
        near = nearest(name, presets)
        hint = f"did you mean {near}? " if near else ""
        there = ", ".join(sorted(presets)) or "none"
        raise ConfigError(
            f"--preset {name}: the model {model_name} has no such preset; {hint}it has: {there}"
        )
    return to_settings(presets[name], f"the preset {name} of the model {model_name}")
