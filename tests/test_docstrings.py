"""Docstrings of the public names: a sentence, each argument, and each error that the body raises.

The site shows these docstrings, and nothing else describes the names. Rules:

* The first line is a sentence.
* Each argument has an entry in `Args:`; of a class also in `Attributes:`, or as a property with a
  docstring. A single argument needs no entry if the first line has all words of its name.
* `Args:` has no entry for an argument that does not exist.
* An entry `see`, `as in` or `as for` another name stands for that name's own entry.
* `Raises:` has each class of errors that the body raises, or a base class; for a method, `Raises:`
  of its class may have it. NotImplementedError marks what a subclass defines, and needs no entry.
* A check of a conformance suite, a method `test_...`, needs the sentence alone: pytest and
  `tf-frame plugins check` call it, and show its errors as results; no user's code handles them.
"""

import ast
import builtins
import enum
import importlib
import inspect
import re
import sys
import textwrap

import pytest

from source_tree import ROOT

sys.path.insert(0, str(ROOT / "tools" / "site"))

import api

_SENTENCE = re.compile(r"[A-Z`].*[.!?]")
_SECTION = re.compile(r"([A-Z][a-z]+):")
_ENTRY = re.compile(r"([*\w][*\w., ]*):(?: (.*))?")
_ELSEWHERE = re.compile(r"(?:see|as in|as for) `(\w+)`")
_CONSTRUCTORS = ("__init__", "__new__", "__post_init__")


def sections(value):
    """Returns section -> name -> text of a docstring in Google's style."""
    found = {}
    for block in re.split(r"\n(?=\S)", inspect.getdoc(value) or ""):
        heading, _, body = block.partition("\n")
        if match := _SECTION.fullmatch(heading):
            found[match[1]] = dict(_entries(textwrap.dedent(body)))
    return found


def _entries(body):
    """Yields names and texts; an entry may have several names."""
    for part in re.split(r"\n(?=\S)", body):
        if match := _ENTRY.match(part):
            yield from ((name.strip(" *"), match[2] or "") for name in match[1].split(","))


def public_names(module):
    """Yields name -> (object, class of a method or None) of a public module."""
    for name, value in api.public_members(module):
        yield name, value, None
        if inspect.isclass(value):
            yield from ((f"{name}.{method}", of, value) for method, of in _methods(value))


def _methods(cls):
    """Yields the public methods and properties that a class has or inherits from the project."""
    bases = _own(cls)
    described = {name for base in bases for name in sections(base).get("Attributes", {})}
    described.update(getattr(cls, "__dataclass_fields__", {}))
    for name in sorted({name for base in bases for name in vars(base)} - described):
        member = inspect.getattr_static(cls, name)
        if not name.startswith("_") and (inspect.isroutine(member) or type(member) is property):
            yield name, member


def _own(cls):
    """Returns a class and its bases, as far as they are of the project."""
    return [base for base in cls.__mro__ if base.__module__.startswith("tf_frame")]


def _own_modules(cls):
    return {base.__module__ for base in _own(cls)}


def arguments(value):
    """Returns the names of the arguments, without `self` and `cls`."""
    is_bound = isinstance(value, staticmethod) or inspect.isclass(value)
    if isinstance(value, property) or (inspect.isclass(value) and issubclass(value, enum.Enum)):
        return []
    try:
        names = list(inspect.signature(getattr(value, "__func__", value)).parameters)
    except ValueError:  # A class, such as an exception, with a constructor of Python itself.
        return []
    is_method = "." in getattr(value, "__qualname__", "") and not is_bound
    return names[1:] if is_method else names


def raised(value):
    """Yields the classes of errors that a body raises, without those of functions within it."""
    if inspect.isclass(value):
        bodies = [getattr(base, name, None) for base in _own(value) for name in _CONSTRUCTORS]
        bodies = [body for body in bodies if getattr(body, "__module__", "") in _own_modules(value)]
    else:
        bodies = [value.fget if isinstance(value, property) else getattr(value, "__func__", value)]
    for body in map(inspect.unwrap, filter(inspect.isfunction, bodies)):
        names = {**vars(builtins), **body.__globals__}
        yield from (error for raise_ in _raises(body) if (error := _class(raise_, names)))


