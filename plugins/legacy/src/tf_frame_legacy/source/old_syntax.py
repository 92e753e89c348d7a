"""Expressions that Python 3 can parse and Python 2 meant otherwise."""

from __future__ import annotations

import ast
from typing import TypeGuard


def is_print_to_file(node: ast.AST) -> TypeGuard[ast.BinOp]:
    """Returns whether a node is `print >> file`."""
    is_shift = isinstance(node, ast.BinOp) and isinstance(node.op, ast.RShift)
    return is_shift and getattr(getattr(node, "left", None), "id", "") == "print"
