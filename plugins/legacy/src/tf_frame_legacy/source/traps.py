"""Finds what stops an old program beside the names of TensorFlow: Python, NumPy, other packages."""

from __future__ import annotations

import ast
import dataclasses
import functools
import os
import re
import sys
import sysconfig
from collections.abc import Iterator

from tf_frame_legacy.names import canonical, find
from tf_frame_legacy.names.keras_part import OF_KERAS_3
from tf_frame_legacy.source import installed, old_packages
from tf_frame_legacy.source.bindings import Binding, Use
from tf_frame_legacy.source.generators import stops
from tf_frame_legacy.source.lookup import is_in_keras_2
from tf_frame_legacy.source.old_syntax import is_print_to_file
from tf_frame_legacy.source.project import Project, Source
from tf_frame_legacy.source.resolve import Names
from tf_frame_legacy.source.trees import own_nodes, walk

PYTHON = "Python"
NUMPY = "NumPy"
OLD_PACKAGE = "other packages"
EXTENSION = "compiled code"
_OLD_PACKAGES = ("scipy", "PIL", "yaml", "sklearn", "networkx", "matplotlib", "librosa")
_CATEGORIES = {"numpy": NUMPY, **dict.fromkeys(_OLD_PACKAGES, OLD_PACKAGE)}

_PYTHON_2_ERROR = re.compile(
    "Missing parentheses|leading zeros|must be parenthesized|cannot be parenthesized|inconsistent"
)
_PYTHON_2_LINE = re.compile(
    r"`|<>|\bprint\b|\bexec\b|\braise \w+\s*,|\bur['\"]|\d[lL]\b|^\s*except"
)
# What the calls that are looked for begin with: most files have none of them.
_CALL = re.compile(
    r"yaml|raise StopIteration|print\s*>>|\b(int|float)\([\w.]+\(|"
    r"\.(has_key|iter\w+|tostring|itemset|as_matrix|ix\[|getchildren|getiterator|isAlive)"
)
_OWNERS = {
    "tostring": (NUMPY, "NumPy's"),
    "itemset": (NUMPY, "NumPy's"),
    "as_matrix": (OLD_PACKAGE, "pandas's"),
    **dict.fromkeys(("getchildren", "getiterator", "isAlive"), (PYTHON, "Python until 3.8's")),
}
# The texts of traps in code that `convert` leaves as it is.
NUMBER = "NumPy makes a number of an array without dimensions only"
PRINT = "Python 2's print >>"
STOP = "Python 3.7 makes an error of a StopIteration in a generator"
_LOADERS = ("tf.load_op_library", "tf.load_library", "tf.load_file_system_library")
_OPERATION = re.compile(rb"REGISTER_OP|REGISTER_KERNEL_BUILDER")
_ARRAYS = {"numpy.array", "numpy.asarray", "numpy.argwhere", "numpy.ones", "numpy.zeros"}
# They make an array if they have arguments.
_DRAWS = {"numpy.random.rand", "numpy.random.randn", "numpy.random.random"}
# Their result has the shape of their argument.
_ELEMENTWISE = {f"numpy.{name}" for name in ("searchsorted", "exp", "log", "sqrt", "round", "abs")}


@dataclasses.dataclass(frozen=True)
class Trap:
    """A line that fails today.

    Attributes:
      path: the file, below the folder of the program.
      line: the number of the line.
      category: PYTHON, NUMPY, OLD_PACKAGE or EXTENSION.
      text: the cause.
      remedy: how to change the line.
      is_restored: whether `--with_old_packages` makes the line run as it is.
    """

    path: str
    line: int
    category: str
    text: str
    remedy: str
    is_restored: bool = False


def unreadable(project: Project) -> Iterator[Trap]:
    """Yields the files that cannot be parsed."""
    for source in project.sources:
        if source.error:
            is_old = _PYTHON_2_ERROR.search(source.error) or _is_python_2(project, source)
            remedy = "rewrite the file for Python 3; 2to3 -w, in Python up to 3.12, does most of it"
            text = f"Python 2 ({source.error})" if is_old else source.error
            yield Trap(source.path, source.line, PYTHON, text, remedy if is_old else "correct it")


