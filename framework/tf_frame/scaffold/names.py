"""The names in a new plugin, which follow from the name of its distribution."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import keyword
import re
from collections.abc import Sequence

from tf_frame.errors import ConfigError
from tf_frame.plugin.find import PluginInfo
from tf_frame.plugin.packages import metadata_fields
from tf_frame.scaffold.read import classes
from tf_frame.text import brief, with_article

_MAX_LENGTH = 30  # With a longer name, lines of the templates would be too long.
_IGNORED = "its .gitignore leaves out folders of this name"
# Package -> why its folder would be mistaken for another one.
_FOLDERS = {
    "tests": "pytest would take it for the folder of its tests",
    "test": "Python would take it for its own package of tests",
    "build": _IGNORED,
    "dist": _IGNORED,
    "runs": _IGNORED,
}


def package_name(name: str) -> str:
    """Returns the name of the package and of its plugins: `my_model` for `my-model`."""
    return name.replace("-", "_")


def class_name(name: str) -> str:
    """Returns the name of the plugin's class: `MyModel` for `my-model`."""
    return "".join(word[:1].upper() + word[1:] for word in package_name(name).split("_"))


def check_name(name: str, installed: Sequence[PluginInfo]) -> None:
    """Checks that a new distribution can have a name.

    Raises:
      ConfigError: the name is not valid, taken by a plugin, a module or an installed package, or
        it does not suit the files of the templates.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*", name) or len(name) > _MAX_LENGTH:
        raise ConfigError(
            f"the name {brief(name)} is not valid: it must begin with a lower-case letter and "
            "have only lower-case letters, digits and single hyphens or underscores, "
            f"{_MAX_LENGTH} characters at most{_valid(name)}"
        )
    _check_files(name)
    package = package_name(name)
    for info in installed:
        if info.name == package:
            raise ConfigError(
                f"the name {brief(name)} is taken: {info.distribution} {info.version} has "
                f"{with_article(info.kind.word)} {brief(package)}; choose another name, or "
                "uninstall that package"
            )
    if keyword.iskeyword(package) or importlib.util.find_spec(package) is not None:
        raise ConfigError(
            f"the name {brief(name)} is taken: Python has a word or a module {brief(package)} "
            f"already; choose another name, such as my-{name}"
        )
    _check_distribution(name)


def _check_distribution(name: str) -> None:
    """Refuses the name of an installed package, which pip would replace."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        fields = metadata_fields(importlib.metadata.distribution(name))
        installed_name = next(iter(fields["name"]), name)
        version = next(iter(fields["version"]), "of an unknown version")
        raise ConfigError(
            f"the name {brief(name)} is taken: {installed_name} {version} is installed, and pip "
            f"would replace it by the new package; choose another name, such as my-{name}"
        )


def _check_files(name: str) -> None:
    """Refuses a name that does not suit the files of the new package."""
    package, cls = package_name(name), class_name(name)
    problem = _FOLDERS.get(package, "")
    if cls in classes():
        problem = f"its code would have two classes {brief(cls)}"
    if problem:
        raise ConfigError(
            f"the name {brief(name)} does not suit the files of a new plugin: {problem}; choose "
            f"another name, such as my-{name}"
        )


def _valid(name: str) -> str:
    """Returns the nearest valid name, for an error message."""
    words = re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower())
    valid_name = "-".join(words).lstrip("0123456789-")[:_MAX_LENGTH].rstrip("-")
    return f"; such as {valid_name}" if valid_name else "; such as my-model"
