"""Finds the files of modules without importing the modules, or any package above them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec

from tf_frame.text import brief

_NAME = re.compile(r"\w[-.\w]*")
_TARGET = re.compile(r"\s*([\w.]+)\s*:\s*[\w.]+\s*(\[.*\])?\s*")


def malformed(name: str, target: str) -> str:
    """Describes a mistake in the name or the target of an entry point; empty if there is none."""
    if not _NAME.fullmatch(name):
        return f"its name is {brief(name)}; expected letters, digits, '_', '-' and '.'"
    return (
        ""
        if target_module(target)
        else f"its entry point is {brief(target)}; expected module:Class"
    )


def target_module(target: str) -> str:
    """Returns the module of an entry point's `module:attribute`; empty if it has another form."""
    match = _TARGET.fullmatch(target)
    return match[1] if match else ""


def find_missing_part(module: str) -> str:
    """Returns the first part of a module's name that does not exist, such as `package.part`.

    A package that extends its path when it is imported may have further modules.

    Returns:
      The name; empty if the module exists, or only an import can tell.
    """
    names = list(_prefixes(module))
    try:
        count = sum(1 for _ in _specs(module))
    # A namespace in a package exists only after the import of the package, and finders are code of
    # other packages.
    except Exception:
        return ""
    return "" if count == len(names) else names[count]


def find_root(module: str) -> tuple[str, str]:
    """Finds the folder of a module's package, or the file of a single module.

    Several packages share a namespace, so the root is the first package or module below the
    namespace. The root of a package in an archive is the archive.

    Returns:
      The name below the import path, such as `space/package` or `single.py`, and the path; both
      are empty for an unknown module.
    """
    try:
        for name, spec in zip(_prefixes(module), _specs(module), strict=False):
            file = _find_file(spec)
            if file:
                return _named_root(name.replace(".", "/"), file, spec)
    except Exception:  # As in `find_missing_part`.
        return "", ""
    return "", ""


def _named_root(name: str, file: str, spec: ModuleSpec) -> tuple[str, str]:
    if file == spec.origin and spec.submodule_search_locations is not None:  # A package.
        return name, os.path.dirname(file)
    return os.path.join(os.path.dirname(name), os.path.basename(file)), file


def _find_file(spec: ModuleSpec) -> str:
    """Returns the file or the archive of a module; empty if there is none."""
    path = spec.origin or ""
    while path and not os.path.exists(path):
        path = os.path.dirname(path)
    return path if os.path.isfile(path) else ""


def _prefixes(module: str) -> Iterator[str]:
    parts = module.split(".")
    return (".".join(parts[: count + 1]) for count in range(len(parts)))


def _specs(module: str) -> Iterator[ModuleSpec]:
    """Yields the specs of a module's packages and of the module, up to the first missing one."""
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
