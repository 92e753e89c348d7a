"""Which plugins the words of `tf-frame run` name, and where their options may stand."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.cli.modes import MODE
from tf_frame.cli.presets import PRESET, preset_settings
from tf_frame.cli.quiet import quiet_tensorflow, without_chatter
from tf_frame.config.flags import parse_known_flags
from tf_frame.config.option import Option, options_of
from tf_frame.config.run_options import run_options
from tf_frame.config.yaml_file import Named, Settings, read_settings
from tf_frame.errors import ConfigError
from tf_frame.estimator.training.model_dir import CONFIG_FILE
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import INPUT, LEARNING_RATE, MODEL, OPTIMIZER, Kind
from tf_frame.plugin.load import LoadedPlugin, load_plugin
from tf_frame.plugin.named import NamedPlugin, load_named_plugins

SELECTION = (
    Option("plugin", str, None, "the model to train; tf-frame plugins list shows what there is"),
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
    PRESET,
    Option("model_dir", str, None, "where everything is written; default: a new folder in ./runs"),
    Option("config", str, None, "a YAML file with options; the command line wins over it"),
)
HELP = Option("help", bool, False, "show the options and stop")
_DEFAULTS = {"optimizer": "momentum", "schedule": "fixed"}
# A file names its plugins by the keys `plugin`, `input`, `transforms`, `hooks` and so on.
NOT_IN_FILES = [HELP, *(option for option in SELECTION if option.name != "model_dir")]


@dataclasses.dataclass(frozen=True)
class Choice:
    """The plugins that a command line names, loaded.

    Attributes:
      file: what `--config`, or the folder's own `config.yaml`, says.
      defaults: the model's `run_defaults`, as far as its optimizer and schedule are used.
      preset: what `--preset` says, likewise.
      model, input, optimizer, schedule: name and plugin of each.
      transforms, hooks: the gradient transforms and the hooks, in order.
      mode: what to do; see `modes.MODE`.
    """

    file: Settings
    defaults: Mapping[str, Any]
    model: tuple[str, LoadedPlugin]
    input: tuple[str, LoadedPlugin]
    optimizer: tuple[str, LoadedPlugin]
    schedule: tuple[str, LoadedPlugin]
    transforms: Sequence[NamedPlugin]
    hooks: Sequence[NamedPlugin]
    preset: Settings
    mode: str = MODE.default

    def groups(self) -> list[tuple[str, type]]:
        """Prefix and `Params` of every plugin, in the order of the help."""
        names = ("model", "input", "optimizer", "schedule")
        parts = [(name, getattr(self, name)[1]) for name in names]
        parts += [(listed.prefix, listed.plugin) for listed in self.listed()]
        return [(prefix, loaded.cls.Params) for prefix, loaded in parts]

    def weak_values(self) -> dict[str, Any]:
        """What holds when neither a file nor the command line says anything."""
        return {**self.defaults, **self.preset.values}

    def listed(self) -> list[NamedPlugin]:
        """The transforms and the hooks."""
        return [*self.transforms, *self.hooks]

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
    verbosity = said.get("verbosity") or from_file(file, "verbosity")
    quiet_tensorflow(verbosity)
    # A plugin may import TensorFlow at its top, against the advice of the contract.
    with without_chatter(verbosity):
        return _load(name, said, file)


def _load(name: str, said: Mapping[str, Any], file: Settings) -> Choice:
    installed = find_plugins()
    model = load_plugin(MODEL, name, installed=installed)
    # What the file says of another model's input and transforms is not meant for this one.
    named = file if name == file.plugin else Settings()
    preset = preset_settings(model.cls, name, said.get("preset"))
    input_name = said.get("input") or named.input or preset.input or model.cls.default_input
    if input_name is None:
        raise ConfigError(f"the model {name!r} has no input of its own; name one with --input")
    chosen = {
        part: said.get(part)
        or getattr(file, part)
        or getattr(preset, part)
        or model.cls.run_defaults.get(part)
        or default
        for part, default in _DEFAULTS.items()
    }
    owner = model.found.distribution

    def load(kind: Kind, name: str) -> tuple[str, LoadedPlugin]:
        return name, load_plugin(kind, name, prefer=owner, installed=installed)

    def listed(
        word: str, in_file: Sequence[Named] | None, default: Sequence[str]
    ) -> list[NamedPlugin]:
        chosen = _listed(said.get(word), in_file, default)
        return load_named_plugins(word, chosen, prefer=owner, installed=installed)

    return Choice(
        file=_without_unused(file, name, {"input": input_name, **chosen}),
        defaults=_defaults(model.cls.run_defaults, chosen),
        model=(name, model),
        input=load(INPUT, input_name),
        optimizer=load(OPTIMIZER, chosen["optimizer"]),
        schedule=load(LEARNING_RATE, chosen["schedule"]),
        transforms=listed(
            "transform", _first(named.transforms, preset.transforms), model.cls.default_transforms
        ),
        hooks=listed("hook", _first(file.hooks, preset.hooks), ()),
        mode=said.get("mode", MODE.default),
        preset=_without_unused(preset, name, {"input": input_name, **chosen}),
    )


def _first(*lists: Sequence[Named] | None) -> Sequence[Named] | None:
    return next((each for each in lists if each is not None), None)


def _listed(
    said: Sequence[str] | None, in_file: Sequence[Named] | None, default: Sequence[str]
) -> list[Named]:
    """The words win over the file, and the file over the model."""
    if said is None:
        return [Named(text) for text in default] if in_file is None else list(in_file)
    # What the file says of a transform or hook that the words only name still holds.
    options = {named.name: named.values for named in reversed(in_file or ())}
    return [Named(text, options.get(text, {})) for text in said]


def _defaults(run_defaults: Mapping[str, Any], chosen: Mapping[str, str]) -> dict[str, Any]:
    """The model's defaults without those for another optimizer or schedule than it is to be."""
    others = tuple(f"{p}." for p in _DEFAULTS if run_defaults.get(p, chosen[p]) != chosen[p])
    kept = {k: v for k, v in run_defaults.items() if k not in _DEFAULTS}
    return {k: v for k, v in kept.items() if not k.startswith(others)}


def _without_unused(file: Settings, plugin: str, used: Mapping[str, str]) -> Settings:
    """Drops the options of plugins that the file names and the command line replaces."""
    unused = [f"{p}." for p in used if getattr(file, p) not in (None, used[p])]
    if file.plugin not in (None, plugin):
        unused.append("model.")
    kept = {k: v for k, v in file.values.items() if not k.startswith(tuple(unused))}
    return dataclasses.replace(file, values=kept)


def from_file(file: Settings, name: str) -> Any:
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


def no_plugin_named() -> ConfigError:
    """The error for a run that names no model."""
    models = sorted({found.name for found in find_plugins() if found.kind == MODEL})
    installed = ", ".join(models) or "none yet; pip install one, such as tf-frame-deeplab"
    return ConfigError(f"say which model to train: --plugin NAME (installed: {installed})")
