"""`--preset NAME`: a named set of options that a model provides.

tf-frame run --plugin classification --preset inception_distributed

A preset has the format of a configuration file, so it can also choose plugins such
as the optimizer. It overrides the defaults of the model; a configuration file and
the command line override the preset.
"""

from __future__ import annotations

import difflib
from typing import Any

from tf_frame.config.option import Option
from tf_frame.config.yaml_file import Settings, to_settings
from tf_frame.errors import ConfigError

PRESET = Option(
    "preset",
    str,
    None,
    "a named set of options that the model provides; tf-frame plugins show lists them",
)


def preset_settings(model: Any, model_name: str, name: str | None) -> Settings:
    """Returns the options of a model's preset.

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
        near = difflib.get_close_matches(name, presets)
        hint = f"did you mean {near[0]}? " if near else ""
        there = ", ".join(sorted(presets)) or "none"
        raise ConfigError(
            f"--preset {name}: the model {model_name} has no such preset; {hint}it has: {there}"
        )
    return to_settings(presets[name], f"the preset {name} of the model {model_name}")
