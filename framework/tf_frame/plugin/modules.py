"""Finds the files of modules without importing the modules, or any package above them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec

_NAME = re.compile(r"\w[-.\w]*")
_TARGET = re.compile(r"\s*([\w.]+)\s*:\s*[\w.]+\s*(\[.*\])?\s*")


def malformed(name: str, target: str) -> str:
    """Returns what is wrong with the form of an entry point, in words; empty if nothing is.

    Args:
      name: its name, which is written in options and in lists on the command line.
      target: its `module:attribute`.
    """
    if not _NAME.fullmatch(name):
        return f"its name is {name!r}; expected letters, digits, '_', '-' and '.'"
    return "" if module_of(target) else f"its entry point is {target!r}; expected module:Class"


def module_of(target: str) -> str:
    """Returns the module of an entry point's `module:attribute`; empty if it has another form."""
    match = _TARGET.fullmatch(target)
    return match[1] if match else ""


def missing_part(module: str) -> str:
    """Returns the first part of a module's name that is not there, such as `package.part`.

    A package that extends its own path when it is imported may have more modules than are found.

    Returns:
      The name; empty if the module is found, or only importing can tell.
    """
    names = list(_prefixes(module))
    try:
        found = sum(1 for _ in _specs(module))
    # A namespace in a package cannot be found before that is imported, and finders are code of
    # other packages.
    except Exception:
        return ""
    return "" if found == len(names) else names[found]


def root_of(module: str) -> str:
    """Returns the folder of the package that a module is in, or the file of a single module.

    Of namespaces, which several packages share, it is the first package below them.

    Returns:
      The path; empty if it is not found.
    """
    try:
        for spec in _specs(module):
            if spec.origin and os.path.isfile(spec.origin):
                return os.path.dirname(spec.origin) if _is_package(spec) else spec.origin
    except Exception:  # As in `missing_part`.
        return ""
    return ""


def _is_package(spec: ModuleSpec) -> bool:
    return spec.submodule_search_locations is not None


def _prefixes(module: str) -> Iterator[str]:
    parts = module.split(".")
    return (".".join(parts[: count + 1]) for count in range(len(parts)))


def _specs(module: str) -> Iterator[ModuleSpec]:
    """Yields the spec of each package above a module, and its own, up to the first not found."""
    path = None
    for name in _prefixes(module):
        spec = getattr(sys.modules.get(name), "__spec__", None) or _spec(name, path)
        if spec is None:
            return
        yield spec
        if spec.submodule_search_locations is None:
            return
        path = list(spec.submodule_search_locations)


def _spec(name: str, path: list[str] | None) -> ModuleSpec | None:
    for finder in sys.meta_path:
        spec = finder.find_spec(name, path)
        if spec is not None:
            return spec
    return None
