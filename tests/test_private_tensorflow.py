"""What is not public in TensorFlow is used only where the list says why."""

import ast
import pathlib

import tf_frame
from tf_frame.private_tensorflow import ATTRIBUTES, MODULES

PACKAGE = pathlib.Path(tf_frame.__file__).parent
PRIVATE = ("tensorflow.python", "tensorflow.core", "tensorflow.tsl", "tensorflow.compiler")
# Private names of Python itself, not of TensorFlow.
OF_PYTHON = {"_current_frames", "_fields", "_replace"}


def trees():
    for path in sorted(PACKAGE.rglob("*.py")):
        yield ast.parse(path.read_text())


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def private_modules():
    names = {name for tree in trees() for name in imported(tree) if name.startswith(PRIVATE)}
    # `from module import Name` names something in the module.
    return {name.rpartition(".")[0] if name.split(".")[-1][0].isupper() else name for name in names}


def nodes(kind):
    return (node for tree in trees() for node in ast.walk(tree) if isinstance(node, kind))


def used_attributes():
    """Private attributes of objects other than `self` and `cls`."""
    attributes = (node for node in nodes(ast.Attribute) if is_private(node.attr))
    return {node.attr for node in attributes if ast.unparse(node.value) not in ("self", "cls")}


def own_names():
    """Private names that some class or module of tf-frame defines."""
    defined = {node.name for node in nodes((ast.FunctionDef, ast.ClassDef))}
    stored = {n.attr for n in nodes(ast.Attribute) if isinstance(n.ctx, ast.Store)}
    return defined | stored


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def test_private_modules_are_those_of_the_list():
    assert private_modules() == set(MODULES)


def test_private_attributes_are_those_of_the_list():
    used = used_attributes()
    assert used - own_names() - OF_PYTHON <= set(ATTRIBUTES)
    assert set(ATTRIBUTES) <= used


def test_each_has_a_reason():
    assert all(len(reason) >= 10 for reason in (*MODULES.values(), *ATTRIBUTES.values()))
