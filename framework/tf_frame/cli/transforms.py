"""The gradient transforms that the words name: `--transform clip_by_norm:10`."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tf_frame.config.option import options_of
from tf_frame.config.yaml_file import Named
from tf_frame.errors import ConfigError
from tf_frame.plugin.find import Found, normalised
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM
from tf_frame.plugin.load import Loaded, load_plugin


@dataclasses.dataclass(frozen=True)
class Transform:
    """One gradient transform of a run.

    Attributes:
      name: its name, without a value.
      plugin: the plugin.
      prefix: what its options begin with: `transform.NAME`, and for the second
        of one name `transform.NAME_2`.
      values: dotted option name -> raw value, as far as they stand beside the name.
    """

    name: str
    plugin: Loaded
    prefix: str
    values: Mapping[str, Any]


def load_transforms(
    chosen: Sequence[Named], *, prefer: str, installed: Sequence[Found]
) -> list[Transform]:
    """Loads gradient transforms.

    Args:
      chosen: names, perhaps with a value after a colon, and options.
      prefer: the distribution that settles a clash of names.
      installed: every plugin there is.

    Raises:
      PluginError: one of them cannot be used.
      ConfigError: a value for a transform that has no options.
    """
    found = [f for f in installed if f.kind == GRADIENT_TRANSFORM]
    count: Counter[str] = Counter()
    transforms = []
    for named in chosen:
        name, value = split_name(named.name, found)
        count[name] += 1
        prefix = f"transform.{name}" + (f"_{count[name]}" if count[name] > 1 else "")
        plugin = load_plugin(GRADIENT_TRANSFORM, name, prefer=prefer, installed=found)
        own = {**_first(name, plugin, value), **named.values}
        values = {f"{prefix}.{option}": raw for option, raw in own.items()}
        transforms.append(Transform(name, plugin, prefix, values))
    return transforms


def split_name(text: str, found: Sequence[Found]) -> tuple[str, str | None]:
    """Splits `NAME:VALUE`, where the name may be `distribution:name`.

    Args:
      text: what stands after `--transform`.
      found: the installed transforms.

    Returns:
      The name, and the value or None.
    """
    head, colon, rest = text.partition(":")
    short, second, value = rest.partition(":")
    if any(normalised(f.distribution) == normalised(head) and f.name == short for f in found):
        return f"{head}:{short}", value if second else None
    return head, rest if colon else None


def _first(name: str, plugin: Loaded, value: str | None) -> dict[str, Any]:
    """The value for the first option of a transform."""
    if value is None:
        return {}
    options = options_of(plugin.cls.Params)
    if not options:
        raise ConfigError(f"--transform {name}:{value}: {name} has no options; leave out :{value}")
    return {options[0].name: value}
