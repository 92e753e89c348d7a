"""`tf-frame plugins show MODEL --schema`: a JSON schema of `config.yaml` for a model.

An editor that knows JSON schemas then completes and checks the file while it is written. A comment
at the top of the file tells the editor where the schema is:

    # yaml-language-server: $schema=deeplab.schema.json
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from tf_frame.config.json_schema import (
    Schema,
    list_schema,
    named_schema,
    options_schema,
    section_schema,
)
from tf_frame.config.option import declared_options
from tf_frame.config.run_options import run_options
from tf_frame.errors import PluginError
from tf_frame.plugin.find import (
    BROKEN,
    CONFLICT,
    DISABLED,
    INCOMPATIBLE,
    PluginInfo,
    find_plugins,
)
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM, HOOK, INPUT, LEARNING_RATE, OPTIMIZER, Kind
from tf_frame.plugin.load import load_plugin_info
from tf_frame.plugin.model_settings import model_settings
from tf_frame.plugin.needs import declares, fitting_inputs

_PARTS = {"input": INPUT, "optimizer": OPTIMIZER, "schedule": LEARNING_RATE}
_LISTS = {"transforms": GRADIENT_TRANSFORM, "hooks": HOOK}


def config_schema(info: PluginInfo, cls: Any) -> Schema:
    """Returns the schema of the configuration files of a model and the plugins installed now.

    Defaults in the schema are those of the model, without a preset.

    Args:
      info: the metadata of the model.
      cls: its class.
    """
    settings = model_settings(cls, info.name)
    defaults = settings.values
    model_options = declared_options(cls.Params, info.option_prefix)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"config.yaml of tf-frame run --plugin {info.name}",
        "type": "object",
        "properties": {
            "plugin": {"enum": _names(info)},
            "model_dir": {"type": "string", "description": "the folder of the run"},
            "model": section_schema(options_schema(model_options, defaults)),
            **{
                part: named_schema(
                    list(_installed(kind, cls, defaults)), default=getattr(settings, part)
                )
                for part, kind in _PARTS.items()
            },
            **{key: list_schema(list(_installed(kind, cls, {}))) for key, kind in _LISTS.items()},
            **options_schema(run_options(), defaults),
            "versions": {"type": "object", "description": "packages when the file was written"},
            "lock": {"type": "object", "description": "plugins when the file was written"},
        },
        # Options of plugins may also stand at the top, with their dotted names.
        "patternProperties": {r"^(model|input|optimizer|schedule|transform|hook)\.": {}},
        "additionalProperties": False,
    }


def _installed(
    kind: Kind, model: Any, defaults: Mapping[str, Any]
) -> Iterator[tuple[list[str], Schema]]:
    """Yields names and options of the plugins of a kind that the model can be used with."""
    fitting = fitting_inputs(model) if kind == INPUT and declares(model) else None
    for info in find_plugins(kind=kind):
        is_usable = info.state not in (BROKEN, DISABLED, INCOMPATIBLE)
        if is_usable and (fitting is None or info.name in fitting):
            with contextlib.suppress(PluginError):
                options = declared_options(load_plugin_info(info).cls.Params, info.option_prefix)
                yield _names(info), options_schema(options, defaults)


def _names(info: PluginInfo) -> list[str]:
    of_package = f"{info.distribution}:{info.name}"
    return [of_package] if info.state == CONFLICT else [info.name, of_package]
