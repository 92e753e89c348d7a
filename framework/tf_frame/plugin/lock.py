"""Records which plugins a run used, by version and content, and finds what differs later.

The content of a package is a SHA-256 over its entry points and its files as they are on the disk,
so that an edit in an editable install, or in site-packages, counts. tf-frame itself counts by its
version.
"""

from __future__ import annotations

import csv
import hashlib
import importlib.metadata
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import tf_frame
from tf_frame.plugin.find import PluginInfo, find_plugins
from tf_frame.plugin.kinds import INPUT, NETWORK, PREPROCESSING
from tf_frame.plugin.modules import module_of, root_of
from tf_frame.plugin.origin import loaded_plugins
from tf_frame.plugin.packages import canonical_name, is_own
from tf_frame.plugin.requirements import installed_version

HASH, PLUGINS = "sha256", "plugins"
# A larger file counts by its hash in RECORD, which is the one that was installed.
_LARGE_BYTES = 2**20
# Files that installers and Python write, which differ between installs of the same package.
_GENERATED = re.compile(r"\.pyc$|__pycache__|\.(dist|egg)-info\b|^\.\.|^__editable__|^/")


def lock_of(plugins: Iterable[PluginInfo]) -> dict[str, dict[str, Any]]:
    """Returns the record of plugins: package -> hash and names, as `config.yaml` has it."""
    lock: dict[str, dict[str, Any]] = {}
    for info in plugins:
        entry = lock.setdefault(info.distribution, {PLUGINS: []})
        if _words(info) not in entry[PLUGINS]:
            entry[PLUGINS].append(_words(info))
    return {
        # Classes that no package has, as in tests, have no files of their own.
        name: {HASH: content_hash(name), **entry} if _is_hashed(name) else entry
        for name, entry in lock.items()
    }


def _is_hashed(name: str) -> bool:
    return not is_own(name) and installed_version(name) is not None


def loaded_by_name(values: Iterable[Any]) -> list[PluginInfo]:
    """Returns the loaded networks, preprocessing and inputs that values of options name.

    Args:
      values: of the options of other plugins, such as `--model.backbone`.
    """
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
    """Yields, in words, how the installed packages differ from those of a record.

    Args:
      versions: package -> version at the time.
      lock: the result of `lock_of` at the time; empty: only versions are compared.
    """
    for name in dict.fromkeys([*versions, *lock]):
        was, now = versions.get(name), _version(name)
        before = lock.get(name, {}).get(HASH)
        if now is not None and was and was != now:
            yield f"{name} {was}, this is {now}"
        elif now is not None and before:
            content = content_hash(name)
            if content != before:
                yield f"{name} {now} of other content (sha256 {before:.12}, this is {content:.12})"
    installed = find_plugins() if lock else []
    for name, entry in lock.items():
        for words in entry.get(PLUGINS, ()):
            yield from _moved(words, name, installed)


def incomplete(versions: Mapping[str, str], lock: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yields, in words, what a record lacks of the installed packages to compare them fully.

    Args:
      versions, lock: as of `differences`.
    """
    for name, entry in lock.items():
        if _version(name) is not None and not versions.get(name):
            yield f"the version of {name}"
        if _is_hashed(name) and not entry.get(HASH):
            yield f"the content of {name}"


def unrecorded(plugins: Iterable[PluginInfo], lock: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Returns the plugins, in words, that a record does not have."""
    return [
        info.described
        for info in plugins
        if _words(info) not in lock.get(info.distribution, {}).get(PLUGINS, ())
    ]


def content_hash(name: str) -> str:
    """Returns the hash of an installed package's entry points and files.

    Args:
      name: of the package.
    """
    distribution = importlib.metadata.distribution(name)
    targets = sorted(
        (each.group, each.name, each.value)
        for each in distribution.entry_points
        if each.group.startswith("tf_frame.")
    )
    total = hashlib.sha256(repr(targets).encode())
    for key, path, recorded in sorted(_files(distribution, [value for *_, value in targets])):
        total.update(f"\0{key}\0{_hash_of_file(path, recorded)}".encode())
    return total.hexdigest()


def _files(
    distribution: importlib.metadata.Distribution, targets: Sequence[str]
) -> list[tuple[str, str, str]]:
    """Name, path and recorded hash of each file; the hash is empty if there is none."""
    rows = csv.reader((distribution.read_text("RECORD") or "").splitlines())
    recorded = [(row[0], row[1]) for row in rows if not _GENERATED.search(row[0])]
    if recorded:
        return [(key, str(distribution.locate_file(key)), digest) for key, digest in recorded]
    # An editable install, whose RECORD has only the path of the source.
    top_level = (distribution.read_text("top_level.txt") or "").split()
    modules = {*filter(None, map(module_of, targets)), *top_level}
    tops = {module.split(".")[0] for module in modules} - {"tf_frame"}
    roots = {top: root_of(top) for top in tops}
    # A namespace has no root of its own, but the packages in it have.
    spaces = tuple(f"{top}." for top, root in roots.items() if not root)
    within = {root_of(module) for module in modules if spaces and module.startswith(spaces)}
    found = {*roots.values(), *within} - {""}
    return [(key, path, "") for root in found for key, path in _below(root)]


def _below(root: str) -> Iterator[tuple[str, str]]:
    """Name and path of each file of a package's folder, or of a single module."""
    parent = os.path.dirname(root)
    paths = [os.path.join(*each) for each in _walk(root)] if os.path.isdir(root) else [root]
    for path in paths:
        key = os.path.relpath(path, parent)
        if not _GENERATED.search(key):
            yield key, path


def _walk(root: str) -> Iterator[tuple[str, str]]:
    for folder, below, names in os.walk(root):
        below[:] = [name for name in below if not name.startswith(".")]
        yield from ((folder, name) for name in names if not name.startswith("."))


def _hash_of_file(path: str, recorded: str) -> str:
    try:
        if recorded and os.path.getsize(path) > _LARGE_BYTES:
            return recorded
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except FileNotFoundError:
        return "missing"


def _words(info: PluginInfo) -> str:
    return f"{info.kind.word} {info.name}"


def _version(name: str) -> str | None:
    return tf_frame.__version__ if is_own(name) else installed_version(name)


def _moved(words: str, name: str, installed: Sequence[PluginInfo]) -> Iterator[str]:
    """Yields the package that has a plugin now, if it is another one."""
    owners = [info for info in installed if _words(info) == words]
    if owners and canonical_name(name) not in [canonical_name(p.distribution) for p in owners]:
        yield f"the {words} of {name}, this is that of {owners[0].distribution}"
