"""Reads and writes options as YAML, the format of `--config` and `config.yaml`.

Every run writes its options to `config.yaml`; a resumed run, `evaluate` and `export` read the file.

    plugin: deeplab
    max_steps: 500
    model: {output_stride: 8}
    input: {name: nuclei, crop_size: 129}
    optimizer: {name: momentum, momentum: 0.9}
    schedule: fixed
    transforms:
    - {name: last_layer_multiplier, multiplier: 10.0}
    - clip_by_norm:10
    hooks:
    - {name: heartbeat, every_secs: 60}
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from tf_frame.errors import ConfigError
from tf_frame.file_system import read_bytes
from tf_frame.text import brief, short, short_word
from tf_frame.yaml_text import Bounded, YamlError, parse_yaml

# Sections of one plugin: its name and its options.
_PARTS = ("input", "optimizer", "schedule")
# Lists of such sections.
_LISTS = ("transforms", "hooks")
_LARGEST_BYTES = 1 << 20
# Characters of a number in a message that has four.
_LONGEST_NUMBER = 30
# Octal and sexagesimal numbers of YAML 1.1.
_ODD_NUMBER = re.compile(r"[-+]?(0[0-7_]+|[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?)")


@dataclasses.dataclass(frozen=True)
class Named:
    """A gradient transform or a hook with the options next to its name.

    Attributes:
      name: its name, perhaps with a value for its first option (`clip_by_norm:10`).
      values: option name, without any prefix -> raw value.
    """

    name: str
    values: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Settings:
    """The content of a configuration file, or of another source of options.

    Attributes:
      plugin, input, optimizer, schedule: names of the plugins; None: not given.
      transforms, hooks: gradient transforms and hooks, in order; None: not given.
      values: dotted option name -> raw value, except options of transforms and hooks.
      versions: package -> version at the time of writing.
      lock: package -> hash and names of its plugins at that time: see `tf_frame.plugin.lock`.
      path: path of the file, or another source, for messages; empty if there is none.
      is_preset: whether the options of the input are meant for each input that has them.
    """

    plugin: str | None = None
    input: str | None = None
    optimizer: str | None = None
    schedule: str | None = None
    transforms: tuple[Named, ...] | None = None
    hooks: tuple[Named, ...] | None = None
    values: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    versions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    lock: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    path: str = dataclasses.field(default="", compare=False)
    is_preset: bool = False


def read_settings(path: str) -> Settings:
    """Reads a configuration file.

    Raises:
      ConfigError: the file is missing, not YAML, or not in this format.
    """
    source = f"--config {path}"
    return dataclasses.replace(to_settings(read_mapping(path, source), source), path=path)


def read_mapping(path: str, source: str) -> dict[Any, Any]:
    """Reads a YAML file of `name: value` lines; an empty one is an empty mapping.

    Raises:
      ConfigError: the file cannot be read, or is not YAML of this form.
    """
    try:
        # Also a device may be named, which has no size and no end.
        data = read_bytes(path, _LARGEST_BYTES + 1)
        if len(data) > _LARGEST_BYTES:
            raise ConfigError(
                f"{short(source)} has more than {_LARGEST_BYTES:,} bytes: no configuration"
            )
        content = parse_yaml(data.decode(), _Loader)
    except OSError as error:
        raise ConfigError(f"{short(source)}: {error.strerror}") from None
    except _UnclearError as error:
        raise ConfigError(f"{short(source)}, {error}") from None
    except (YamlError, UnicodeDecodeError) as error:
        raise ConfigError(f"{short(source)} is not YAML: {error}") from None
    if not isinstance(content, (dict, type(None))):
        raise ConfigError(f"{short(source)}: expected 'name: value' lines, found {brief(content)}")
    return content or {}


class _UnclearError(Exception):
    """A part of a YAML file that may not mean what its author meant; begins with the line."""


class _Loader(Bounded, yaml.SafeLoader):
    """A YAML loader that refuses keys given twice, and numbers with an unexpected value.

    PyYAML takes the last of several equal keys, and by YAML 1.1 reads `010` as 8 and `1:30` as 90.
    """

    def compose_mapping_node(self, anchor: Any) -> Any:
        node = super().compose_mapping_node(anchor)
        lines: dict[str, int] = {}
        for key, _ in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name in lines:
                raise _UnclearError(
                    f"line {line}: {short_word(name)} is given twice, first in line "
                    f"{lines[name]}; leave one of them out"
                )
            lines[name] = line
        return node

    def construct_scalar(self, node: Any) -> Any:
        # Quoted text has a style, and is taken as it is.
        if node.style is None and _ODD_NUMBER.fullmatch(node.value):
            value, plain = yaml.safe_load(node.value), node.value.replace("_", "")
            ways = [value] if ":" in plain else [int(plain), value]
            written = " or ".join(dict.fromkeys(short(way, _LONGEST_NUMBER) for way in ways))
            raise _UnclearError(
                f"line {node.start_mark.line + 1}: YAML takes "
                f"{short(node.value, _LONGEST_NUMBER)} for {short(value, _LONGEST_NUMBER)}; write "
                f"{written}, or quote a text"
            )
        return super().construct_scalar(node)


def to_settings(content: Mapping[str, Any], source: str) -> Settings:
    """Converts the content of a configuration file, or a mapping in the same format.

    Args:
      content: keys and values; options of a plugin may also be top-level keys with
        a dotted name (`optimizer.momentum`).
      source: origin of the content, for messages.

    Raises:
      ConfigError: the content is not in this format.
    """
    if not isinstance(content, Mapping):
        raise ConfigError(f"{short(source)}: expected option -> value, found {brief(content)}")
    content = dict(content)
    plugin = _name(content.pop("plugin", None), "plugin", source)
    versions, lock = (_section(content, key, source) for key in ("versions", "lock"))
    # A version without quotes, such as 1.0, is a number.
    versions = {name: "" if text is None else str(text) for name, text in versions.items()}
    for package, entry in lock.items():
        _check_lock(package, entry, source)
    values: dict[str, Any] = {}
    _flatten(values, "model", _section(content, "model", source))
    names: dict[str, Any] = {}
    for part in _PARTS:
        section = _section(content, part, source)
        names[part] = _name(section.pop("name", None), part, source)
        _flatten(values, part, section)
    names.update({key: _list(content.pop(key, None), key, source) for key in _LISTS})
    for name, value in content.items():
        if name in values:
            raise ConfigError(
                f"{short(source)}: {short_word(name)} is given twice, also in the section "
                f"{str(name).partition('.')[0]}; leave one of them out"
            )
        values[str(name)] = value
    return Settings(plugin, **names, values=values, versions=versions, lock=lock, path=source)


def parse_assignments(assignments: Sequence[str]) -> Settings:
    """Converts `--set KEY=VALUE` to settings; a later one wins.

    Args:
      assignments: each with a key of a configuration file, with a dot for a key in a section
        (`optimizer.momentum`, `input.name`). A value is the text of a flag, or a YAML list.

    Raises:
      ConfigError: one has another form.
    """
    content: dict[str, Any] = {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not (equals and key.strip()):
            raise ConfigError(
                f"--set {short(assignment)}: expected KEY=VALUE, such as optimizer.momentum=0.8"
            )
        part, _, name = key.strip().partition(".")
        content[part if part in _PARTS and name == "name" else key.strip()] = _value(text)
    return to_settings(content, "--set")


def _value(text: str) -> Any:
    if not text.startswith("["):
        return text
    try:
        return parse_yaml(text, _Loader)
    except _UnclearError as error:
        raise ConfigError(f"--set ...={short_word(text)}, {error}") from None
    except YamlError as error:
        raise ConfigError(f"--set ...={short_word(text)}: the list is not YAML: {error}") from None


def _section(content: dict[str, Any], key: str, source: str) -> dict[str, Any]:
    section = content.pop(key, None)
    if section is None:
        return {}
    if isinstance(section, str) and key in _PARTS:
        return {"name": section}
    if not isinstance(section, dict):
        raise ConfigError(
            f"{short(source)}: {brief(key)} takes 'name: value' lines, found {brief(section)}"
        )
    return dict(section)


def _check_lock(package: str, entry: Any, source: str) -> None:
    if not isinstance(entry, dict):
        raise ConfigError(
            f"{short(source)}: 'lock' of {short_word(package)} takes sha256 and plugins, found "
            f"{brief(entry)}"
        )
    digest, plugins = entry.get("sha256"), entry.get("plugins", [])
    if digest is not None and not isinstance(digest, str):
        raise ConfigError(
            f"{short(source)}: 'sha256' of {short_word(package)} takes text, found {brief(digest)}"
        )
    if not isinstance(plugins, list):
        raise ConfigError(
            f"{short(source)}: 'plugins' of {short_word(package)} takes a list, found "
            f"{brief(plugins)}"
        )


def _name(name: Any, key: str, source: str) -> str | None:
    if name is None or isinstance(name, str):
        return name
    raise ConfigError(f"{short(source)}: {brief(key)} takes a name, found {brief(name)}")


def _list(items: Any, key: str, source: str) -> tuple[Named, ...] | None:
    if items is None:
        return None
    if not isinstance(items, list):
        raise ConfigError(f"{short(source)}: {brief(key)} takes a list, found {brief(items)}")
    return tuple(_item(item, key, source) for item in items)


def _item(item: Any, key: str, source: str) -> Named:
    item = {"name": item} if isinstance(item, str) else item
    if not isinstance(item, dict) or item.get("name") is None:
        raise ConfigError(
            f"{short(source)}: a {key.removesuffix('s')} without a name: {brief(item)}"
        )
    name = _name(item["name"], key, source)
    return Named(str(name), {str(k): v for k, v in item.items() if k != "name"})


def _flatten(values: dict[str, Any], prefix: str, section: Mapping[str, Any]) -> None:
    values.update({f"{prefix}.{name}": value for name, value in section.items()})


def to_yaml(settings: Settings, header: str) -> str:
    """Returns settings as the text of a file with a header, a comment, for `read_settings`."""
    content: dict[str, Any] = {"plugin": settings.plugin}
    content.update({k: plain(v) for k, v in settings.values.items() if "." not in k})
    content["model"] = _under("model", settings.values)
    for part in _PARTS:
        content[part] = {"name": getattr(settings, part), **_under(part, settings.values)}
    for key in _LISTS:
        content[key] = [
            {"name": named.name, **{k: plain(v) for k, v in named.values.items()}}
            for named in getattr(settings, key) or ()
        ]
    content["versions"] = dict(settings.versions)
    if settings.lock:
        content["lock"] = {name: dict(entry) for name, entry in settings.lock.items()}
    return f"# {header}\n" + yaml.safe_dump(content, sort_keys=False, default_flow_style=None)


def _under(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
    start = prefix + "."
    return {k.removeprefix(start): plain(v) for k, v in values.items() if k.startswith(start)}


def plain(value: Any) -> Any:
    """Returns a value as a YAML file has it."""
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
