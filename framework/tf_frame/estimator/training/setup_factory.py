"""Makes a `TrainingSetup` from plugin names and option values of several sources (file, flags).

    chosen = choose_plugins([settings_of_model(cls, "deeplab"), file, command_line])
    setup = chosen.configure(model_dir="runs/first")

`tf-frame run` and `Estimator` load all their plugins here, so that the same source wins in both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.config.option import Option, check_names, options_of, resolve
from tf_frame.config.run_options import RunOptions, run_options
from tf_frame.config.yaml_file import Named, Settings, to_settings
from tf_frame.errors import ConfigError
from tf_frame.estimator.training.setup import TRAIN, ConfiguredPlugin, TrainingSetup
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import INPUT, LEARNING_RATE, OPTIMIZER
from tf_frame.plugin.load import LoadedPlugin, load_plugin
from tf_frame.plugin.named import NamedPlugin, load_named_plugins

_KINDS = {"input": INPUT, "optimizer": OPTIMIZER, "schedule": LEARNING_RATE}
_DEFAULT_NAMES = Settings(optimizer="momentum", schedule="fixed")
_MODEL_DIR = Option("model_dir", str, None, "")


@dataclasses.dataclass(frozen=True)
class ChosenPlugins:
    """The plugins that settings name, loaded, and the settings that apply to them.

    Attributes:
      sources: the settings, weakest first.
      single: `model`, `input`, `optimizer`, `schedule` -> name and plugin, as far as chosen.
      transforms, hooks: the gradient transforms and the hooks, in order.
    """

    sources: Sequence[Settings]
    single: Mapping[str, tuple[str, LoadedPlugin]]
    transforms: Sequence[NamedPlugin]
    hooks: Sequence[NamedPlugin]

    def params_classes(self) -> dict[str, Any]:
        """Prefix of its options -> `Params` of every plugin, in the order of the help."""
        loaded = {prefix: plugin for prefix, (_, plugin) in self.single.items()}
        loaded |= {each.prefix: each.plugin for each in (*self.transforms, *self.hooks)}
        return {prefix: plugin.cls.Params for prefix, plugin in loaded.items()}

    def plugin_options(self) -> list[Option]:
        """The options of all plugins, with dotted names."""
        return [o for prefix, cls in self.params_classes().items() for o in options_of(cls, prefix)]

    def configure(
        self, flags: Mapping[str, Any] | None = None, *, model_dir: str, mode: str = TRAIN
    ) -> TrainingSetup:
        """Resolves every option.

        Args:
          flags: dotted option name -> value; stronger than all sources.
          model_dir: the folder of the training.
          mode: see `TrainingSetup`.

        Raises:
          ConfigError: an unknown option, a wrong value, or values that do not fit together.
        """
        self._check_names()
        listed = (*self.transforms, *self.hooks)
        beside_names = {name: value for each in listed for name, value in each.values.items()}
        values = [*(source.values for source in self.sources), beside_names, flags or {}]
        params = self._params(values)

        def configured(each: NamedPlugin) -> ConfiguredPlugin:
            return ConfiguredPlugin(each.name, each.plugin, params[each.prefix])

        single = {key: ConfiguredPlugin(*self.single[key], params[key]) for key in self.single}
        return TrainingSetup(
            config=resolve(RunOptions, values),
            transforms=[configured(each) for each in self.transforms],
            hooks=[configured(each) for each in self.hooks],
            model_dir=model_dir,
            mode=mode,
            **single,
        )

    def _check_names(self) -> None:
        known = [*run_options(), *self.plugin_options()]
        defaults, *others = self.sources
        check_names(defaults.values, known, defaults.path)
        for source in others:
            check_names(source.values, [*known, _MODEL_DIR], source.path)
        paths = [source.path for source in others if source.transforms or source.hooks]
        for each in (*self.transforms, *self.hooks):
            check_names(each.values, known, next(filter(None, paths), "--transform"))

    def _params(self, values: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Prefix -> `Params`; what the model proposes for its input is the weakest source."""
        classes = self.params_classes()
        if "model" not in self.single:
            return {prefix: resolve(cls, values, prefix=prefix) for prefix, cls in classes.items()}
        model = resolve(classes.pop("model"), values, prefix="model")
        # A model need not inherit from `tf_frame.Model`.
        propose: Any = getattr(self.single["model"][1].cls, "input_defaults", lambda params: {})
        proposed = {f"input.{name}": value for name, value in propose(model).items()}
        values = [proposed, *values]
        others = {prefix: resolve(cls, values, prefix=prefix) for prefix, cls in classes.items()}
        return {"model": model, **others}


