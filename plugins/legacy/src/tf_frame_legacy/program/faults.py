"""Explains, in one line, errors of an old program that only a change of it can remove."""

from __future__ import annotations

import os
import re
import sys
import traceback

from tf_frame.text import brief
from tf_frame_legacy.names import children, find
from tf_frame_legacy.names.families.old_packages import (
    LOST_MODULES,
    MEMBERS,
    OLD_PACKAGES,
    PYTHON_2_MODULES,
)
from tf_frame_legacy.program.importing import Imports
from tf_frame_legacy.program.not_offered import (
    NotOfferedError,
    NotOfferedImportError,
    explain_missing,
)
from tf_frame_legacy.program.old_packages.sources import METHODS
from tf_frame_legacy.program.view import OWN_KERAS

_MISSING = re.compile(
    r"module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)'|"
    r"cannot import name '(?P<imported>\w+)' from '(?P<package>[\w.]+)'|"
    r"No module named '(?P<no_module>[\w.]+)'|"
    r"No (?P<lazy>[\w.]+) attribute (?P<attribute>\w+)"
)
_METHOD = re.compile(r"'(?P<type>[\w.]+)' object has no attribute '(?P<name>\w+)'")
_METHODS = {"getsize", "textsize", "tostring_rgb", "as_matrix", "ix", *METHODS}
_METHODS_OF = {
    f"{kind}.{name}"
    for kind in ("DataFrame", "Series")
    for name in ("append", "get_value", "get_values", "order", "set_value", "sort")
} | {f"{kind}.node" for kind in ("Graph", "DiGraph", "MultiGraph")}
# An error of tf.py_func: its own traceback comes before the places where the graph was built.
_IN_PY_FUNC = re.compile(r"\b[A-Z]\w*Error: (?P<text>.*?)\n\s*Traceback (?P<trace>.*)", re.DOTALL)
_BUILT = re.compile("Detected at node|Original stack trace|\\[\\[")
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
_YAML = "load() missing 1 required positional argument: 'Loader'"
_ARRAY = re.compile(r"\barray\((?!.*dtype)")
_LIST = re.compile(r"[!=]= *\[")
_SWITCH = "--with_old_packages gives the program the old one"


def explain_error(error: BaseException, imports: Imports) -> str | None:
    """Returns the place and the remedy of an error; None for one that the program can mend."""
    if isinstance(error, SyntaxError) and imports.project.contains(error.filename or ""):
        line = (error.text or "").strip()
        return (
            f"{error.filename}:{error.lineno}: {error.msg}: {brief(line)}; code of Python 2 has "
            "to be converted first, for instance by `pip install fissix; fissix -w FILES`"
        )
    text = str(error)
    remedy = _remedy(error, text)
    if remedy:
        return f"{_place(error, imports)}: {remedy}"
    if inner := _IN_PY_FUNC.search(text):
        remedy = _lost_method(inner["text"])
        trace = _BUILT.split(inner["trace"])[0]
        places = [place for place in _FRAME.findall(trace) if imports.project.contains(place[0])]
        if remedy and places:
            return f"{':'.join(places[-1])}: {remedy}"
    return None


def _remedy(error: BaseException, text: str) -> str | None:
    if isinstance(error, (NotOfferedError, NotOfferedImportError)):
        return text
    if isinstance(error, (AttributeError, ImportError)) and (missing := _MISSING.search(text)):
        return _old_package(missing) or _not_of_tensorflow(missing) or _not_built(error)
    if isinstance(error, AttributeError):
        return _lost_method(text)
    if isinstance(error, TypeError) and text.startswith(_YAML):
        return f"PyYAML 6 has another yaml.load; {_SWITCH}"
    if isinstance(error, TypeError) and text.startswith("only 0-dimensional arrays can be"):
        return f"NumPy 2.4: {text}; write array.item(); --with_old_packages does so in int()"
    if isinstance(error, ValueError):
        line = traceback.extract_tb(error.__traceback__)[-1].line or ""
        if text.startswith("operands could not be broadcast") and _LIST.search(line):
            return "NumPy compares arrays of one shape only; --with_old_packages: of all"
        if "inhomogeneous shape" in text and _ARRAY.search(line):
            return f"NumPy makes no array of lists of different lengths; {_SWITCH}"
    if isinstance(error, RuntimeError) and text == "generator raised StopIteration":
        return f"Python 3.7: {text}; --with_old_packages: it ends the generator"
    if type(error).__name__ == "NotFoundError" and ".so: " in text:
        return f"an operation in C++ or CUDA: {text.splitlines()[0]}; build it for this TensorFlow"
    return None


def _lost_method(text: str) -> str | None:
    method = _METHOD.search(text)
    if method is None:
        return None
    full_name = f"{method['type']}.{method['name']}"
    is_gone = method["name"] in _METHODS or full_name in _METHODS_OF
    return f"{full_name} is gone; {_SWITCH}" if is_gone else None


def _old_package(missing: re.Match[str]) -> str | None:
    part = missing.groupdict()
    module = part["module"] or part["package"] or part["no_module"] or part["lazy"] or ""
    if part["no_module"] in PYTHON_2_MODULES:
        return f"Python 3 has no module {module}; {_SWITCH}"
    if part["no_module"] and "." not in module and module not in LOST_MODULES:
        return None  # The whole package is missing: not installed.
    name = part["name"] or part["imported"] or part["attribute"]
    full_name = f"{module}.{name}" if name else module
    if module.partition(".")[0] == OWN_KERAS:
        return f"{full_name} is not in Keras 3; --with_old_packages gives the program Keras 2"
    if any(f"{member}.".startswith(f"{full_name}.") for member in MEMBERS):
        return f"{full_name} is gone; {_SWITCH}"
    if module.partition(".")[0] not in OLD_PACKAGES:
        return None
    if find(full_name) is None and full_name not in children():
        return None
    return f"{full_name} is gone; {_SWITCH}"


def _not_of_tensorflow(missing: re.Match[str]) -> str | None:
    module, name = missing["module"] or missing["package"], missing["name"] or missing["imported"]
    return explain_missing(module, name) if module else None


def _not_built(error: BaseException) -> str | None:
    """Returns the remedy for a module of the program that is written in Cython."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return None
    package, _, name = error.name.rpartition(".")
    frames = traceback.extract_tb(error.__traceback__)
    folders = getattr(sys.modules.get(package), "__path__", None)
    for folder in folders or {os.path.dirname(frame.filename) for frame in frames}:
        file = os.path.join(folder, f"{name}.pyx")
        if os.path.isfile(file):
            return f"{file} is a module in Cython; build it: python setup.py build_ext --inplace"
    return None


def _place(error: BaseException, imports: Imports) -> str:
    """Returns the line of the program that raised the error."""
    frames = traceback.extract_tb(error.__traceback__)
    of_program = [frame for frame in frames if imports.project.contains(frame.filename)]
    return f"{of_program[-1].filename}:{of_program[-1].lineno}" if of_program else "the program"