def _is_python_2(project: Project, source: Source) -> bool:
    """Returns whether the line that cannot be parsed looks like Python 2."""
    try:
        with open(os.path.join(project.folder, source.path), encoding="latin-1") as file:
            line = file.read().split("\n")[source.line - 1]
    except (OSError, IndexError):
        return False
    return bool(_PYTHON_2_LINE.search(line))


def traps(source: Source, names: Names) -> Iterator[Trap]:
    """Yields the traps in a file that can be parsed."""
    for use in names.uses:
        yield from _in_use(source, use)
    for name in names.unbound:
        if name.id in old_packages.PYTHON_2_BUILTINS:
            remedy = f"use {old_packages.PYTHON_2_BUILTINS[name.id]}"
            is_restored, text = name.id in old_packages.RESTORED_BUILTINS, f"Python 2's {name.id}"
            yield Trap(source.path, name.lineno, PYTHON, text, remedy, is_restored)
    used = {binding for use in names.uses for binding in use.bindings}
    for binding in names.bindings:
        if binding not in used and not binding.optional:
            yield from _in_import(source, binding)
        root = binding.target.partition(".")[0]
        is_gone = root in old_packages.MODULES and root not in sys.stdlib_module_names
        if is_gone and not binding.optional and binding.alias:
            new = old_packages.MODULES[root]
            line = binding.statement.lineno
            text, is_restored = (
                f"Python has no module {root}",
                root in old_packages.RESTORED_MODULES,
            )
            yield Trap(source.path, line, PYTHON, text, f"use {new}", is_restored)
        elif root == "keras" and not binding.optional and not installed.has("keras.utils.np_utils"):
            remedy = "pip install tf_keras and import tf_keras"
            line = binding.statement.lineno
            yield Trap(source.path, line, OLD_PACKAGE, "keras is Keras 3 today", remedy, True)
    if source.tree is None or not _CALL.search(source.text):
        return
    uses = {use.nodes[-1]: use for use in names.uses}
    for node in walk(source.tree):
        if isinstance(node, ast.Call):
            yield from _in_call(source, node, uses)
        elif isinstance(node, ast.FunctionDef) and "StopIteration" in source.text:
            yield from _in_function(source, node)
        elif isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == "ix":
            text, remedy = "pandas has no .ix", "use .loc or .iloc"
            yield Trap(source.path, node.lineno, OLD_PACKAGE, text, remedy, True)
        elif is_print_to_file(node):
            remedy = "write print(..., file=...)"
            yield Trap(source.path, node.lineno, PYTHON, PRINT, remedy, True)


def _in_import(source: Source, binding: Binding) -> Iterator[Trap]:
    """Yields the trap in an import of a name that is gone, and that the file does not use."""
    new = old_packages.replacement(binding.target)
    if new:
        category = _CATEGORIES.get(binding.target.partition(".")[0], PYTHON)
        text = f"{binding.target} is gone"
        yield Trap(source.path, binding.statement.lineno, category, text, f"use {new}", True)


def _in_use(source: Source, use: Use) -> Iterator[Trap]:
    for name in use.names:
        cause = _why_gone(name)
        if cause is not None:
            yield Trap(source.path, use.line, *cause)
        elif _needs_tf_keras(canonical(name)) and not use.is_caught:
            text = f"{name} is not in TensorFlow's part of Keras 2"
            yield Trap(source.path, use.line, OLD_PACKAGE, text, "pip install tf_keras")


@functools.cache
def _why_gone(name: str) -> tuple[str, str, str, bool] | None:
    """Returns the last fields of a `Trap` for a name that is gone; None for any other name."""
    restored = old_packages.replacement(name)
    new = restored or old_packages.GONE.get(name)
    if new:
        category = _CATEGORIES.get(name.partition(".")[0], PYTHON)
        return category, f"{name} is gone", f"use {new}", bool(restored)
    if canonical(name) in _LOADERS:
        remedy = "compile the library for this TensorFlow, or replace its operations"
        return EXTENSION, "loads operations in C++", remedy, False
    return None


