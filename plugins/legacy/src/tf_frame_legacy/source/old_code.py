"""Finds code that only old versions of Python and of other packages run, for `convert`.

The import hook of `run --with_old_packages` changes the same code whenever it is imported.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping

from tf_frame_legacy.names.families.old_packages import PYTHON_2_MODULES, WITH_METHODS
from tf_frame_legacy.source import old_packages
from tf_frame_legacy.source.old_syntax import is_attention_of_1_4
from tf_frame_legacy.source.project import Source
from tf_frame_legacy.source.resolve import Names
from tf_frame_legacy.source.trees import walk

# The module with `attribute(object, name)`, which gives an object its old method,
# `number(int, array)` and `first_two(function, ...)`.
HELPERS = "tf_frame_legacy.program.old_packages.sources"
_METHODS = set(old_packages.METHODS) - {"as_matrix"}
_IN_PYTHON_3 = {"iteritems": "items", "itervalues": "values", "iterkeys": "keys"}
_DEFINED = re.compile(r"def (iteritems|itervalues|iterkeys)\b")
# What tells that a program needs the methods; without a pattern, the import does.
_PATTERNS = {
    "PIL": re.compile(r"\.(getsize|textsize)\("),
    "cv2": re.compile(r"\bcv2\.(boxPoints|arrowedLine|circle|ellipse|line|putText|rectangle)\("),
    "tensorflow": re.compile(r"\.(get_)?shape\b"),
}


def defines_methods(sources: Iterable[Source]) -> bool:
    """Returns whether classes of the program have methods with the names of Python 2's `dict`."""
    return any(_DEFINED.search(source.text) for source in sources)


def packages_to_restore(sources: Iterable[Source], files: Mapping[str, Names]) -> list[str]:
    """Returns the packages with methods that the program may use, and that are gone."""
    found = set()
    for source in sources:
        if source.path in files:
            roots = {b.target.partition(".")[0] for b in files[source.path].bindings}
            roots = {"tensorflow" if root == "tf" else root for root in roots}
            found |= {root for root in roots & set(WITH_METHODS) if _uses(source, root)}
    return sorted(found)


def _uses(source: Source, package: str) -> bool:
    assert source.tree is not None
    pattern = _PATTERNS.get(package)
    found = pattern is None or bool(pattern.search(source.text))
    if found and package == "tensorflow":  # Python 2 divided the sizes of a shape as integers.
        return any(isinstance(getattr(node, "op", None), ast.Div) for node in walk(source.tree))
    return found


def builtin_names(names: Names) -> Iterator[tuple[ast.Name, str]]:
    """Yields the built-in names of Python 2, with the full name today."""
    for node in names.unbound:
        new = old_packages.PYTHON_2_BUILTINS.get(node.id, "")
        if new.replace(".", "").isidentifier() and node.id not in ("execfile", "file", "buffer"):
            yield node, new


def modules_of_python_2(names: Names) -> Iterator[tuple[ast.stmt, str, str]]:
    """Yields import statements, with a module of Python 2 and its name today."""
    for binding in names.bindings:
        statement, alias = binding.statement, binding.alias
        if isinstance(statement, ast.Import) and alias and not binding.optional:
            new = PYTHON_2_MODULES.get(alias.name)
            if new and alias.name not in sys.stdlib_module_names:
                yield statement, alias.name, new


def old_methods(
    source: Source, names: Names, are_defined: bool
) -> Iterator[tuple[ast.Attribute, str]]:
    """Yields attributes that are old methods, each with the name of the method today.

    The name is empty where it depends on the object: `attribute` of `HELPERS` decides at run time.
    """
    assert source.tree is not None
    modules = {binding.name for binding in names.bindings}
    called = {use.nodes[-1] for use in names.uses}
    nexts = set()
    for node in walk(source.tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id == "next":
            nexts.update(node.args[:1])
        method = node.func
        if not isinstance(method, ast.Attribute) or method.attr not in _METHODS:
            continue
        if method not in called and getattr(method.value, "id", "") not in modules:
            new = _IN_PYTHON_3.get(method.attr, "")
            yield method, "" if are_defined or node in nexts else new


def numbers_of_arrays(source: Source) -> Iterator[ast.Call]:
    """Yields calls of `int` and `float` with an argument of a function of `tf.py_func`.

    The argument is an array, perhaps with axes; NumPy makes no number of it any more.
    """
    assert source.tree is not None
    if "py_func" not in source.text:
        return
    calls = [node for node in walk(source.tree) if isinstance(node, ast.Call)]
    names = {getattr(call.args[0], "id", "") for call in calls if _is_py_func(call)}
    for function in walk(source.tree):
        if isinstance(function, ast.FunctionDef) and function.name in names:
            parameters = {argument.arg for argument in function.args.args}
            for node in walk(function):
                if isinstance(node, ast.Call) and _converts_parameter(node, parameters):
                    yield node


def attentions_of_1_4(source: Source) -> Iterator[ast.Call]:
    """Yields calls of `_compute_attention` for its two results of TensorFlow 1.4."""
    assert source.tree is not None
    for node in walk(source.tree):
        if isinstance(node, ast.Assign) and is_attention_of_1_4(node):
            assert isinstance(node.value, ast.Call)
            yield node.value


def _is_py_func(call: ast.Call) -> bool:
    return getattr(call.func, "attr", "") in ("py_func", "py_function") and bool(call.args)


def _converts_parameter(call: ast.Call, parameters: set[str]) -> bool:
    """Returns whether a call is `int(parameter)` or `float(parameter)`."""
    is_number = getattr(call.func, "id", "") in ("int", "float")
    return is_number and len(call.args) == 1 and getattr(call.args[0], "id", "") in parameters
