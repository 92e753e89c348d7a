"""JSON schemas of options, in the draft of 2020-12, for editors that check and complete YAML.

An editor reads YAML 1.2. A schema asks for values as `config.yaml` writes them: a number is no
text, although the command line takes the text of a number, too.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tf_frame.config import values
from tf_frame.config.option import Option
from tf_frame.config.yaml_file import plain

Schema = dict[str, Any]
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}


def option_schema(option: Option, default: Any) -> Schema:
    """Returns the schema of a value, with the help as description.

    Args:
      option: its definition.
      default: the value that a configuration without the option has.
    """
    present = values.without_none(option.type)
    item = typing.get_args(present)[0] if values.is_tuple(present) else present
    scalar = _scalar_schema(option, item)
    schema: Schema = scalar
    if values.is_tuple(present):
        schema = {"anyOf": [{"type": "array", "items": scalar}, scalar]}
        if not option.verbatim:  # Then a comma separates items.
            schema["anyOf"].append({"type": "string"})
    if present is not option.type:
        schema = {"anyOf": [schema, {"type": "null"}]}
    return {"description": option.help, "default": plain(default), **schema}


def _scalar_schema(option: Option, type_: Any) -> Schema:
    if option.choices is not None:
        return {"enum": list(option.choices)}
    bounds = {"minimum": option.min, "maximum": option.max}
    return {"type": _TYPES[type_], **{k: v for k, v in bounds.items() if v is not None}}


def options_schema(options: Iterable[Option], defaults: Mapping[str, Any]) -> Schema:
    """Returns `properties` with the last part of each option's name as key.

    Args:
      options: the options of a section, or the run options.
      defaults: dotted option name -> value that is used instead of the option's own default.
    """
    return {
        option.name.rpartition(".")[2]: option_schema(
            option, defaults.get(option.name, option.default)
        )
        for option in options
    }


def section_schema(properties: Schema) -> Schema:
    """Returns the schema of a section without a name, such as `model`, which may also be empty."""
    return {
        "type": ["object", "null"],
        "properties": properties,
        "additionalProperties": False,
    }


def named_schema(plugins: Sequence[tuple[Sequence[str], Schema]], *, default: str | None) -> Schema:
    """Returns the schema of a section of one plugin: its name, or its name and its options.

    Args:
      plugins: for each plugin its names, and `properties` of its options.
      default: the plugin of a section without a name; its options are offered, but others are
        not refused there, because a preset or an option of the model may choose another plugin.
    """
    names = [name for some, _ in plugins for name in some]
    offered = next((options for some, options in plugins if default in some), {})
    return {
        "anyOf": [
            {"enum": names},
            {"type": "null"},
            {
                "type": "object",
                "properties": {"name": {"enum": names}},
                "allOf": [_options_if_named(*plugin) for plugin in plugins],
                "if": {"required": ["name"]},
                "else": {"properties": offered},
            },
        ]
    }


def list_schema(plugins: Sequence[tuple[Sequence[str], Schema]]) -> Schema:
    """Returns the schema of a list of plugins, each a `name`, a `name:value`, or with options.

    Args:
      plugins: for each plugin its names, and `properties` of its options.
    """
    names = [name for some, _ in plugins for name in some]
    text = {"anyOf": [{"enum": names}, *({"pattern": f"^{_pattern(name)}:"} for name in names)]}
    item = {
        "type": "object",
        "required": ["name"],
        "properties": {"name": text},
        "allOf": [_options_if_named(*plugin) for plugin in plugins],
    }
    return {
        "type": ["array", "null"],
        "items": {"anyOf": [{"type": "string", **text}, item]},
    }


def _options_if_named(names: Sequence[str], properties: Schema) -> Schema:
    """Returns a schema that allows the options of one plugin alone where its name is given."""
    pattern = f"^({'|'.join(map(_pattern, names))})(:.*)?$"
    return {
        "if": {"required": ["name"], "properties": {"name": {"pattern": pattern}}},
        "then": {
            "properties": {"name": True, **properties},
            "additionalProperties": False,
        },
    }


def _pattern(name: str) -> str:
    # Not re.escape: patterns are those of JavaScript, which refuses an escaped hyphen.
    return name.replace(".", r"\.")
