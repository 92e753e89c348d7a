"""`CommandLine`: the words after a sub-command, split once into options of the run and of plugins.

    line = split_words(["--plugin", "deeplab", "--max_steps", "9", "--model.output_stride", "8"])
    line.values == {"plugin": "deeplab", "max_steps": 9}
    line.plugin_words == {"model": ["--model.output_stride", "8"]}

The options of plugins stay text here; `parsing` loads the plugins and then converts the text.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tf_frame import file_system
from tf_frame.command_line.lock import adding_plugin_changes, find_records, refuse_unrecorded
from tf_frame.command_line.selection import LOCKED, MODE, MODEL_DIR, SELECTION, TRYING
from tf_frame.config.flags import parse_flags, split_flags
from tf_frame.config.option import Option
from tf_frame.config.run_options import run_options
from tf_frame.config.yaml_file import Settings
from tf_frame.errors import ConfigError
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import MODEL
from tf_frame.run_folders import runs_hint
from tf_frame.runs.setup.folder_claim import default_model_dir
from tf_frame.runs.setup.model_dir import CONFIG_FILE
from tf_frame.runs.setup.plugin_choice import ChosenPlugins
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.text import listed, short

# `--model.depth`, or `--nomodel.frozen` for a switch.
_PLUGIN_FLAG = re.compile(r"--?(?:no)?(model|input|optimizer|schedule|transform|hook)\.")
# A word like `-5` is the value of the option before it.
_FLAG = re.compile(r"-(?![\d.])")


@dataclasses.dataclass(frozen=True, kw_only=True)
class CommandLine:
    """A command line, split; complete once `parsing.load_plugins` has added files and plugins.

    Attributes:
      values: name -> value of the options of a run that belong to no plugin.
      own_options: the options of the sub-command; they hide options of a run with the same name.
      own_values: name -> value of `own_options`, defaults included.
      plugin_words: first part of the dotted name (`model`) -> words of such options, in order.
      plugin_values: dotted name -> value of the options of plugins that are parsed already.
      unknown: words that are no option known without the plugins: mistakes.
      files: the contents of the configuration files, or of the folder's own `config.yaml`; and
        last, the assignments of `--set`.
      chosen: the plugins; None if no model is named.
    """

    values: Mapping[str, Any]
    own_options: Sequence[Option] = ()
    own_values: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    plugin_words: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    plugin_values: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    unknown: Sequence[str] = ()
    files: Sequence[Settings] = ()
    chosen: ChosenPlugins | None = None

    def with_values(self, **values: Any) -> CommandLine:
        """Returns the command line with other values of some options, as if they had been typed."""
        return dataclasses.replace(self, values={**self.values, **values})

    def setup(self) -> TrainingSetup:
        """Resolves every option: the model's defaults, a preset, the files, the flags.

        Raises:
          ConfigError: no model is named, an unknown option, a wrong value, or values that do not
            fit together. The message also lists plugins that differ from a record.
        """
        with adding_plugin_changes(self.records):
            setup = self._setup()
        if self.values.get(LOCKED.name):
            refuse_unrecorded(setup.plugins(), self.records())
        return setup

    def _setup(self) -> TrainingSetup:
        flags = self.flags
        if self.chosen is None:
            raise _explain_missing_plugin(self.values.get(MODEL_DIR.name) or "")
        model_dir = self.named_model_dir or default_model_dir(self.chosen.single["model"].name)
        setup = self.chosen.configure(
            flags,
            model_dir=os.path.expanduser(model_dir),
            mode=self.values.get(MODE.name, MODE.default),
        )
        return dataclasses.replace(setup, is_default_dir=not self.named_model_dir)

    @functools.cached_property
    def flags(self) -> dict[str, Any]:
        """Option name -> checked value of all options of the run on the command line."""
        words = [word for words in self.plugin_words.values() for word in words]
        plugin_flags = self._parse_rest([*words, *self.unknown])
        return {**self.values, **self.plugin_values, **plugin_flags}

    def refuse_unknown(self) -> None:
        """Raises a ConfigError for words that no plugin can make an option."""
        self._parse_rest(self.unknown)

    def _parse_rest(self, words: Sequence[str]) -> dict[str, Any]:
        if not words:
            return {}
        # The error for a misspelled option names the nearest of all options.
        options = [*_options_without_plugins(self.own_options)]
        options += self.chosen.plugin_options() if self.chosen else []
        explain = self.chosen.why_unknown if self.chosen else self._ask_for_model
        return parse_flags(words, options, explain=explain)

    def _ask_for_model(self, name: str) -> str:
        """Refuses an option of a plugin by asking for the model first."""
        if "." in name:
            raise _explain_missing_plugin(self.values.get(MODEL_DIR.name) or "")
        return ""

    @property
    def named_model_dir(self) -> str | None:
        """The folder that the command line, or else a file, names."""
        folder: str | None = self.values.get(MODEL_DIR.name)
        return folder or self.value_in_files(MODEL_DIR)

    def value_in_files(self, option: Option) -> Any:
        """The checked value of an option in the strongest file that has it; None without any."""
        values = [file.values[option.name] for file in self.files if option.name in file.values]
        return option.parse(values[-1]) if values else None

    def records(self) -> list[Settings]:
        """The files that record the plugins of a run: the files read, and the one in the folder."""
        return find_records(self.files, self.named_model_dir)

    def defaults(self) -> dict[str, Any]:
        """Option name -> value of the model's defaults, the preset and the weights."""
        weakest = self.chosen.sources[:3] if self.chosen else ()
        return {name: value for source in weakest for name, value in source.values.items()}


