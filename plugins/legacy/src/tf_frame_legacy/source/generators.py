"""Generators that a StopIteration ended until Python 3.6: `yield next(lines)`.

Since Python 3.7 it is an error, also if a function that the generator calls raises it.
"""

from __future__ import annotations

import ast

from tf_frame_legacy.source.trees import own_nodes


def is_generator(function: ast.FunctionDef) -> bool:
    """Returns whether a function is a generator."""
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(function))


def stops(node: ast.AST) -> bool:
    """Returns whether a node is `raise StopIteration`."""
    if not isinstance(node, ast.Raise):
        return False
    error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return getattr(error, "id", "") == "StopIteration"


def until_stop(body: list[ast.stmt]) -> ast.stmt:
    """Returns the statements in a block that a StopIteration ends, as it ended a generator."""
    end = ast.ExceptHandler(ast.Name("StopIteration", ast.Load()), None, [ast.Return(None)])
    return ast.copy_location(ast.Try(body, [end], [], []), body[0])
