"""`tf_frame.private_tensorflow` lists all private parts of TensorFlow that are in use."""

import ast
import functools
import itertools

from source_tree import FRAMEWORK, PLUGINS
from tf_frame.private_tensorflow import ATTRIBUTES, MODULES

PACKAGES = [FRAMEWORK, *(path for path in PLUGINS if path.name == "tf_frame_legacy")]
PRIVATE = ("tensorflow.python", "tensorflow.core", "tensorflow.tsl", "tensorflow.compiler")
# Private names of Python itself, not of TensorFlow.
OF_PYTHON = {"_asdict", "_current_frames", "_exit", "_fields", "_replace"}
# The end of the interpreter, which `process_end` brings about itself.
OF_PYTHON |= {"_run_exitfuncs", "_shutdown"}


@functools.cache
def trees():
    """The syntax tree of each module, by its path."""
    paths = [path for package in PACKAGES for path in sorted(package.rglob("*.py"))]
    return {path: ast.parse(path.read_text()) for path in paths}


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def private_modules():
    found = itertools.chain.from_iterable(map(imported, trees().values()))
    names = {name for name in found if name.startswith(PRIVATE)}
    # `from module import Name` names something in the module.
    return {name.rpartition(".")[0] if name.split(".")[-1][0].isupper() else name for name in names}


@functools.cache
def attributes_in(tree):
    """Private attributes of objects other than `self` and `cls`."""
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    private = (node for node in found if is_private(node.attr))
    return {node.attr for node in private if ast.unparse(node.value) not in ("self", "cls")}


@functools.cache
def used_names(tree):
    """Names of functions, classes, variables and attributes that a module defines."""
    every = list(ast.walk(tree))
    defined = {n.name for n in every if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    attributes = (n for n in every if isinstance(n, ast.Attribute))
    variables = (n for n in every if isinstance(n, ast.Name))
    stored = {n.attr for n in attributes if isinstance(n.ctx, ast.Store)}
    return defined | stored | {n.id for n in variables if isinstance(n.ctx, ast.Store)}


def used_attributes():
    return set().union(*map(attributes_in, trees().values()))


def own_names():
    """Private names that some class or module of tf-frame defines."""
    return set().union(*map(used_names, trees().values()))


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def test_private_modules_are_those_of_the_list():
    assert private_modules() == set(MODULES)


def test_private_attributes_are_those_of_the_list():
    used = used_attributes()
    assert used - own_names() - OF_PYTHON <= set(ATTRIBUTES)
    assert set(ATTRIBUTES) <= used


def test_no_module_looks_at_private_attributes_of_another():
    for path, tree in trees().items():
        foreign = attributes_in(tree) - used_names(tree) - OF_PYTHON - set(ATTRIBUTES)
        assert not foreign, f"{path} uses {foreign}"


def test_each_has_a_reason():
    assert all(len(reason) >= 10 for reason in (*MODULES.values(), *ATTRIBUTES.values()))