def _needs_tf_keras(name: str) -> bool:
    """Returns whether a name of tf.keras is in the package tf_keras only, which is missing."""
    root, _, rest = name.partition(".")
    if root == "keras" and rest.startswith(("layers.", "models.", "applications.")):
        name = f"tf.{name}"
    if not name.startswith("tf.keras.") or installed.is_installed("tf_keras") or find(name):
        return False
    if name.split(".")[2] in OF_KERAS_3:
        return False
    return not is_in_keras_2(name)


def _in_call(source: Source, call: ast.Call, uses: dict[ast.expr, Use]) -> Iterator[Trap]:
    use = uses.get(call.func)
    if use and "yaml.load" in use.names and len(call.args) == 1 and not call.keywords:
        remedy = "yaml.load(f, Loader=yaml.Loader), or yaml.safe_load(f)"
        yield Trap(source.path, call.lineno, OLD_PACKAGE, "yaml.load has no Loader", remedy, True)
    method = getattr(call.func, "attr", "")
    if use is None and method in old_packages.METHODS:
        remedy = f"use {old_packages.METHODS[method]}"
        category, owner = _OWNERS.get(method, (PYTHON, "Python 2's"))
        yield Trap(source.path, call.lineno, category, f"{owner} .{method}()", remedy, True)
    is_number = isinstance(call.func, ast.Name) and call.func.id in ("int", "float")
    if is_number and len(call.args) == 1 and _makes_array(call.args[0], uses):
        text = NUMBER
        yield Trap(source.path, call.lineno, NUMPY, text, "use array.item()", True)


def _in_function(source: Source, function: ast.FunctionDef) -> Iterator[Trap]:
    """Yields the lines that raise StopIteration, elsewhere than in an iterator's own method."""
    if function.name not in ("__next__", "next"):
        for node in own_nodes(function):
            if isinstance(node, ast.Raise) and stops(node):
                yield Trap(source.path, node.lineno, PYTHON, STOP, "use return", True)


def _makes_array(node: ast.AST, uses: dict[ast.expr, Use]) -> bool:
    """Returns whether an expression has, for sure, axes."""
    if isinstance(node, ast.BinOp):
        return _makes_array(node.left, uses) or _makes_array(node.right, uses)
    use = uses.get(node.func) if isinstance(node, ast.Call) else None
    if use is None or not isinstance(node, ast.Call):
        return False
    if not _DRAWS.isdisjoint(use.names):
        return bool(node.args)
    if not _ELEMENTWISE.isdisjoint(use.names):
        return any(_makes_array(argument, uses) for argument in node.args[-1:])
    return not _ARRAYS.isdisjoint(use.names)


def extensions(project: Project) -> Iterator[Trap]:
    """Yields the files of operations in C++ and CUDA, libraries, and modules in Cython."""
    built = sysconfig.get_config_var("EXT_SUFFIX")
    for path in project.others:
        stem, ending = os.path.splitext(path)
        if path.endswith(built) or (ending == ".pyx" and f"{stem}{built}" in project.others):
            continue
        if ending == ".pyx":
            remedy = "build it: python setup.py build_ext --inplace"
            yield Trap(path, 1, EXTENSION, "a module in Cython", remedy)
        elif ending == ".cu" or (ending in (".cc", ".cpp") and _has_operation(project, path)):
            remedy = "compile it for this TensorFlow, or replace its operations"
            yield Trap(path, 1, EXTENSION, "operations in C++ or CUDA", remedy)
        elif ending == ".so":
            remedy = "compile it for this Python and this TensorFlow"
            yield Trap(path, 1, EXTENSION, "a compiled library", remedy)


def _has_operation(project: Project, path: str) -> bool:
    with open(os.path.join(project.folder, path), "rb") as file:
        return bool(_OPERATION.search(file.read()))
