"""`--preset NAME`: options that belong together, under a name that the model gives them.

tf-frame run --plugin classification --preset inception_distributed

A preset says what a configuration file could say: also which optimizer, which
hooks. It is stronger than the defaults of the model and weaker than a
configuration file and the command line.
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
    "options that belong together, under a name that the model gives them; tf-frame plugins show "
    "names its presets",
)


def preset_settings(model: Any, model_name: str, name: str | None) -> Settings:
    """What a preset of a model says; nothing without a name.

    Args:
      model: the class of the model.
      model_name: what the model is called, for messages.
      name: the preset, or None.

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
