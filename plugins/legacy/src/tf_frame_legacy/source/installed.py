"""Tells whether an installed package has a name, from its source files; imports nothing.

has("tensorflow.python.ops.math_ops.matmul")  # True
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import os
import re
from collections.abc import Iterator, Mapping, Sequence

# The value of a name that a module defines, in contrast to an import.
_DEFINED = ""
# A from-import of one name, at the top of a module.
_IMPORT = re.compile(r"^from (\w[\w.]*) import (\w+)(?: as (\w+))?[ \t]*(?:#.*)?$", re.MULTILINE)


def has(name: str, _depth: int = 0) -> bool:
    """Returns whether a module, or a name in a module, exists; attributes of classes always do."""
    module, rest = split_module(name)
    if not module or not rest or _depth > 20:
        return bool(module)
    names, stars = _names(module)
    source = names.get(rest[0])
    if source is None:
        is_special = "__getattr__" in names or rest[0].startswith("__")
        return is_special or any(has(".".join((star, *rest)), _depth + 1) for star in stars)
    if source == _DEFINED or len(rest) == 1:
        return True
    return has(".".join((source, *rest[1:])), _depth + 1)


def defines(name: str) -> bool:
    """Returns whether the text of a module has a name; `has` counts what it makes at run time."""
    module, _, last = name.rpartition(".")
    return last in _names(module)[0]


def origin(name: str) -> str:
    """Returns the full name that a module imports a name from; empty if it defines the name."""
    module, _, last = name.rpartition(".")
    return _names(module)[0].get(last, _DEFINED)


def split_module(name: str) -> tuple[str, Sequence[str]]:
    """Returns the longest beginning of a name that is an installed module, and the other parts."""
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        if _file(".".join(parts[:count])) is None:
            return ".".join(parts[: count - 1]), parts[count - 1 :]
    return name, ()


@functools.cache
def is_installed(package: str) -> bool:
    """Returns whether a package, or a module without a package, can be imported."""
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):  # Such as a package that is half removed.
        return False


@functools.cache
def _file(module: str) -> str | None:
    """Returns the source of a module; empty for a folder or a library without one."""
    parent, _, name = module.rpartition(".")
    if not parent:
        spec = importlib.util.find_spec(module) if is_installed(module) else None
        return (spec.origin or "") if spec else None
    parent_file = _file(parent)
    if parent_file is None or (parent_file and os.path.basename(parent_file) != "__init__.py"):
        return None
    return _file_in(_folder(parent), name)


def _file_in(folder: str, name: str) -> str | None:
    path = os.path.join(folder, name)
    for file in (os.path.join(path, "__init__.py"), f"{path}.py", f"{path}.pyi"):
        if os.path.exists(file):
            return file
    return "" if os.path.isdir(path) or os.path.exists(f"{path}.so") else None


def _folder(package: str) -> str:
    file = _file(package)
    if file:
        return os.path.dirname(file)
    parent, _, name = package.rpartition(".")
    if parent:
        return os.path.join(_folder(parent), name)
    spec = importlib.util.find_spec(package)
    locations = spec.submodule_search_locations if spec else None
    return next(iter(locations or [""]))


@functools.cache
def _names(module: str) -> tuple[Mapping[str, str], Sequence[str]]:
    """Returns the names of a module, each with where it comes from, and modules with more names."""
    file = _file(module)
    if module.endswith("_pb2"):  # Protocol buffers make their names at run time.
        return {"__getattr__": _DEFINED}, ()
    if not file or not file.endswith((".py", ".pyi")):
        return {}, ()
    with open(file, encoding="utf-8") as stream:
        text = stream.read()
    # Most lines of the modules of TensorFlow's API; a syntax tree of them takes ten times as long.
    imports = _IMPORT.findall(text)
    names = {alias or name: f"{source}.{name}" for source, name, alias in imports}
    package = module if os.path.basename(file) == "__init__.py" else module.rpartition(".")[0]
    for statement in _statements(ast.parse(_IMPORT.sub("", text)).body):
        names.update(_bound(statement, package))
    if "globals().update(" in text:  # Names that it makes at run time, too.
        names["__getattr__"] = _DEFINED
    return names, [source for name, source in names.items() if name.startswith("*")]


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yields the statements of a module, those below `if` and `try` included."""
    for statement in body:
        yield statement
        for field in ("body", "orelse", "finalbody", "handlers"):
            if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                for inner in getattr(statement, field, ()):
                    yield from _statements(inner.body if field == "handlers" else [inner])


def _bound(statement: ast.stmt, package: str) -> Mapping[str, str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name: _DEFINED}
    if isinstance(statement, ast.Import):
        return {
            name.asname or name.name.partition(".")[0]: name.name if name.asname else _DEFINED
            for name in statement.names
        }
    if isinstance(statement, ast.ImportFrom):
        module = absolute(statement, package)
        if statement.names[0].name == "*":
            return {f"*{module}": module}
        return {name.asname or name.name: f"{module}.{name.name}" for name in statement.names}
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    nodes = (node for target in targets if target for node in ast.walk(target))
    return {node.id: _DEFINED for node in nodes if isinstance(node, ast.Name)}


def absolute(statement: ast.ImportFrom, package: str) -> str:
    """Returns the full name of the module in a from-import."""
    parts = package.split(".")
    parent = parts[: len(parts) - statement.level + 1] if statement.level else []
    return ".".join([*parent, *([statement.module] if statement.module else [])])
