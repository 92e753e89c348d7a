"""Records the plugins of a run by version and content, and finds later differences.

The record of a package is its version and the SHA-256 of its content, see
`tf_frame.plugin.content`; the record of tf-frame itself is its version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from packaging.utils import canonicalize_name

import tf_frame
from tf_frame.plugin.content import content_hash
from tf_frame.plugin.find import PluginInfo, find_plugins
from tf_frame.plugin.kinds import INPUT, NETWORK, PREPROCESSING
from tf_frame.plugin.origin import loaded_plugins
from tf_frame.plugin.packages import is_own
from tf_frame.plugin.requirements import installed_version
from tf_frame.text import short_word

HASH, PLUGINS = "sha256", "plugins"


def lock_record(plugins: Iterable[PluginInfo]) -> dict[str, dict[str, Any]]:
    """Returns the record of plugins: package -> hash and names, as `config.yaml` has it."""
    lock: dict[str, dict[str, Any]] = {}
    for info in plugins:
        entry = lock.setdefault(info.distribution, {PLUGINS: []})
        if _words(info) not in entry[PLUGINS]:
            entry[PLUGINS].append(_words(info))
    return {
        # Classes without a package, as in tests, have no files to hash.
        name: {HASH: content_hash(name), **entry} if _is_hashed(name) else entry
        for name, entry in lock.items()
    }


def _is_hashed(name: str) -> bool:
    return not is_own(name) and installed_version(name) is not None


def find_named_plugins(values: Iterable[Any]) -> list[PluginInfo]:
    """Returns the loaded networks, preprocessing and inputs that options of a plugin name."""
    texts = [
        text
        for value in values
        for text in (value if isinstance(value, (list, tuple)) else [value])
        if isinstance(text, str)
    ]
    words = {word for text in texts for word in re.split(r"[\s,;=]+", text)}
    return [
        info
        for info in loaded_plugins()
        if info.kind in (NETWORK, PREPROCESSING, INPUT)
        and not words.isdisjoint({info.name, f"{info.distribution}:{info.name}"})
    ]


def differences(
    versions: Mapping[str, str], lock: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """Describes the differences between the installed packages and a record.

    Args:
      versions: package -> recorded version.
      lock: the recorded result of `lock_record`; empty: only versions are compared.
    """
    for name in dict.fromkeys([*versions, *lock]):
        was, now = versions.get(name), _version(name)
        before = lock.get(name, {}).get(HASH)
        if now is not None and was and was != now:
            yield f"{name} {short_word(was)}, this is {now}"
        elif now is not None and before:
            content = content_hash(name)
            if content != before:
                yield f"{name} {now} of other content (sha256 {before:.12}, this is {content:.12})"
    installed = find_plugins() if lock else []
    for name, entry in lock.items():
        for words in entry.get(PLUGINS, ()):
            yield from _moved(words, name, installed)


def incomplete(versions: Mapping[str, str], lock: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Describes the facts about installed packages that a record lacks; see `differences`."""
    for name, entry in lock.items():
        if _version(name) is not None and not versions.get(name):
            yield f"the version of {short_word(name)}"
        if _is_hashed(name) and not entry.get(HASH):
            yield f"the content of {name}"


def unrecorded(
    plugins: Iterable[PluginInfo], locks: Iterable[Mapping[str, Mapping[str, Any]]]
) -> list[str]:
    """Describes the plugins that no record has."""
    recorded = {
        (name, words)
        for lock in locks
        for name, entry in lock.items()
        for words in entry.get(PLUGINS, ())
    }
    return [info.described for info in plugins if (info.distribution, _words(info)) not in recorded]


def _words(info: PluginInfo) -> str:
    return f"{info.kind.word} {info.name}"


def _version(name: str) -> str | None:
    return tf_frame.__version__ if is_own(name) else installed_version(name)


def _moved(words: str, name: str, installed: Sequence[PluginInfo]) -> Iterator[str]:
    """Describes the package that has a plugin now, if it is another package."""
    owners = [info for info in installed if _words(info) == words]
    if owners and canonicalize_name(name) not in [
        canonicalize_name(p.distribution) for p in owners
    ]:
        place = owners[0].distribution
        yield f"the {words} of {short_word(name)}, this is the {words} of {place}"
