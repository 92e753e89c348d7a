"""From options, as a configuration file has them, to a recipe.

recipe_of({"optimizer": "adam", "transforms": ["clip_by_norm:10"]}, model_dir="runs/first")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.config.option import options_of
from tf_frame.config.resolve import check_names, resolve
from tf_frame.config.run_options import RunOptions, run_options
from tf_frame.config.yaml_file import Named, Settings, to_settings
from tf_frame.errors import ConfigError
from tf_frame.estimator.training.setup import ConfiguredPlugin, TrainingSetup
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import LEARNING_RATE, OPTIMIZER
from tf_frame.plugin.load import LoadedPlugin, load_plugin
from tf_frame.plugin.named import NamedPlugin, load_named_plugins

_SOURCE = "options"
_KINDS = {"optimizer": OPTIMIZER, "schedule": LEARNING_RATE}
_DEFAULTS = {"optimizer": "momentum", "schedule": "fixed"}


def setup_from_options(
    options: Mapping[str, Any],
    *,
    model_dir: str,
    defaults: Mapping[str, Any] | None = None,
    transforms: Sequence[str] = (),
) -> TrainingSetup:
    """Chooses the plugins that options name, and resolves every value.

    Args:
      options: what `config.yaml` may hold, without the sections of model and
        input; options of plugins also under their dotted names.
      model_dir: where everything is written.
      defaults: options of the model's own, such as its `run_defaults`.
      transforms: its own gradient transforms, for options that name none.

    Raises:
      ConfigError: an option that does not exist, or a wrong value.
      PluginError: a plugin that cannot be used.
    """
    defaults = defaults or {}
    settings = to_settings(options, _SOURCE)
    _check_parts(settings)
    named = {
        part: getattr(settings, part) or defaults.get(part, _DEFAULTS[part]) for part in _KINDS
    }
    loaded = {part: load_plugin(_KINDS[part], name) for part, name in named.items()}
    listed = {
        "transform": _listed("transform", settings.transforms, transforms),
        "hook": _listed("hook", settings.hooks, ()),
    }
    beside = {k: v for each in listed.values() for one in each for k, v in one.values.items()}
    own = {k: v for k, v in defaults.items() if _fits(k, named, defaults)}
    sources = [own, settings.values, beside]
    _check_names(settings, loaded, [*listed["transform"], *listed["hook"]])
    return TrainingSetup(
        config=resolve(RunOptions, sources),
        optimizer=_part(named["optimizer"], loaded["optimizer"], "optimizer", sources),
        schedule=_part(named["schedule"], loaded["schedule"], "schedule", sources),
        transforms=[_part(e.name, e.plugin, e.prefix, sources) for e in listed["transform"]],
        hooks=[_part(e.name, e.plugin, e.prefix, sources) for e in listed["hook"]],
        model_dir=model_dir,
    )


def _part(
    name: str, plugin: LoadedPlugin, prefix: str, sources: Sequence[Mapping[str, Any]]
) -> ConfiguredPlugin:
    return ConfiguredPlugin(name, plugin, resolve(plugin.cls.Params, sources, prefix=prefix))


def _listed(word: str, said: Sequence[Named] | None, default: Sequence[str]) -> list[NamedPlugin]:
    chosen = [Named(text) for text in default] if said is None else list(said)
    return load_named_plugins(word, chosen, prefer="tf-frame", installed=find_plugins())


def _check_parts(settings: Settings) -> None:
    if settings.plugin or settings.input:
        raise ConfigError(
            f"{_SOURCE}: plugin and input are for tf-frame run; the estimator is given its model, "
            "and train() its input"
        )


def _check_names(
    settings: Settings, loaded: Mapping[str, LoadedPlugin], listed: Sequence[NamedPlugin]
) -> None:
    of_parts = [o for part, plugin in loaded.items() for o in options_of(plugin.cls.Params, part)]
    of_lists = [o for each in listed for o in options_of(each.plugin.cls.Params, each.prefix)]
    beside = {k: v for each in listed for k, v in each.values.items()}
    check_names({**settings.values, **beside}, [*run_options(), *of_parts, *of_lists], _SOURCE)


def _fits(name: str, named: Mapping[str, str], defaults: Mapping[str, Any]) -> bool:
    """Whether a default is not for another optimizer or schedule than it is to be."""
    part = name.partition(".")[0]
    return part not in named or ("." in name and defaults.get(part, named[part]) == named[part])