def split_words(argv: Sequence[str], own_options: Sequence[Option] = ()) -> CommandLine:
    """Splits the words after a sub-command by the options of the run and its own; loads no plugin.

    Raises:
      ConfigError: a wrong value of an option that belongs to no plugin.
    """
    values, other_words = split_flags(argv, _options_without_plugins(own_options))
    own_names = {option.name for option in own_options}
    plugin_words: dict[str, list[str]] = {}
    unknown: list[str] = []
    for words in _group(other_words):
        match = _PLUGIN_FLAG.match(words[0])
        (plugin_words.setdefault(match[1], []) if match else unknown).extend(words)
    return CommandLine(
        values={name: value for name, value in values.items() if name not in own_names},
        own_options=own_options,
        own_values={option.name: values.get(option.name, option.default) for option in own_options},
        plugin_words=plugin_words,
        unknown=unknown,
    )


def _options_without_plugins(own_options: Sequence[Option]) -> list[Option]:
    hidden = {option.name for option in own_options}
    options = (*SELECTION, *TRYING, *run_options())
    return [*own_options, *(option for option in options if option.name not in hidden)]


def _group(words: Sequence[str]) -> Iterator[list[str]]:
    """Yields each option with the words up to the next one; all words after `--` together."""
    group: list[str] = []
    for word in words:
        if _FLAG.match(word) and group[:1] != ["--"]:
            if group:
                yield group
            group = []
        group.append(word)
    if group:
        yield group


def find_configuration(model_dir: str) -> str:
    """Returns the path of the configuration file in a folder.

    Raises:
      ConfigError: there is none.
    """
    path = os.path.join(os.path.expanduser(model_dir), CONFIG_FILE)
    if not file_system.exists(path):
        raise ConfigError(_explain_missing_run(model_dir))
    return path


def _explain_missing_plugin(model_dir: str) -> ConfigError:
    """Returns the error of a command line without a model, with or without a folder."""
    models = sorted({info.name for info in find_plugins() if info.kind == MODEL})
    installed = listed(models, none="none yet; pip install one, such as tf-frame-deeplab")
    ask = f"say which model to train: --plugin NAME (installed: {installed})"
    if not model_dir:
        return ConfigError(ask)
    reason = _explain_missing_run(model_dir)
    link = " To" if reason.endswith("?") else "; to"
    return ConfigError(f"{reason}{link} begin a new run there, {ask}")


def _explain_missing_run(model_dir: str) -> str:
    """Returns why a folder names no model to go on with, and the folders of runs near it."""
    folder = os.path.expanduser(model_dir)
    if not file_system.is_folder(folder):
        reason = f"{short(model_dir)}: there is no such folder"
    elif not file_system.exists(os.path.join(folder, CONFIG_FILE)):
        reason = (
            f"{short(model_dir)} has no {CONFIG_FILE}, which tf-frame run writes when training "
            "begins"
        )
    else:
        reason = f"{short(model_dir)}/{CONFIG_FILE} names no plugin"
    return reason + runs_hint(folder)
