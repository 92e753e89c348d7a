"""Rewrites what no module can give back: methods of built-in types, conversions, comparisons.

    size.iteritems()   # dict: Python 2;     image.tostring()  # array: until NumPy 2.2
    int(np.ones(1))    # until NumPy 2.3;    boxes == []       # False until NumPy 1.24
    print >> file, 1   # Python 2
    yield next(lines)  # ended the generator until Python 3.6
    attention, alignments = _compute_attention(...)  # tf.contrib.seq2seq until TensorFlow 1.4

The lines stay where they are, so that tracebacks show the program's own text. Changed functions are
kept from AutoGraph.
"""

from __future__ import annotations

import array
import ast
import functools
import operator
import threading
from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from tf_frame_legacy.source.generators import is_generator, until_stop
from tf_frame_legacy.source.old_syntax import is_attention_of_1_4, is_print_to_file

METHODS: dict[str, tuple[Any, Callable[..., Any]]] = {
    "getchildren": (Element, list),
    "getiterator": (Element, lambda element, tag=None: list(element.iter(tag))),
    "has_key": (dict, dict.__contains__),
    "iteritems": (dict, lambda d: iter(d.items())),
    "iterkeys": (dict, lambda d: iter(d.keys())),
    "itervalues": (dict, lambda d: iter(d.values())),
    "isAlive": (threading.Thread, threading.Thread.is_alive),
    "itemset": (np.ndarray, lambda a, *place: a.__setitem__(_index(a, *place[:-1]), place[-1])),
    "newbyteorder": (np.ndarray, lambda a, order="S": a.view(a.dtype.newbyteorder(order))),
    "ptp": (np.ndarray, np.ptp),
    "tostring": ((np.ndarray, array.array), lambda values: values.tobytes()),
}
# Decorators of Numba, which compiles the functions of Python that it knows only.
_COMPILERS = {"autojit", "guvectorize", "jit", "njit", "stencil", "vectorize"}


def rewritten(source: bytes, path: str) -> ast.Module:
    """Returns the tree of a file of the program, with calls of the functions of `BUILTINS`.

    Raises:
      SyntaxError: it is not Python 3.
    """
    tree: ast.Module = _Rewriter().visit(ast.parse(source, path))
    return ast.fix_missing_locations(tree)


class _Rewriter(ast.NodeTransformer):
    def __init__(self) -> None:
        self._count = 0  # Of the changes.

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        if parts and is_print_to_file(parts[0]):
            file = ast.keyword("file", parts[0].right)
            call = ast.Call(parts[0].left, list(parts[1:]), [file])
            node.value = ast.copy_location(call, node.value)
            self._count += 1
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if _is_compiled(node):
            return node
        before = self._count
        self.generic_visit(node)
        start = 1 if ast.get_docstring(node, clean=False) is not None else 0
        if node.body[start:] and is_generator(node):
            node.body[start:] = [until_stop(node.body[start:])]
        if self._count > before:
            name = ast.Name(_name("unconverted"), ast.Load())
            node.decorator_list.append(ast.copy_location(name, node))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        before = self._count
        self.generic_visit(node)
        return self._call(node, "unconverted", node) if self._count > before else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr in METHODS and isinstance(node.ctx, ast.Load):
            return self._call(node, "attribute", node.value, ast.Constant(node.attr))
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        is_plain = len(node.args) == 1 and not isinstance(node.args[0], (ast.Starred, ast.Constant))
        if name in ("int", "float") and is_plain and not node.keywords:
            return self._call(node, "number", node.func, node.args[0])
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        call = node.value
        if isinstance(call, ast.Call) and is_attention_of_1_4(node):
            node.value = self._call(call, "first_two", call.func, *call.args)
            node.value.keywords = call.keywords
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        if len(sides) == 2 and any(isinstance(side, ast.List) for side in sides):
            for kind, function in ((ast.Eq, "equal"), (ast.NotEq, "differ")):
                if isinstance(node.ops[0], kind):
                    return self._call(node, function, *sides)
        return node

    def _call(self, node: ast.expr, function: str, *arguments: ast.expr) -> ast.Call:
        self._count += 1
        name = ast.Name(_name(function), ast.Load())
        return ast.copy_location(ast.Call(name, list(arguments), []), node)


def _is_compiled(node: ast.FunctionDef) -> bool:
    """Returns whether Numba compiles a function: `@jit`, `@numba.jit(nopython=True)`."""
    functions = [getattr(decorator, "func", decorator) for decorator in node.decorator_list]
    return any(getattr(f, "attr", getattr(f, "id", "")) in _COMPILERS for f in functions)


def _name(function: str) -> str:
    return f"__tf_frame_{function}__"


def attribute(value: Any, name: str) -> Any:
    """Returns an attribute; an old method, if the value is of the type that had it."""
    kind, method = METHODS[name]
    if isinstance(value, kind) and not hasattr(value, name):
        return functools.partial(method, value)
    return getattr(value, name)


def number(kind: Callable[[Any], Any], value: Any) -> Any:
    """Returns `int(value)`, say, also of an array of several axes with one element."""
    if kind in (int, float) and isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(())
    return kind(value)


def unconverted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Keeps AutoGraph from a function, which it would read again from the file, unchanged.

    Programs of TensorFlow 1 do without AutoGraph.
    """
    # What tf.autograph.experimental.do_not_convert gives the functions that it returns.
    function.autograph_info__ = {}  # type: ignore[attr-defined]
    return function


def first_two(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Returns the first two of the results of a function."""
    return function(*args, **kwargs)[:2]


def equal(left: Any, right: Any) -> Any:
    """Returns `left == right`; False for an array and a list of another shape."""
    return _compared(operator.eq, left, right)


def differ(left: Any, right: Any) -> Any:
    """Returns `left != right`; True for an array and a list of another shape."""
    return _compared(operator.ne, left, right)


def _compared(compare: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    if not isinstance(left, np.ndarray) and not isinstance(right, np.ndarray):
        return compare(left, right)
    try:
        result = compare(left, right)
    except ValueError:  # The shapes do not match.
        return compare is operator.ne
    return result if np.size(result) else False  # An empty array has no truth value any more.


def _index(array: Any, *place: Any) -> Any:
    """Returns the index of an element: of the only one, of a flat number, or of a full place."""
    indices = place[0] if len(place) == 1 and isinstance(place[0], tuple) else place
    if len(indices) == 1:
        return np.unravel_index(indices[0], array.shape)
    return tuple(indices) if indices else (0,) * array.ndim


_FUNCTIONS = (attribute, number, unconverted, first_two, equal, differ)
BUILTINS = {_name(function.__name__): function for function in _FUNCTIONS}
