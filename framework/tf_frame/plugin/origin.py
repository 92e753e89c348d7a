"""Finds the plugin that an object or a line of code belongs to, and names plugins in messages.

Every class that is loaded as a plugin is registered here with its package. Plugins, and objects
that plugins make, get the plugin as an attribute in `tf_frame.plugin.configured`. An `Estimator`
takes objects that no package registers; messages name these objects by their class.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import inspect
import os
import sys
from typing import Any

from tf_frame.errors import NoDataError, PluginError
from tf_frame.plugin.find import PluginInfo
from tf_frame.plugin.packages import is_own
from tf_frame.text import short_repr

_OWN_PACKAGE = "tf_frame"
# The attribute of an object with its plugin.
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


def find_owner(thing: Any) -> PluginInfo | None:
    """Returns the plugin that an object is, or comes from; None if no package registers it."""
    info: PluginInfo | None = getattr(thing, MARK, None)
    return info or _LOADED.get(type(thing))


def describe_owner(thing: Any) -> str:
    """Names the plugin of an object: `the model 'line' of my-line 1.0`, else its class.

    A function that serves as a plugin is named by its own name.
    """
    info = find_owner(thing)
    return info.described if info else getattr(thing, "__name__", type(thing).__name__)


def owner_suffix(thing: Any) -> str:
    """Returns ` of the input 'points' of my-line 1.0`; empty if no package registers the object."""
    info = find_owner(thing)
    return f" of {info.described}" if info else ""


def describe_method(thing: Any, method: str) -> str:
    """Names a method of an object: `build() of the model 'line' of my-line 1.0`."""
    info = find_owner(thing)
    if info:
        return f"{method}() of {info.described}"
    name = getattr(thing, "__name__", None)
    return f"{name}()" if name else f"{type(thing).__name__}.{method}()"


def wrong_result(thing: Any, method: str, result: Any, expected: str) -> PluginError:
    """Returns the error of a method with a result that its contract does not allow."""
    name = describe_method(thing, method)
    return PluginError(f"{name} returned {short_repr(result)}; it must return {expected}")


def empty_split_error(split: str, source: Any) -> NoDataError:
    """Returns the error of an input that has not one batch of a split."""
    return NoDataError(f"the {split}{owner_suffix(source)} is empty; there was not one batch")


def is_foreign(info: PluginInfo | None) -> bool:
    """Returns whether a plugin is of another package than tf-frame."""
    return info is not None and not is_own(info.distribution)


def find_package(path: str) -> tuple[PluginInfo, str] | None:
    """Finds the package of a source file among the packages of the loaded plugins.

    Returns:
      A plugin of the package, and the path of the file from the folder that contains the
      package; None if the file is of tf-frame, TensorFlow or another library.
    """
    for cls, info in reversed(_LOADED.items()):
        if not is_foreign(info):
            continue
        for root in _package_roots(cls.__module__, _module_path(cls.__module__), info.distribution):
            if path == root or path.startswith(root + os.sep):
                return info, os.path.relpath(path, os.path.dirname(root))
    return None


def find_plugin_at_line(
    path: str, line: int, expected: PluginInfo | None = None
) -> PluginInfo | None:
    """Finds the plugin that has a line in its class, or in a base; of several, the expected one."""
    plugins = [
        info
        for cls, info in _LOADED.items()
        if is_foreign(info) and any(_contains_line(base, path, line) for base in cls.__mro__)
    ]
    return expected if expected in plugins else plugins[-1] if plugins else None


def find_method(info: PluginInfo, method: str) -> tuple[str, int] | None:
    """Returns file and line of the definition of a plugin's method, or else of its class."""
    cls = next((cls for cls, loaded in reversed(_LOADED.items()) if loaded == info), None)
    definitions: list[Any] = [getattr(cls, method, None), cls]
    for definition in definitions:
        with contextlib.suppress(OSError, TypeError):
            return inspect.getsourcefile(definition) or "", inspect.getsourcelines(definition)[1]
    return None


@functools.cache
def _package_roots(module: str, path: str | None, distribution: str) -> list[str]:
    """Returns the folder of a plugin's package, or the files of its modules.

    The file of the module is an argument, because the cache would keep the roots of a module that
    was loaded from another place.
    """
    names = [".".join(module.split(".")[: count + 1]) for count in range(module.count(".") + 1)]
    if names[0] == _OWN_PACKAGE:  # A module of tf-frame that another package registers.
        return [path] if path else []
    tops = [next((path for path in map(_module_path, names) if path), None)]
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        text = importlib.metadata.distribution(distribution).read_text("top_level.txt") or ""
        tops += map(_module_path, text.split())
    return [path for path in dict.fromkeys(tops) if path]


def _module_path(module: str) -> str | None:
    """Returns the folder of a package or the file of a module; None for a module not loaded."""
    file: str | None = getattr(sys.modules.get(module), "__file__", None)
    if not file:
        return None
    is_package = os.path.basename(file).startswith("__init__.")
    return os.path.dirname(file) if is_package else file


def _contains_line(cls: type, path: str, line: int) -> bool:
    file, first, last = _source_lines(cls)
    return path == file and first <= line <= last


@functools.cache
def _source_lines(cls: type) -> tuple[str, int, int]:
    try:
        lines, first = inspect.getsourcelines(cls)
        return inspect.getsourcefile(cls) or "", first, first + len(lines) - 1
    except (OSError, TypeError):
        return "", 0, -1
