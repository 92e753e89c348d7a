"""Writes the folder of a new plugin from the templates, as a whole or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from packaging.version import Version

import tf_frame
from tf_frame.errors import ConfigError, writing
from tf_frame.scaffold.contents import CONTENTS, Part, describe, plugin_class_name, run_command
from tf_frame.scaffold.names import class_name, package_name
from tf_frame.scaffold.read import templates
from tf_frame.text import brief, short

_COMMON, _SECTION = "common", "section.md"


def write_plugin(name: str, choice: str, directory: str) -> Path:
    """Writes source, tests, settings and README of a distribution; returns its new folder.

    Args:
      name: name of the distribution, valid by `check_name`.
      choice: a key of `CONTENTS`.
      directory: an existing folder, for the new folder `name`.

    Raises:
      ConfigError: there is no such directory, the folder exists and is not empty, or it cannot
        be written; nothing is left behind.
    """
    target = Path(directory) / name
    if not target.parent.is_dir():
        raise ConfigError(
            f"there is no folder {brief(directory)}; make it, or give another --directory"
        )
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ConfigError(
            f"{short(target)} exists and is not empty; remove it, or choose another name"
        )
    # In the same folder as the target, so that it can be renamed.
    with (
        writing(short(target), "give another --directory"),
        tempfile.TemporaryDirectory(prefix=f".{name}-", dir=target.parent) as staging,
    ):
        folder = Path(staging) / name
        for path, text in rendered(name, choice):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        folder.rename(target)
    return target


def rendered(name: str, choice: str) -> Iterator[tuple[str, str]]:
    """Yields path and content of each file of a new distribution."""
    markers = _markers(name, choice)
    names = {"my-plugin": name, "my_plugin": package_name(name)}
    for folder, plugin in _folders(name, choice):
        texts = {**markers, **names, "MyPlugin": plugin}
        for path, text in templates(folder):
            if path != _SECTION:
                yield _replaced(path, names), _replaced(text, texts)


def _folders(name: str, choice: str) -> Iterator[tuple[str, str]]:
    """Yields the folders of templates, each with the class that replaces `MyPlugin`."""
    yield _COMMON, class_name(name)
    for part in CONTENTS[choice]:
        yield part.folder, plugin_class_name(name, part, choice)


def _markers(name: str, choice: str) -> Mapping[str, str]:
    """Returns marker in a template -> its replacement, which differs by kind."""
    parts = CONTENTS[choice]
    sections = [dict(templates(part.folder))[_SECTION].strip() for part in parts]
    return {
        "@KINDS@": describe(choice).capitalize(),
        "@REQUIREMENT@": requirement(tf_frame.__version__),
        "@ENTRY_POINTS@": "\n\n".join(_entry_point(name, part, choice) for part in parts),
        "@RUN@": run_command(name, choice),
        "@SECTIONS@": "\n\n".join(sections),
    }


def requirement(version: str) -> str:
    """Returns the requirement of a new plugin: from this tf-frame up to the next minor version."""
    major, minor, *_ = Version(version).release
    return f"tf-frame>={version},<{major}.{minor + 1}"


def _entry_point(name: str, part: Part, choice: str) -> str:
    package = package_name(name)
    target = f"{package}.{part.module}:{plugin_class_name(name, part, choice)}"
    return f'[project.entry-points."{part.kind.group}"]\n{package} = "{target}"'


def _replaced(text: str, texts: Mapping[str, str]) -> str:
    for before, after in texts.items():
        text = text.replace(before, after)
    return text
