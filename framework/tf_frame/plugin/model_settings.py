"""Options that a model plugin brings: its defaults, those of a variant, and presets."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.config.option import declared_options, resolve
from tf_frame.config.values import nearest
from tf_frame.config.yaml_file import Named, Settings, to_settings
from tf_frame.errors import ConfigError
from tf_frame.text import listed, short_word


def model_settings(cls: Any, name: str, variant: str | None = None) -> Settings:
    """Returns the `run_defaults`, `default_transforms` and `default_input` of a model.

    Transforms and an input in `run_defaults` win over the two other attributes.

    Args:
      cls: the class of the model.
      name: its name, for messages.
      variant: value of its option `name`; settings in `variants` for this value win.
    """
    source = f"run_defaults of the model {name}"
    settings = to_settings(getattr(cls, "run_defaults", {}), source)
    further = to_settings(getattr(cls, "variants", {}).get(variant, {}), source)
    transforms = settings.transforms
    if transforms is None:
        transforms = tuple(Named(text) for text in getattr(cls, "default_transforms", ()))
    return dataclasses.replace(
        settings,
        input=further.input or settings.input or getattr(cls, "default_input", None),
        optimizer=further.optimizer or settings.optimizer,
        schedule=further.schedule or settings.schedule,
        transforms=transforms if further.transforms is None else further.transforms,
        values={**settings.values, **further.values},
    )


def find_variant(cls: Any, sources: Sequence[Mapping[str, Any]]) -> str | None:
    """Returns the value of a model's option `name` before all options are resolved, or None.

    Args:
      cls: the class of the model.
      sources: option name -> raw value, weakest first.
    """
    if not getattr(cls, "variants", {}):
        return None
    names = {option.name for option in declared_options(cls.Params, "model")}
    model_values = [{k: v for k, v in values.items() if k in names} for values in sources]
    return str(resolve(cls.Params, model_values, prefix="model").name)


def preset_settings(model: Any, model_name: str, name: str | None) -> Settings:
    """Returns the options of a model's preset, which has the format of a configuration file.

    They are stronger than the defaults of the model, and weaker than files and command line.

    Raises:
      ConfigError: the model has no preset of this name.
    """
    if name is None:
        return Settings()
    presets = getattr(model, "presets", {})
    if name not in presets:
        nearest_name = nearest(name, presets)
        hint = f"did you mean {nearest_name}? " if nearest_name else ""
        raise ConfigError(
            f"--preset {short_word(name)}: the model {model_name} has no such preset; {hint}it "
            f"has: {listed(sorted(presets))}"
        )
    settings = to_settings(presets[name], f"the preset {name} of the model {model_name}")
    return dataclasses.replace(settings, is_preset=True)
