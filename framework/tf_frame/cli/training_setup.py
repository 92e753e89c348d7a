"""Makes a `TrainingSetup`, what is to be trained and how, from flags, a YAML file and a preset.

`tf-frame run` makes it of its command line. `evaluate`, `predict` and `export` make it of the
`config.yaml` that the run wrote to MODEL_DIR, so that its options need not be repeated.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.cli.screen import quiet_tensorflow, without_chatter
from tf_frame.config.flags import parse_flags, split_flags
from tf_frame.config.option import Option
from tf_frame.config.run_options import run_options
from tf_frame.config.values import nearest
from tf_frame.config.yaml_file import Named, Settings, read_settings, to_settings
from tf_frame.errors import ConfigError
from tf_frame.estimator.training.model_dir import CONFIG_FILE, default_model_dir
from tf_frame.estimator.training.setup import TRAIN, TRAIN_AND_EVALUATE, TrainingSetup
from tf_frame.estimator.training.setup_factory import (
    ChosenPlugins,
    choose_plugins,
    settings_of_model,
)
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import MODEL
from tf_frame.plugin.load import load_plugin

# Values of `--mode` that are sub-commands of their own.
COMMAND_MODES = ("evaluate", "predict", "export")
MODEL_DIR = Option(
    "model_dir", str, None, "where everything is written; default: a new folder in ./runs"
)
MODE = Option(
    "mode",
    str,
    TRAIN,
    "train, and evaluate at the end; train and evaluate every checkpoint that is saved; or do as "
    "tf-frame evaluate, predict and export with --model_dir",
    choices=(TRAIN, TRAIN_AND_EVALUATE, *COMMAND_MODES),
)
SELECTION = (
    Option("plugin", str, None, "the model to train; tf-frame plugins list shows all"),
    MODE,
    Option("input", str, None, "the input to train on; default: the model's own"),
    Option("optimizer", str, None, "how gradients become updates; default: the model's, momentum"),
    Option("schedule", str, None, "how the learning rate changes; default: the model's, fixed"),
    Option(
        "transform",
        tuple[str, ...],
        None,
        "a gradient transform, with a value for its first option after a colon "
        "(clip_by_norm:10); repeat it for several, they apply in this order",
        verbatim=True,
    ),
    Option(
        "hook",
        tuple[str, ...],
        None,
        "a hook beside those of the run options, with a value for its first option after a colon "
        "(heartbeat:60); repeat it for several",
        verbatim=True,
    ),
    Option(
        "preset",
        str,
        None,
        "a named set of options that the model provides; tf-frame plugins show lists them",
    ),
    MODEL_DIR,
    Option("config", str, None, "a YAML file with options; the command line wins over it"),
)


@dataclasses.dataclass(frozen=True)
class CommandLine:
    """A parsed command line of a run, with the plugins that it names.

    Attributes:
      values: name -> value of the options that do not belong to plugins.
      rest: the words that are left: options of plugins, or mistakes.
      file: the content of `--config`, or of the folder's own `config.yaml`.
      chosen: the plugins; None if no model is named.
    """

    values: Mapping[str, Any]
    rest: Sequence[str]
    file: Settings
    chosen: ChosenPlugins | None

    def setup(self, own: Sequence[Option] = ()) -> TrainingSetup:
        """Resolves every option: the model's defaults, a preset, the file, the flags.

        Args:
          own: options of the sub-command, which a misspelled option may mean as well.

        Raises:
          ConfigError: no model is named, an unknown option, a wrong value, or values
            that do not fit together.
        """
        flags = self._flags_of_plugins(own)
        if self.chosen is None:
            raise _no_plugin_named()
        return self.chosen.configure(
            {**self.values, **flags},
            model_dir=self._model_dir(),
            mode=self.values.get(MODE.name, MODE.default),
        )

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
        others = [*SELECTION, *run_options(), *of_plugins]
        return parse_flags(self.rest, [*own, *(o for o in others if o.name not in hidden)])

    def _model_dir(self) -> str:
        in_file = _value_in_file(self.file, MODEL_DIR)
        plugin, _ = self.chosen.single["model"] if self.chosen else ("", None)
        path = self.values.get(MODEL_DIR.name) or in_file or default_model_dir(plugin)
        return os.path.expanduser(path)


def parse_command_line(argv: Sequence[str]) -> CommandLine:
    """Parses the words after `tf-frame run`, and loads the plugins that they name.

    Raises:
      PluginError: a plugin cannot be used.
      ConfigError: a wrong value, or the configuration file cannot be read.
    """
    values, rest = split_flags(argv, [*SELECTION, *run_options()])
    file = _configuration_file(values)
    name = values.get("plugin") or file.plugin
    if name is None:
        return CommandLine(values, rest, file, None)
    verbosity = values.get("verbosity") or _value_in_file(file, _run_option("verbosity"))
    quiet_tensorflow(verbosity)
    # A plugin may import TensorFlow at its top, against the advice of the contract.
    with without_chatter(verbosity):
        return CommandLine(values, rest, file, _choose(name, values, file))


def _choose(name: str, values: Mapping[str, Any], file: Settings) -> ChosenPlugins:
    model = load_plugin(MODEL, name)
    named: dict[str, Any] = {key: values.get(key) for key in ("input", "optimizer", "schedule")}
    lists: dict[str, Any] = {
        key: None if values.get(word) is None else tuple(Named(text) for text in values[word])
        for word, key in (("transform", "transforms"), ("hook", "hooks"))
    }
    return choose_plugins(
        [
            settings_of_model(model.cls, name),
            preset_settings(model.cls, name, values.get("preset")),
            file,
            Settings(**named, **lists),
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
        which win over the file.
      own: the options of the command; they hide those of `tf-frame run` of the same name.

    Returns:
      The setup, and the values of the command's own options, defaults included.

    Raises:
      ConfigError: no folder is named, it holds no configuration, or an option is wrong.
      PluginError: a plugin that the configuration names cannot be used.
    """
    if not argv or argv[0].startswith("-"):
        raise ConfigError(f"say which folder first: tf-frame {command} MODEL_DIR [OPTIONS]")
    folder, *words = argv
    file = _file_of_folder(folder)
    values, rest = split_flags(words, [*own, MODEL_DIR, MODE])
    if MODEL_DIR.name in values:
        raise ConfigError(f"the folder is {folder}, named first; leave --model_dir out")
    if MODE.name in values:
        raise ConfigError(f"--mode is for tf-frame run; this is tf-frame {command}")
    line = parse_command_line(["--config", file, "--model_dir", folder, *rest])
    if line.chosen is None:
        raise ConfigError(f"{file} names no model to go by; it needs a line 'plugin: NAME'")
    return line.setup(own), {option.name: option.default for option in own} | values


