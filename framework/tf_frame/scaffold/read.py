"""Reads the templates of new plugins."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

_TEMPLATES = Path(__file__).parent / "templates"
_PLUGIN = "MyPlugin"  # Written as the name of the new plugin.


def templates(folder: str = ".") -> Iterator[tuple[str, str]]:
    """Yields path and content of the templates of a folder; default: of all of them.

    Their file names end with `.txt`, so that no tool takes them for code of tf-frame.
    """
    root = _TEMPLATES / folder
    for file in sorted(root.rglob("*.txt")):
        path = file.relative_to(root).as_posix().removesuffix(".txt")
        yield path.replace("dot-", "."), file.read_text(encoding="utf-8")


def classes() -> set[str]:
    """Returns the names of the classes that the code of the templates imports or defines."""
    names: set[str] = set()
    for path, text in templates():
        if path.endswith(".py"):
            names.update(_names(ast.parse(text)))
    return {name for name in names if name[:1].isupper()} - {_PLUGIN}


def _names(code: ast.AST) -> Iterator[str]:
    for node in ast.walk(code):
        if isinstance(node, (ast.ClassDef, ast.alias)):
            yield node.name
