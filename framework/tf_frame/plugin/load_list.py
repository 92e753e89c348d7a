"""Loads gradient transforms and hooks, of which a run has several, such as `clip_by_norm:10`.

Each gets a prefix of its own for its options, `transform.NAME` or `transform.NAME_2`, so that a
run can use the same one twice.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.config.option import options_of
from tf_frame.config.yaml_file import Named
from tf_frame.errors import ConfigError
from tf_frame.plugin.find import PluginInfo, canonical_name
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM, HOOK
from tf_frame.plugin.load import LoadedPlugin, load_plugin

_KINDS = {"transform": GRADIENT_TRANSFORM, "hook": HOOK}


@dataclasses.dataclass(frozen=True)
class NamedPlugin:
    """A gradient transform, or a hook, of a run.

    Attributes:
      name: its name, without a value.
      plugin: the loaded plugin.
      prefix: prefix of its options: `transform.NAME`, and for the second one
        of the same name `transform.NAME_2`.
      values: dotted option name -> raw value, for options that stand beside the name.
    """

    name: str
    plugin: LoadedPlugin
    prefix: str
    values: Mapping[str, Any]


def load_named_plugins(
    word: str, chosen: Sequence[Named], *, prefer: str, installed: Sequence[PluginInfo]
) -> list[NamedPlugin]:
    """Loads the gradient transforms, or the hooks, of a run.

    Args:
      word: "transform" or "hook".
      chosen: names, perhaps with a value after a colon, and options.
      prefer: the distribution that resolves a conflict of names.
      installed: all installed plugins.

    Raises:
      PluginError: one of them cannot be used.
      ConfigError: a value for a plugin that has no options.
    """
    of_kind = [p for p in installed if p.kind == _KINDS[word]]
    count: Counter[str] = Counter()
    loaded = []
    for each in chosen:
        name, value = split_name(each.name, of_kind)
        count[name] += 1
        prefix = f"{word}.{name}" + (f"_{count[name]}" if count[name] > 1 else "")
        plugin = load_plugin(_KINDS[word], name, prefer=prefer, installed=of_kind)
        options = {**_first_option(f"--{word} {name}", plugin, value), **each.values}
        values = {f"{prefix}.{option}": raw for option, raw in options.items()}
        loaded.append(NamedPlugin(name, plugin, prefix, values))
    return loaded


def split_name(text: str, plugins: Sequence[PluginInfo]) -> tuple[str, str | None]:
    """Splits `NAME:VALUE`, where the name may be `distribution:name`.

    Args:
      text: the value of `--transform` or `--hook`.
      plugins: the installed plugins of this kind.

    Returns:
      The name, and the value or None.
    """
    head, colon, rest = text.partition(":")
    short, second, value = rest.partition(":")
    if any(
        canonical_name(p.distribution) == canonical_name(head) and p.name == short for p in plugins
    ):
        return f"{head}:{short}", value if second else None
    return head, rest if colon else None


def _first_option(flag: str, plugin: LoadedPlugin, value: str | None) -> dict[str, Any]:
    """Assigns the value after the colon to the first option of the plugin."""
    if value is None:
        return {}
    options = options_of(plugin.cls.Params)
    if not options:
        raise ConfigError(f"{flag}:{value}: {flag.split()[-1]} has no options; leave out :{value}")
    return {options[0].name: value}
