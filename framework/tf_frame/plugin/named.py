"""Plugins that a run has several of: `--transform clip_by_norm:10 --hook heartbeat:60`."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.config.option import options_of
from tf_frame.config.yaml_file import Named
from tf_frame.errors import ConfigError
from tf_frame.plugin.find import PluginInfo, normalised
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM, HOOK, Kind
from tf_frame.plugin.load import LoadedPlugin, load_plugin

WORDS = {"transform": GRADIENT_TRANSFORM, "hook": HOOK}


@dataclasses.dataclass(frozen=True)
class NamedPlugin:
    """One gradient transform, or one hook, of a run.

    Attributes:
      name: its name, without a value.
      plugin: the plugin.
      prefix: what its options begin with: `transform.NAME`, and for the second
        of one name `transform.NAME_2`.
      values: dotted option name -> raw value, as far as they stand beside the name.
    """

    name: str
    plugin: LoadedPlugin
    prefix: str
    values: Mapping[str, Any]


def load_named_plugins(
    word: str, chosen: Sequence[Named], *, prefer: str, installed: Sequence[PluginInfo]
) -> list[NamedPlugin]:
    """Loads the gradient transforms, or the hooks.

    Args:
      word: "transform" or "hook".
      chosen: names, perhaps with a value after a colon, and options.
      prefer: the distribution that settles a clash of names.
      installed: every plugin there is.

    Raises:
      PluginError: one of them cannot be used.
      ConfigError: a value for one that has no options.
    """
    kind: Kind = WORDS[word]
    found = [f for f in installed if f.kind == kind]
    count: Counter[str] = Counter()
    listed = []
    for named in chosen:
        name, value = split_name(named.name, found)
        count[name] += 1
        prefix = f"{word}.{name}" + (f"_{count[name]}" if count[name] > 1 else "")
        plugin = load_plugin(kind, name, prefer=prefer, installed=found)
        own = {**_first(f"--{word} {name}", plugin, value), **named.values}
        values = {f"{prefix}.{option}": raw for option, raw in own.items()}
        listed.append(NamedPlugin(name, plugin, prefix, values))
    return listed


def split_name(text: str, found: Sequence[PluginInfo]) -> tuple[str, str | None]:
    """Splits `NAME:VALUE`, where the name may be `distribution:name`.

    Args:
      text: what stands after `--transform` or `--hook`.
      found: the installed plugins of this kind.

    Returns:
      The name, and the value or None.
    """
    head, colon, rest = text.partition(":")
    short, second, value = rest.partition(":")
    if any(normalised(f.distribution) == normalised(head) and f.name == short for f in found):
        return f"{head}:{short}", value if second else None
    return head, rest if colon else None


def _first(said: str, plugin: LoadedPlugin, value: str | None) -> dict[str, Any]:
    """The value for the first option of a plugin."""
    if value is None:
        return {}
    options = options_of(plugin.cls.Params)
    if not options:
        name = said.split()[-1]
        raise ConfigError(f"{said}:{value}: {name} has no options; leave out :{value}")
    return {options[0].name: value}
