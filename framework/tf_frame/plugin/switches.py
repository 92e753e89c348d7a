"""Reads the plugins that the user has disabled by environment variables or in `plugins.yaml`.

| variable | key in the file | value |
|---|---|---|
| `TF_FRAME_PLUGINS` | `plugins` | only these; empty: none but tf-frame's own |
| `TF_FRAME_DISABLE_PLUGINS` | `disable_plugins` | not these; wins over the first |
| `TF_FRAME_STRICT_PLUGINS` | `strict_plugins` | a problem of any plugin is an error |

A variable that is set, even to an empty text, wins over the key. The file is
`$XDG_CONFIG_HOME/tf-frame/plugins.yaml`, by default in `~/.config`. tf-frame's own plugins cannot
be disabled.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
from collections.abc import Collection, Mapping
from typing import Any

from packaging.utils import canonicalize_name

from tf_frame.errors import ConfigError
from tf_frame.plugin.packages import is_own
from tf_frame.text import brief, listed, short, short_word

ONLY, WITHOUT, STRICT = "plugins", "disable_plugins", "strict_plugins"
_VARIABLES = {
    ONLY: "TF_FRAME_PLUGINS",
    WITHOUT: "TF_FRAME_DISABLE_PLUGINS",
    STRICT: "TF_FRAME_STRICT_PLUGINS",
}
_SWITCH = {"1": True, "true": True, "yes": True, "on": True} | dict.fromkeys(
    ("", "0", "false", "no", "off"), False
)


@dataclasses.dataclass(frozen=True)
class Switches:
    """The plugins that may be used.

    Attributes:
      only: packages, plugins or `package:plugin`; None: all.
      without: packages, plugins or `package:plugin` that may not be used.
      strict: whether a problem of any plugin is an error.
      sources: `plugins`, `disable_plugins`, `strict_plugins` -> the variable or the file with
        its key that sets it.
    """

    only: tuple[str, ...] | None
    without: tuple[str, ...]
    strict: bool
    sources: Mapping[str, str]

    def why_disabled(self, distribution: str, name: str) -> tuple[str, str]:
        """Returns the reason why a plugin is disabled and a remedy; two empty texts if enabled."""
        if is_own(distribution):
            return "", ""
        for text in self.without:
            if _fits(text, distribution, name):
                source = self.sources[WITHOUT]
                return f"{source} disables {text}", f"take {text} out of {source}"
        if self.only is None or any(_fits(text, distribution, name) for text in self.only):
            return "", ""
        source, named = self.sources[ONLY], listed(self.only)
        return f"{source} allows only: {named}", f"add {distribution} to {source}, or unset it"

    def without_effect(self, plugins: Collection[tuple[str, str]]) -> list[str]:
        """Returns a line for each text without effect; a plugin is its package and its name."""
        lines = []
        for key, texts in ((ONLY, self.only or ()), (WITHOUT, self.without)):
            for text in texts:
                packages = [package for package, name in plugins if _fits(text, package, name)]
                if all(map(is_own, packages)):
                    reason = "no installed package or plugin"
                    if packages:
                        reason = "a part of tf-frame itself and always enabled"
                    lines.append(f"{self.sources[key]} names {short_word(text)}, which is {reason}")
        return lines


def read_switches() -> Switches:
    """Reads the variables and the file.

    Raises:
      ConfigError: the file cannot be read, or a value has another form.
    """
    path = os.path.join(
        os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"),
        *("tf-frame", "plugins.yaml"),
    )
    values = _read(path) if os.path.exists(path) else {}
    sources = {key: f"{key} in {path}" for key in values}
    for key, variable in _VARIABLES.items():
        if variable in os.environ:
            values[key], sources[key] = os.environ[variable], variable
    return Switches(
        only=_names(values[ONLY], sources[ONLY]) if ONLY in values else None,
        without=_names(values[WITHOUT], sources[WITHOUT]) if WITHOUT in values else (),
        strict=_switch(values[STRICT], sources[STRICT]) if STRICT in values else False,
        sources=sources,
    )


def _read(path: str) -> dict[str, Any]:
    from tf_frame.config.yaml_file import read_mapping  # Of a file that few users have.

    values = read_mapping(path, path)
    for key in values:
        if key not in _VARIABLES:
            similar_keys = difflib.get_close_matches(str(key), _VARIABLES, n=1) or list(_VARIABLES)
            raise ConfigError(
                f"{short(path)}: {short_word(key)} is not known; it takes {listed(similar_keys)}"
            )
    return values


def _names(value: Any, source: str) -> tuple[str, ...]:
    texts = re.split(r"[,\s]+", value) if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ConfigError(
            f"{short(source)}: expected names of packages or plugins, found {brief(value)}"
        )
    return tuple(filter(None, texts))


def _switch(value: Any, source: str) -> bool:
    switch = value if isinstance(value, bool) else _SWITCH.get(str(value).lower())
    if switch is None:
        raise ConfigError(f"{short(source)}: expected 1 or 0, found {brief(value)}")
    return switch


def _fits(text: str, distribution: str, name: str) -> bool:
    package, colon, plugin = text.partition(":")
    if canonicalize_name(package) == canonicalize_name(distribution):
        return not colon or plugin == name
    return text == name
