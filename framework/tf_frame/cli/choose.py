"""From the words of `tf-frame run` to a checked `Job`, without TensorFlow."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.cli.quiet import quiet_tensorflow, without_chatter
from tf_frame.config.flags import parse_flags, parse_known_flags
from tf_frame.config.option import Option, options_of
from tf_frame.config.resolve import check_names, resolve
from tf_frame.config.run_config import RunConfig, run_options
from tf_frame.config.yaml_file import Settings, read_settings
from tf_frame.errors import ConfigError
from tf_frame.estimator.job import Job, Part
from tf_frame.estimator.model_dir import CONFIG_FILE, default_model_dir
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM, INPUT, MODEL, Kind
from tf_frame.plugin.load import Loaded, load_plugin

SELECTION = (
    Option("plugin", str, None, "the model to train; tf-frame plugins list shows what there is"),
    Option("input", str, None, "the input to train on; default: the model's own"),
    Option("transform", tuple[str, ...], None, "a gradient transform; repeat it for several"),
    Option("model_dir", str, None, "where everything is written; default: a new folder in ./runs"),
    Option("config", str, None, "a YAML file with options; the command line wins over it"),
)
HELP = Option("help", bool, False, "show the options and stop")
# A file names its plugins by the keys `plugin`, `input` and `transforms`.
_NOT_IN_FILES = [HELP, *(option for option in SELECTION if option.name != "model_dir")]


@dataclasses.dataclass(frozen=True)
class Choice:
    """The plugins that a command line names, loaded.

    Attributes:
      file: what `--config`, or the folder's own `config.yaml`, says.
      model, input, transforms: name and plugin of each.
    """

    file: Settings
    model: tuple[str, Loaded]
    input: tuple[str, Loaded]
    transforms: Sequence[tuple[str, Loaded]]

    def groups(self) -> list[tuple[str, type]]:
        """Prefix and `Params` of every plugin, in the order of the help."""
        parts = [("model", self.model[1]), ("input", self.input[1])]
        parts += [(f"transform.{name}", loaded) for name, loaded in self.transforms]
        return [(prefix, loaded.cls.Params) for prefix, loaded in parts]

    def options(self) -> list[Option]:
        """Every option that goes with these plugins."""
        of_plugins = [o for prefix, params in self.groups() for o in options_of(params, prefix)]
        return [*SELECTION, HELP, *run_options(), *of_plugins]


def choose_plugins(words: Sequence[str]) -> Choice | None:
    """Reads which plugins the words and the configuration file name, and loads them.

    Returns:
      The choice, or None if no model is named.

    Raises:
      PluginError: one of them cannot be used.
      ConfigError: the configuration file cannot be read.
    """
    said = parse_known_flags(words, [*SELECTION, *run_options()])
    file = _file_settings(said)
    name = said.get("plugin") or file.plugin
    if name is None:
        return None
    verbosity = said.get("verbosity") or _from_file(file, "verbosity")
    quiet_tensorflow(verbosity)
    # A plugin may import TensorFlow at its top, against the advice of the contract.
    with without_chatter(verbosity):
        return _load(name, said, file)


def _load(name: str, said: Mapping[str, Any], file: Settings) -> Choice:
    model = load_plugin(MODEL, name)
    # What the file says of another model's input and transforms is not meant for this one.
    named = file if name == file.plugin else Settings()
    input_name = said.get("input") or named.input or model.cls.default_input
    if input_name is None:
        raise ConfigError(f"the model {name!r} has no input of its own; name one with --input")
    transforms = said.get("transform", named.transforms)
    if transforms is None:
        transforms = model.cls.default_transforms
    owner = model.found.distribution
    return Choice(
        _without_unused(file, name, input_name, transforms),
        (name, model),
        (input_name, load_plugin(INPUT, input_name, prefer=owner)),
        _load_each(GRADIENT_TRANSFORM, transforms, prefer=owner),
    )


def _without_unused(
    file: Settings, plugin: str, input_name: str, transforms: Sequence[str]
) -> Settings:
    """Drops the options of plugins that the file names and the command line replaces."""
    unused = [f"transform.{name}." for name in file.transforms or () if name not in transforms]
    if file.plugin not in (None, plugin):
        unused.append("model.")
    if file.input not in (None, input_name):
        unused.append("input.")
    kept = {k: v for k, v in file.values.items() if not k.startswith(tuple(unused))}
    return dataclasses.replace(file, values=kept)


def _from_file(file: Settings, name: str) -> Any:
    """One value of the file, checked; None if the file does not have it."""
    option = next(option for option in (*SELECTION, *run_options()) if option.name == name)
    return option.parse(file.values[name]) if name in file.values else None


def _file_settings(said: Mapping[str, Any]) -> Settings:
    """The file that was named; else, with a folder but no plugin, the folder's own."""
    if said.get("config"):
        return read_settings(said["config"])
    own = os.path.join(said.get("model_dir") or "", CONFIG_FILE)
    if said.get("model_dir") and not said.get("plugin") and os.path.exists(own):
        return read_settings(own)
    return Settings()


def _load_each(kind: Kind, names: Sequence[str], *, prefer: str) -> list[tuple[str, Loaded]]:
    twice = [name for name in names if list(names).count(name) > 1]
    if twice:
        raise ConfigError(f"the {kind.word} {twice[0]!r} is named twice; name each once")
    return [(name, load_plugin(kind, name, prefer=prefer)) for name in names]


def make_job(words: Sequence[str], choice: Choice) -> Job:
    """Resolves every option: defaults, the model's defaults, the file, the flags.

    Raises:
      ConfigError: an unknown option, a wrong value, or values that do not go together.
    """
    options = choice.options()
    flags = parse_flags(words, options)
    model_defaults = dict(choice.model[1].cls.run_defaults)
    check_names(model_defaults, run_options(), f"run_defaults of the model {choice.model[0]}")
    in_files = [option for option in options if option not in _NOT_IN_FILES]
    check_names(choice.file.values, in_files, choice.file.path)
    sources = [choice.file.values, flags]
    parts: dict[str, Any] = {
        prefix: resolve(params, sources, prefix=prefix) for prefix, params in choice.groups()
    }
    return Job(
        config=resolve(RunConfig, [model_defaults, *sources]),
        model=Part(*choice.model, parts["model"]),
        input=Part(*choice.input, parts["input"]),
        transforms=[Part(*chosen, parts[f"transform.{chosen[0]}"]) for chosen in choice.transforms],
        model_dir=_model_dir(flags, choice),
    )


def _model_dir(flags: Mapping[str, Any], choice: Choice) -> str:
    said = flags.get("model_dir") or _from_file(choice.file, "model_dir")
    return os.path.expanduser(said or default_model_dir(choice.model[0]))


def no_plugin_named() -> ConfigError:
    """The error for a run that names no model."""
    models = sorted({found.name for found in find_plugins() if found.kind == MODEL})
    installed = ", ".join(models) or "none yet; pip install one, such as tf-frame-deeplab"
    return ConfigError(f"say which model to train: --plugin NAME (installed: {installed})")