def _file_of_folder(model_dir: str) -> str:
    """The configuration file of a folder."""
    folder = os.path.expanduser(model_dir)
    if not os.path.isdir(folder):
        raise ConfigError(f"{model_dir}: there is no such folder")
    file = os.path.join(folder, CONFIG_FILE)
    if not os.path.exists(file):
        raise ConfigError(
            f"{model_dir} has no {CONFIG_FILE}, which tf-frame run writes when training begins"
        )
    return file


def _configuration_file(values: Mapping[str, Any]) -> Settings:
    """The file that `--config` names; else, with a folder but no plugin, the folder's own."""
    if values.get("config"):
        return read_settings(values["config"])
    folder = os.path.expanduser(values.get(MODEL_DIR.name) or "")
    own = os.path.join(folder, CONFIG_FILE)
    if folder and not values.get("plugin") and os.path.exists(own):
        return read_settings(own)
    return Settings()


def _value_in_file(file: Settings, option: Option) -> Any:
    """One value of the file, checked; None if the file does not have it."""
    return option.parse(file.values[option.name]) if option.name in file.values else None


def _run_option(name: str) -> Option:
    return next(option for option in run_options() if option.name == name)


def _no_plugin_named() -> ConfigError:
    models = sorted({info.name for info in find_plugins() if info.kind == MODEL})
    installed = ", ".join(models) or "none yet; pip install one, such as tf-frame-deeplab"
    return ConfigError(f"say which model to train: --plugin NAME (installed: {installed})")


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
