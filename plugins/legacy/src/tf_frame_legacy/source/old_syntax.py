"""Expressions that Python 3 can parse and Python 2 meant otherwise."""

from __future__ import annotations

import ast
from typing import TypeGuard


def is_print_to_file(node: ast.AST) -> TypeGuard[ast.BinOp]:
    """Returns whether a node is `print >> file`."""
    is_shift = isinstance(node, ast.BinOp) and isinstance(node.op, ast.RShift)
    return is_shift and getattr(getattr(node, "left", None), "id", "") == "print"


def is_attention_of_1_4(node: ast.Assign) -> bool:
    """Returns whether a statement is `attention, alignments = _compute_attention(...)`.

    This function of tf.contrib.seq2seq has had three results since TensorFlow 1.5.
    """
    function = getattr(node.value, "func", None)
    name = getattr(function, "attr", getattr(function, "id", ""))
    pairs = [t for t in node.targets if isinstance(t, ast.Tuple) and len(t.elts) == 2]
    return name == "_compute_attention" and bool(pairs)
