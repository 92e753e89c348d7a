"""Tells which plugin an object or a line of code belongs to, so that an error can name it.

Every class that is loaded as a plugin is known here with its package, and every object that a
run makes of one carries the metadata of its plugin. An `Estimator` is given objects that no
package registers; messages name those by their class.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import inspect
import os
import sys
from typing import Any

from tf_frame.errors import NoDataError
from tf_frame.plugin.find import OWN_DISTRIBUTION, PluginInfo, canonical_name

_OWN_PACKAGE = "tf_frame"
# The attribute of an object with its plugin; `tf_frame.plugin.configured` sets it.
MARK = "_tf_frame_plugin"
# The classes that this process has loaded as plugins; the last one wins where two share code.
_LOADED: dict[type, PluginInfo] = {}


def register(cls: type, info: PluginInfo) -> None:
    """Records that a class is a plugin, so that its code is known to be the plugin's."""
    _LOADED.pop(cls, None)
    _LOADED[cls] = info


def loaded_plugins() -> list[PluginInfo]:
    """Lists the plugins that this process has loaded."""
    return list(_LOADED.values())


def plugin_of(thing: Any) -> PluginInfo | None:
    """Returns the plugin that an object was made of or by; None if no package registers it."""
    found: PluginInfo | None = getattr(thing, MARK, None)
    return found or _LOADED.get(type(thing))


def described(thing: Any) -> str:
    """Names the plugin of an object: `the model 'line' of my-line 1.0`, else its class.

    A function that takes the place of a plugin is named by its own name.
    """
    info = plugin_of(thing)
    return info.described if info else getattr(thing, "__name__", type(thing).__name__)


def of_plugin(thing: Any) -> str:
    """Returns ` of the input 'points' of my-line 1.0`; empty if no package registers it."""
    info = plugin_of(thing)
    return f" of {info.described}" if info else ""


def no_batch_in(split: str, source: Any) -> NoDataError:
    """Returns the error of an input that has not one batch of a split."""
    return NoDataError(f"the {split}{of_plugin(source)} is empty; there was not one batch")


def method_of(thing: Any, method: str) -> str:
    """Names a method of an object: `build() of the model 'line' of my-line 1.0`."""
    info = plugin_of(thing)
    if info:
        return f"{method}() of {info.described}"
    name = getattr(thing, "__name__", None)
    return f"{name}()" if name else f"{type(thing).__name__}.{method}()"


def is_foreign(info: PluginInfo | None) -> bool:
    """Returns whether a plugin is of another package than tf-frame."""
    return info is not None and canonical_name(info.distribution) != OWN_DISTRIBUTION


def package_of_file(path: str) -> tuple[PluginInfo, str] | None:
    """Finds the package of a source file among those of the loaded plugins.

    Returns:
      A plugin of the package, and the path of the file from the folder that contains the
      package; None if the file is of tf-frame, TensorFlow or any other library.
    """
    for cls, info in reversed(_LOADED.items()):
        if not is_foreign(info):
            continue
        for root in _roots(cls.__module__, _path(cls.__module__), info.distribution):
            if path == root or path.startswith(root + os.sep):
                return info, os.path.relpath(path, os.path.dirname(root))
    return None


def plugin_of_line(path: str, line: int, expected: PluginInfo | None = None) -> PluginInfo | None:
    """Finds the plugin in the lines of whose class, or of a base of it, a line stands.

    Args:
      path, line: the place.
      expected: the plugin that is taken if the line belongs to several.
    """
    found = [
        info
        for cls, info in _LOADED.items()
        if is_foreign(info) and any(_contains(base, path, line) for base in cls.__mro__)
    ]
    return expected if expected in found else found[-1] if found else None


def plugins_of_package(distribution: str) -> list[PluginInfo]:
    """Lists the loaded plugins of a package."""
    return [info for info in _LOADED.values() if info.distribution == distribution]


def place_of_method(info: PluginInfo, method: str) -> tuple[str, int] | None:
    """Returns file and line of the definition of a plugin's method, or else of its class."""
    cls = next((cls for cls, each in reversed(_LOADED.items()) if each == info), None)
    things: list[Any] = [getattr(cls, method, None), cls]
    for thing in things:
        try:
            return inspect.getsourcefile(thing) or "", inspect.getsourcelines(thing)[1]
        except (OSError, TypeError):
            continue
    return None


@functools.cache
def _roots(module: str, path: str | None, distribution: str) -> list[str]:
    """The folder of a plugin's package, or the files of its modules.

    Args:
      module: the module of the plugin's class.
      path: where that module was loaded from.
      distribution: the package.
    """
    names = [".".join(module.split(".")[: count + 1]) for count in range(module.count(".") + 1)]
    if names[0] == _OWN_PACKAGE:  # A module of tf-frame that another package registers.
        return [path] if path else []
    first = next((path for path in map(_path, names) if path), None)
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        text = importlib.metadata.distribution(distribution).read_text("top_level.txt") or ""
        others = [path for path in map(_path, text.split()) if path]
        return list(dict.fromkeys([*([first] if first else []), *others]))
    return [first] if first else []


def _path(module: str) -> str | None:
    """The folder of a package or the file of a module; None if it is not loaded or has neither."""
    file: str | None = getattr(sys.modules.get(module), "__file__", None)
    if not file:
        return None
    is_package = os.path.basename(file).startswith("__init__.")
    return os.path.dirname(file) if is_package else file


def _contains(cls: type, path: str, line: int) -> bool:
    file, first, last = _lines(cls)
    return path == file and first <= line <= last


@functools.cache
def _lines(cls: type) -> tuple[str, int, int]:
    try:
        lines, first = inspect.getsourcelines(cls)
        return inspect.getsourcefile(cls) or "", first, first + len(lines) - 1
    except (OSError, TypeError):
        return "", 0, -1
