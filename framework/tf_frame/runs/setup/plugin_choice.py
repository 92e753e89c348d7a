"""Makes a `TrainingSetup` from settings of several sources: chooses plugins and resolves options.

    chosen = choose_plugins([model_settings(cls, "deeplab"), file, command_line])
    setup = chosen.configure(model_dir="runs/first")

`tf-frame run` and `Estimator` share this module, so that sources have the same precedence in both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tf_frame.config.option import (
    Option,
    check_names,
    declared_options,
    origins as option_origins,
    resolve,
)
from tf_frame.config.run_options import RunOptions, run_options
from tf_frame.config.values import to_text
from tf_frame.config.yaml_file import Named, Settings, to_settings
from tf_frame.errors import ConfigError
from tf_frame.plugin.configured import ConfiguredPlugin
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM, HOOK, INPUT, LEARNING_RATE, MODEL, OPTIMIZER
from tf_frame.plugin.load import (
    LoadedPlugin,
    NamedPlugin,
    load_named_plugins,
    load_plugin,
    plugins_with_option,
)
from tf_frame.runs.setup.training_setup import TRAIN, TrainingSetup
from tf_frame.text import brief, listed, short_word

_KINDS = {"input": INPUT, "optimizer": OPTIMIZER, "schedule": LEARNING_RATE}
_LISTED_KINDS = {"transform": GRADIENT_TRANSFORM, "hook": HOOK}
_DEFAULT_NAMES = Settings(optimizer="momentum", schedule="fixed")
_MODEL_DIR = Option("model_dir", str, None, "")
# Name of the strongest source of `tf-frame run`.
COMMAND_LINE = "the command line"
# Prefix of the run options, which have no dotted names.
_RUN = ""


@dataclasses.dataclass(frozen=True)
class ChosenPlugins:
    """The plugins that settings name, loaded, and the settings that apply to them.

    Attributes:
      sources: the settings, weakest first.
      single: `model`, `input`, `optimizer`, `schedule` -> plugin, with the same word as prefix;
        an `Estimator` has neither model nor input.
      transforms, hooks: the gradient transforms and the hooks, in order.
      named_by: `plugin`, `input`, `optimizer`, `schedule`, `transforms`, `hooks` -> path of the
        source with these names; empty: the default.
    """

    sources: Sequence[Settings]
    single: Mapping[str, NamedPlugin]
    transforms: Sequence[NamedPlugin]
    hooks: Sequence[NamedPlugin]
    named_by: Mapping[str, str]

    def parts(self) -> list[NamedPlugin]:
        """Returns every plugin, in the order of the help."""
        return [*self.single.values(), *self.transforms, *self.hooks]

    def params_classes(self) -> dict[str, Any]:
        """Returns option prefix -> `Params` of every plugin, in the order of the help."""
        return {part.prefix: part.plugin.cls.Params for part in self.parts()}

    def plugin_options(self) -> list[Option]:
        """Returns the options of all plugins, with dotted names."""
        return [
            o
            for prefix, cls in self.params_classes().items()
            for o in declared_options(cls, prefix)
        ]

    def configure(
        self, flags: Mapping[str, Any] | None = None, *, model_dir: str, mode: str = TRAIN
    ) -> TrainingSetup:
        """Resolves every option.

        Args:
          flags: dotted option name -> value; stronger than all sources.
          model_dir: the folder of the training.
          mode: see `TrainingSetup`.

        Raises:
          ConfigError: an unknown option, a wrong value, or values that exclude each other.
        """
        self._check_names()
        params = self._params([values for _, values in self._values(flags or {})])

        def configured(part: NamedPlugin) -> ConfiguredPlugin:
            return ConfiguredPlugin(part.name, part.plugin, params[part.prefix])

        single: dict[str, Any] = {key: configured(part) for key, part in self.single.items()}
        return TrainingSetup(
            config=self._with_reached_profiles(params[_RUN], flags or {}),
            transforms=[configured(part) for part in self.transforms],
            hooks=[configured(part) for part in self.hooks],
            model_dir=model_dir,
            mode=mode,
            **single,
        )

    def _with_reached_profiles(self, config: RunOptions, flags: Mapping[str, Any]) -> RunOptions:
        """Leaves out profiles after the last step if a stronger source sets the last step.

        The profiles come from the model's defaults, or from a file while a flag sets the last step.
        """
        defaults, *_ = self.sources
        from_model = defaults.path and self.origins(flags)["profile_at_step"] == defaults.path
        from_file = "profile_at_step" not in flags and "max_steps" in flags
        if not (from_model or from_file):
            return config
        reached = tuple(step for step in config.profile_at_step if step <= config.max_steps)
        return dataclasses.replace(config, profile_at_step=reached)

    def why_unknown(self, name: str) -> str:
        """Explains that `optimizer.beta1` belongs to a plugin that is not in use; else empty."""
        prefix, _, option = name.rpartition(".")
        word, _, plugin = prefix.partition(".")
        kind = {"model": MODEL, **_KINDS, **_LISTED_KINDS}.get(word)
        if kind is None:
            return ""
        in_use = {part.prefix: part.name for part in self.parts()}
        installed = find_plugins()
        if prefix not in in_use:
            names = [info.name for info in installed if info.kind == kind]
            return f"{plugin} is not in use; give --{word} {plugin}" if plugin in names else ""
        near = {"tf-frame", *(part.plugin.info.distribution for part in self.parts())}
        owners = plugins_with_option(kind, option, installed, first=near)
        if not owners:
            return ""
        return f"{short_word(option)} belongs to {listed(owners)}; the {word} is {in_use[prefix]}"

    def _check_names(self) -> None:
        options = [*run_options(), *self.plugin_options()]
        explain = self.why_unknown
        defaults, *stronger = self.sources
        check_names(defaults.values, options, defaults.path, explain=explain)
        for source in stronger:
            check_names(source.values, [*options, _MODEL_DIR], source.path, explain=explain)
        paths = [source.path for source in stronger if source.transforms or source.hooks]
        path = next(filter(None, paths), "--transform")
        for plugin in (*self.transforms, *self.hooks):
            check_names(plugin.values, options, path, explain=explain)

    def origins(self, flags: Mapping[str, Any]) -> dict[str, str]:
        """Returns dotted option name -> source of the value; empty: the default."""
        values = self._values(flags)
        numbers = {
            name: number
            for prefix, cls in {_RUN: RunOptions, **self.params_classes()}.items()
            for name, number in option_origins(cls, [v for _, v in values], prefix).items()
        }
        return {
            name: "" if number is None else values[number][0] for name, number in numbers.items()
        }

    def _values(self, flags: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
        """Returns name and values of each source, weakest first."""
        *weaker, strongest = self.sources
        # Values within a list of plugins win over the other values of the same source.
        listed = [
            (self.named_by[key], {k: v for part in parts for k, v in part.values.items()})
            for key, parts in (("transforms", self.transforms), ("hooks", self.hooks))
        ]
        return [
            *self._proposed([*(source.values for source in weaker), strongest.values, flags]),
            *((source.path, source.values) for source in weaker),
            *((path, values) for path, values in listed if path != strongest.path),
            (strongest.path, strongest.values),
            *((path, values) for path, values in listed if path == strongest.path),
            (COMMAND_LINE, flags),
        ]

    def _proposed(
        self, values: Sequence[Mapping[str, Any]]
    ) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yields the options that the model proposes for its input: the weakest source."""
        if "model" in self.single:
            model = self.single["model"]
            cls = model.plugin.cls
            options = propose_input_options(cls, resolve(cls.Params, values, prefix="model"))
            proposed = {f"input.{key}": value for key, value in options.items()}
            # For inputs that consist of inputs.
            pairs = tuple(f"{key}={to_text(value)}" for key, value in options.items())
            proposed["input.source_defaults"] = pairs
            yield f"input_defaults of the model {model.name}", proposed

    def _params(self, values: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Returns prefix -> `Params`, with the run options under an empty prefix."""
        classes = {_RUN: RunOptions, **self.params_classes()}
        return {prefix: resolve(cls, values, prefix=prefix) for prefix, cls in classes.items()}


def propose_input_options(model: Any, params: Any) -> Mapping[str, Any]:
    """Returns the options that a model's class proposes for its input."""
    # A model need not inherit from `tf_frame.Model`.
    propose: Any = getattr(model, "input_defaults", lambda params: {})
    options: Mapping[str, Any] = propose(params)
    return options


def choose_plugins(
    sources: Sequence[Settings],
    *,
    model: tuple[str, LoadedPlugin] | None = None,
    source: LoadedPlugin | None = None,
) -> ChosenPlugins:
    """Loads the plugins that settings name.

    A stronger source wins. If a stronger source replaces a plugin, the values of weaker sources
    for the plugin are dropped, except those of a preset that fit the new input. If a file
    was written for another model, its input and transforms are dropped.

    Args:
      sources: settings, weakest first: of the model, of a preset, of files, and of the command
        line or the options of an `Estimator`.
      model: name and plugin of the model; None for an `Estimator`, which has no input either.
      source: the input, instead of the input of the settings.

    Raises:
      PluginError: a plugin cannot be used.
      ConfigError: neither the model nor a source names an input.
    """
    fitting = [_for_model(source, model) for source in sources]
    installed = find_plugins()
    owner = model[1].info.distribution if model else "tf-frame"
    names = {key: _strongest([_DEFAULT_NAMES, *fitting], key) for key in _KINDS}
    if source is not None:
        names["input"] = source.info.name
    if model is None:
        del names["input"]
    elif names["input"] is None:
        raise ConfigError(
            f"the model {brief(model[0])} has no input of its own; name one with --input"
        )
    loaded = {"input": source} if source else {}
    loaded |= {
        key: load_plugin(_KINDS[key], name, prefer=owner, installed=installed)
        for key, name in names.items()
        if key not in loaded
    }
    single = {key: NamedPlugin(names[key], plugin, key, {}) for key, plugin in loaded.items()}
    if model:
        single = {"model": NamedPlugin(*model, "model", {}), **single}
    lists = {
        word: load_named_plugins(
            word, _strongest_list(fitting, f"{word}s"), prefer=owner, installed=installed
        )
        for word in ("transform", "hook")
    }
    *weaker, strongest = sources
    weaker = [_for_model(_without_replaced(source, names, loaded), model) for source in weaker]
    return ChosenPlugins(
        sources=[*weaker, strongest],
        single=single,
        transforms=lists["transform"],
        hooks=lists["hook"],
        named_by={
            key: next((s.path for s in reversed(fitting) if getattr(s, key) is not None), "")
            for key in ("plugin", *_KINDS, "transforms", "hooks")
        },
    )


def setup_from_options(
    options: Mapping[str, Any], *, model_dir: str, defaults: Settings | None = None
) -> TrainingSetup:
    """Returns the setup of an `Estimator`, which receives model and inputs as objects.

    Args:
      options: the content of a `config.yaml` without the sections of model and input; options of
        plugins also under their dotted names.
      model_dir: the folder of the training.
      defaults: settings of the model, weaker than `options`.

    Raises:
      ConfigError: an option that does not exist, or a wrong value.
      PluginError: a plugin that cannot be used.
    """
    settings = to_settings(options, "options")
    if settings.plugin or settings.input:
        raise ConfigError(
            "options: plugin and input are for tf-frame run; the estimator is given its model, "
            "and train() its input"
        )
    setup = choose_plugins([defaults or Settings(), settings]).configure(model_dir=model_dir)
    if setup.config.overfit_batches:
        raise ConfigError(
            "options: overfit_batches is for tf-frame run; let the input_fn take() its batches"
        )
    return setup


def _for_model(source: Settings, model: tuple[str, LoadedPlugin] | None) -> Settings:
    """Returns a source without the parts for another model."""
    if model is None or source.plugin in (None, model[0]):
        return source
    values = {k: v for k, v in source.values.items() if not k.startswith("model.")}
    return dataclasses.replace(source, input=None, transforms=None, values=values)


def _without_replaced(
    source: Settings, names: Mapping[str, str], loaded: Mapping[str, LoadedPlugin]
) -> Settings:
    """Returns a source without the options of plugins that a stronger source replaces."""
    replaced = tuple(f"{key}." for key in names if getattr(source, key) not in (None, names[key]))
    kept = set()
    if source.is_preset and "input" in loaded:
        options = declared_options(loaded["input"].cls.Params, "input")
        kept = {option.name for option in options if _takes(option, source.values)}
    values = {k: v for k, v in source.values.items() if k in kept or not k.startswith(replaced)}
    return dataclasses.replace(source, values=values)


def _takes(option: Option, values: Mapping[str, Any]) -> bool:
    """Returns whether an option has a value, and a value of its type and range."""
    try:
        option.parse(values[option.name])
    except (KeyError, ConfigError):
        return False
    return True


def _strongest(sources: Sequence[Settings], key: str) -> Any:
    return next((v for s in reversed(sources) if (v := getattr(s, key)) is not None), None)


def _strongest_list(sources: Sequence[Settings], key: str) -> Sequence[Named]:
    """Returns the strongest list; its items without options take options of a weaker list."""
    *weaker, strongest = sources
    plugins = getattr(strongest, key)
    weaker_plugins = _strongest(weaker, key) or ()
    if plugins is None:
        return weaker_plugins
    options = {plugin.name: plugin.values for plugin in reversed(weaker_plugins)}
    return [p if p.values else Named(p.name, options.get(p.name, {})) for p in plugins]
