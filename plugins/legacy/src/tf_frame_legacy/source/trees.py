"""Walks syntax trees, and tells their nodes apart."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence

# Fields of nodes that hold text, numbers and operators.
_PLAIN = ("arg", "attr", "conversion", "ctx", "id", "kind", "level", "module", "op", "ops")
# Errors that a program catches, or versions that it asks for, where a name may be missing.
_GUARDS = (
    *("ImportError", "ModuleNotFoundError", "NameError", "AttributeError", "Exception"),
    *("BaseException", "PY2", "PY3", "version_info"),
)


def children(node: ast.AST) -> list[ast.AST]:
    """Returns the nodes below a node that may have names; faster than `ast.iter_child_nodes`."""
    found: list[ast.AST] = []
    for field in _without_plain(node._fields):
        value = getattr(node, field, None)
        if isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST) and not isinstance(value, ast.Constant):
            found.append(value)
    return found


@functools.cache
def _without_plain(fields: tuple[str, ...]) -> Sequence[str]:
    return [field for field in fields if field not in _PLAIN]


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yields a node and all nodes below it that may have names; faster than `ast.walk`."""
    nodes = [node]
    for each in nodes:  # Grows meanwhile.
        yield each
        nodes += children(each)


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes below a node, without those of inner functions and classes."""
    for child in children(node):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield from own_nodes(child)


def split_attribute(node: ast.expr) -> tuple[ast.expr, str] | None:
    """Returns object and attribute of `object.attribute` or `getattr(object, "attribute")`."""
    if isinstance(node, ast.Attribute):
        return node.value, node.attr
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
        value = getattr(node.args[1], "value", None)  # Of a constant.
        if node.func.id == "getattr" and isinstance(value, str):
            return node.args[0], value
    return None


def is_guard(node: ast.AST) -> bool:
    """Returns whether a statement keeps a missing name from stopping the program.

    It catches the error, or asks for the version of Python.
    """
    if isinstance(node, ast.If):
        words = {getattr(n, "attr", getattr(n, "id", "")) for n in ast.walk(node.test)}
    elif isinstance(node, ast.Try):
        words = _caught(node) | ({"Exception"} if None in map(_type, node.handlers) else set())
    else:
        return False
    return not words.isdisjoint(_GUARDS)


def catches_missing(node: ast.AST) -> bool:
    """Returns whether a statement catches the error of an attribute that is missing, by name."""
    return isinstance(node, ast.Try) and "AttributeError" in _caught(node)


def _caught(node: ast.Try) -> set[str]:
    """Returns the names of the errors that a statement catches."""
    types = filter(None, map(_type, node.handlers))
    return {n.id for t in types for n in ast.walk(t) if isinstance(n, ast.Name)}


def _type(handler: ast.ExceptHandler) -> ast.expr | None:
    return handler.type