def choose_plugins(
    sources: Sequence[Settings], *, model: tuple[str, LoadedPlugin] | None = None
) -> ChosenPlugins:
    """Loads the plugins that settings name.

    A stronger source wins. Values that a source gives for a plugin which a stronger
    source replaces are dropped, and so are a file's input and transforms if it was
    written for another model.

    Args:
      sources: settings, weakest first: those of the model, a preset, a file, and last
        the command line or the options of an `Estimator`.
      model: name and plugin of the model; None for an `Estimator`, which has no input either.

    Raises:
      PluginError: a plugin cannot be used.
      ConfigError: the model has no input of its own, and no source names one.
    """
    fitting = [_for_model(source, model) for source in sources]
    installed = find_plugins()
    owner = model[1].info.distribution if model else "tf-frame"
    names = {key: _strongest([_DEFAULT_NAMES, *fitting], key) for key in _KINDS}
    if model is None:
        del names["input"]
    elif names["input"] is None:
        raise ConfigError(f"the model {model[0]!r} has no input of its own; name one with --input")
    single = {
        key: (name, load_plugin(_KINDS[key], name, prefer=owner, installed=installed))
        for key, name in names.items()
    }
    lists = {
        word: load_named_plugins(
            word, _strongest_list(fitting, f"{word}s"), prefer=owner, installed=installed
        )
        for word in ("transform", "hook")
    }
    *weaker, strongest = sources
    weaker = [_for_model(_without_replaced(source, names), model) for source in weaker]
    return ChosenPlugins(
        sources=[*weaker, strongest],
        single={"model": model, **single} if model else single,
        transforms=lists["transform"],
        hooks=lists["hook"],
    )


def settings_of_model(cls: Any, name: str) -> Settings:
    """The defaults of a model: its `run_defaults`, `default_transforms` and `default_input`."""
    source = f"run_defaults of the model {name}"
    settings = to_settings(getattr(cls, "run_defaults", {}), source)
    transforms = tuple(Named(text) for text in getattr(cls, "default_transforms", ()))
    return dataclasses.replace(
        settings,
        input=getattr(cls, "default_input", None),
        transforms=transforms,
    )


def setup_from_options(
    options: Mapping[str, Any], *, model_dir: str, defaults: Settings | None = None
) -> TrainingSetup:
    """The setup of an `Estimator`, whose model and inputs are arguments.

    Args:
      options: the content of a `config.yaml` without the sections of model and
        input; options of plugins also under their dotted names.
      model_dir: the folder of the training.
      defaults: settings of the model's own, weaker than `options`.

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
    return choose_plugins([defaults or Settings(), settings]).configure(model_dir=model_dir)


def _for_model(source: Settings, model: tuple[str, LoadedPlugin] | None) -> Settings:
    """A source without the parts that are meant for another model."""
    if model is None or source.plugin in (None, model[0]):
        return source
    values = {k: v for k, v in source.values.items() if not k.startswith("model.")}
    return dataclasses.replace(source, input=None, transforms=None, values=values)


def _without_replaced(source: Settings, names: Mapping[str, str]) -> Settings:
    """A source without the options of plugins that a stronger source replaces."""
    replaced = [f"{key}." for key in names if getattr(source, key) not in (None, names[key])]
    values = {k: v for k, v in source.values.items() if not k.startswith(tuple(replaced))}
    return dataclasses.replace(source, values=values)


def _strongest(sources: Sequence[Settings], key: str) -> Any:
    return next((v for s in reversed(sources) if (v := getattr(s, key)) is not None), None)


def _strongest_list(sources: Sequence[Settings], key: str) -> Sequence[Named]:
    """The strongest list; items without options take those of the same name in a weaker one."""
    *weaker, strongest = sources
    named = getattr(strongest, key)
    known = _strongest(weaker, key) or ()
    if named is None:
        return known
    options = {each.name: each.values for each in reversed(known)}
    return [each if each.values else Named(each.name, options.get(each.name, {})) for each in named]