def _raises(body):
    """Yields the `raise` statements of a function."""
    try:
        nodes = ast.parse(textwrap.dedent(inspect.getsource(body))).body[0].body
    except (OSError, SyntaxError, AttributeError):  # A generated function, or a lambda.
        return
    while nodes:
        node, *nodes = nodes
        if isinstance(node, ast.Raise):
            yield node
        elif not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            nodes.extend(ast.iter_child_nodes(node))


def _class(raise_, names):
    """Returns the class of an error that is raised as `Name(...)`; None for other forms."""
    error = raise_.exc
    if not isinstance(error, ast.Call):
        return None
    first, *rest = ast.unparse(error.func).split(".")
    found = names.get(first)
    for name in rest:
        found = getattr(found, name, None)
    return found if inspect.isclass(found) and found is not NotImplementedError else None


def faults(value, owner=None, module=None):
    """Yields what a docstring lacks."""
    first = (inspect.getdoc(value) or "").partition("\n")[0]
    if not _SENTENCE.fullmatch(first):
        yield f"the first line is no sentence: {first!r}"
    if getattr(value, "__name__", "").startswith("test_"):  # A check of a conformance suite.
        return
    found = sections(value)
    args = found.get("Args", {})
    existing = arguments(value)
    yield from (f"no argument: {name}" for name in args if name not in existing)
    described = {*args, *_of_class(value, found)} if inspect.isclass(value) else {*args}
    missing = [name for name in existing if name not in described]
    if len(existing) > 1 or not all(word in first.lower() for word in "_".join(missing).split("_")):
        yield from (f"argument without an entry: {name}" for name in missing)
    for name, text in args.items():
        if match := _ELSEWHERE.match(text):
            other = getattr(owner, match[1], None) or getattr(module, match[1], None)
            if name not in sections(other).get("Args", {}):
                yield f"argument without an entry in {match[1]}: {name}"
    listed = {*found.get("Raises", {}), *sections(owner).get("Raises", {})}
    listed = {name.rpartition(".")[2] for name in listed}
    for error in raised(value):
        if not listed.intersection(
            base.__name__ for base in error.__mro__[: -len(Exception.__mro__)]
        ):
            yield f"error without an entry: {error.__name__}"


def _of_class(cls, found):
    """Returns the names that attributes and properties of a class describe."""
    descriptors = [name for name in dir(cls) if inspect.isdatadescriptor(getattr(cls, name, None))]
    return [*found.get("Attributes", {}), *(n for n in descriptors if getattr(cls, n).__doc__)]


@pytest.mark.parametrize("name", api.public_modules())
def test_docstrings_describe_arguments_and_errors(name):
    found = [
        f"{module.__name__}.{member}: {fault}"
        for module in map(importlib.import_module, api.with_submodules(name))
        for member, value, owner in public_names(module)
        for fault in faults(value, owner, module)
    ]
    assert not found, "\n".join(found)


def test_the_names_are_those_of_the_site_and_their_methods():
    modules = map(importlib.import_module, api.public_modules())
    assert sum(len(list(public_names(module))) for module in modules) > 500


class Bad:
    """Does it."""

    def method(self, first, second, **more):
        """Does it with the first

        Args:
          first: one.
          third: no such argument.
          more: see `close`.

        Raises:
          OSError: it fails.
        """
        if first:
            raise FileNotFoundError(second)
        raise KeyError(first)

    def close(self, second):
        """Closes."""

    def read(self, path_name):
        """Reads the name of a path."""


def test_faults_are_found():
    assert list(faults(Bad.method, Bad)) == [
        "the first line is no sentence: 'Does it with the first'",
        "no argument: third",
        "argument without an entry: second",
        "argument without an entry in close: more",
        "error without an entry: KeyError",
    ]
    assert list(faults(Bad.close, Bad)) == ["argument without an entry: second"]
    assert not list(faults(Bad.read, Bad))
