"""What becomes of a name of TensorFlow 1: TensorFlow has it, tf-frame offers it, or nobody."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Set

from tf_frame_legacy.names import ANY, NOT_OFFERED, Row, canonical, table
from tf_frame_legacy.names.families.old_packages import OLD_MODULES, OLD_PACKAGES
from tf_frame_legacy.names.keras_part import COMPLETED, KERAS, KERAS_PART
from tf_frame_legacy.source import installed

# TensorFlow 2 has the name.
KEPT = "kept"
OFFERED = "offered"
# TensorFlow 2 has the name, and TensorFlow 1.15 did not.
NEWER = "newer"
# Neither TensorFlow nor the table of names has the name.
UNKNOWN = "unknown"
NEWER_NOTE = (
    "a name of TensorFlow 2, which TensorFlow 1.15 does not have; a program for TensorFlow 2 runs "
    "by python itself"
)

_V1 = "tensorflow._api.v2.compat.v1"
_KERAS = "keras._tf_keras.keras"
# TensorFlow has the modules, whose names are errors with Keras 3.
_BROKEN = ("tf.layers", "tf.nn.rnn_cell")
# Folders of TensorFlow that are imported by path, and are no part of its public names.
_PRIVATE = ("python", "core", "compiler", "tools", "dtensor", "security")
# Modules of compat.v2 that load Keras when they are used.
_LAZY = tuple(
    f"tf.compat.v2.{name}" for name in ("initializers", "losses", "metrics", "optimizers")
)
# Packages whose names are old names, with a row or without.
_OLD = ("tf", "tf_slim", "tensorflow_estimator")


@dataclasses.dataclass(frozen=True)
class Answer:
    """What becomes of a name.

    Attributes:
      name: the name as the table spells it, without attributes of a class.
      state: KEPT, OFFERED, NOT_OFFERED, NEWER or UNKNOWN.
      row: the row of the table, if there is one.
    """

    name: str
    state: str
    row: Row | None = None


@functools.cache
def look_up(name: str) -> Answer | None:
    """Returns what becomes of a name; None for a name that neither TensorFlow nor the table had.

    Args:
      name: a full name, with attributes of classes or without; TensorFlow may be spelled `tf`,
        `tensorflow` or `tensorflow.compat.v1`.
    """
    name = canonical(name)
    row = _row(name)
    root = name.partition(".")[0]
    if row is None and root not in _OLD:
        is_old = name in OLD_MODULES if root in OLD_PACKAGES else name in _namespaces()
        is_old = is_old and not installed.has(name)
        return Answer(name, OFFERED) if is_old else None
    if row is not None and row.kind == NOT_OFFERED:
        return Answer(name if row.was.endswith(ANY) else row.was, NOT_OFFERED, row)
    if is_kept(name):
        return Answer(name, KEPT, row)
    if row is not None:
        rest = name[len(row.was) :]
        missing = rest and _is_module(row.target) and not _exists(row.target + rest)
        return Answer(name if missing else row.was, UNKNOWN if missing else OFFERED, row)
    if name in _namespaces():
        return Answer(name, OFFERED)
    return Answer(name, NEWER if is_newer(name) else UNKNOWN)


def is_tensorflow(name: str) -> bool:
    """Returns whether a name was TensorFlow's, or of a package for it: no name of NumPy."""
    return name.partition(".")[0] not in OLD_PACKAGES and look_up(name) is not None


def is_module(name: str) -> bool:
    """Returns whether a name of TensorFlow 1 is a module."""
    name = canonical(name)
    row = table().get(name)
    target = row.target if row else name
    return (
        name in _namespaces()
        or name.rpartition(".")[0] == "tf.contrib"
        or (bool(target) and _is_module(target))
    )


def is_newer(name: str) -> bool:
    """Returns whether TensorFlow 2 has a name, `tf` for TensorFlow, that TensorFlow 1 did not."""
    is_new = is_public(name) and not _below(name, ("tf.keras",)) and not _exists(name)
    return is_new and _exists(f"tf.compat.v2.{name.removeprefix('tf.')}")


def is_kept(name: str) -> bool:
    """Returns whether TensorFlow 2 has a name, with `tf` for TensorFlow."""
    return not _below(name, _BROKEN) and _exists(name)


def is_in_keras_2(name: str) -> bool:
    """Returns whether a name of `tf.keras` is in TensorFlow's part of Keras 2, which programs get.

    TensorFlow's own `tf.keras` is Keras 3 today.
    """
    module, _, last = name.rpartition(".")
    real = COMPLETED.get(module) or KERAS_PART + module.removeprefix(KERAS)
    return name in COMPLETED or (name.startswith(f"{KERAS}.") and installed.has(f"{real}.{last}"))


def name_today(name: str) -> str:
    """Returns the full name today of an old name or module; empty if there is none.

    Args:
      name: the old name, with attributes of classes or without.
    """
    name, answer = canonical(name), look_up(name)
    if answer is None or answer.state not in (KEPT, OFFERED):
        return name if answer is None else ""
    if answer.row is not None:
        return canonical(answer.row.target + name.removeprefix(answer.row.was))
    return name if answer.state == KEPT else canonical(_module_today(name))


@functools.cache
def _module_today(name: str) -> str:
    """Returns the module that has the most names of an old module today."""
    counts: dict[str, int] = {}
    for row in table().values():
        module, _, last = row.was.rpartition(".")
        target, _, new = row.target.rpartition(".")
        if module == name and new == last and target:
            counts[target] = counts.get(target, 0) + 1
    return max(counts, key=counts.__getitem__, default="")


def split_target(name: str) -> tuple[str, str]:
    """Returns the module and the rest of a name today; the module is `tf` for TensorFlow's own."""
    name = canonical(name)
    if is_public(name):
        return "tf", name.removeprefix("tf").removeprefix(".")
    module, rest = installed.split_module(_path(name))
    if not module:  # The package is not installed here.
        module, _, last = name.rpartition(".")
        return (module, last) if module else (last, "")
    package = module.rpartition(".")[0]
    # A package may hide a module by a function of this name, and have the names of the module.
    is_hidden = installed.origin(module).startswith(f"{module}.")
    if rest and is_hidden and installed.has(f"{package}.{rest[0]}"):
        module = package
    return module, ".".join(rest)


def is_public(name: str) -> bool:
    """Returns whether a name begins with `tf` and is no file of TensorFlow."""
    root, *rest = name.split(".")
    return root == "tf" and (not rest or rest[0] not in _PRIVATE)


def _row(name: str) -> Row | None:
    """Returns the row of a name, or of the class or module that has it."""
    if name in _offering():  # Whatever is said of all other names of the modules around it.
        return table().get(name)
    for beginning in _beginnings(name):
        any_name = None if beginning == name else table().get(f"{beginning}.{ANY}")
        row = any_name or table().get(beginning)
        if row is not None:
            return row
    return None


def _beginnings(name: str) -> Iterator[str]:
    while name:
        yield name
        name = name.rpartition(".")[0]


def _path(name: str) -> str:
    """Returns the name in the files of the installed packages."""
    root, _, rest = name.partition(".")
    first = rest.partition(".")[0]
    if root != "tf":
        return name
    if first in _PRIVATE:
        return f"tensorflow.{rest}"
    if first == "keras":
        return _KERAS + rest.removeprefix("keras")
    if _below(name, _LAZY):
        return f"{_KERAS}.{rest.removeprefix('compat.v2.')}"
    if _below(name, ("tf.lite.python", "tf.lite.toco")):
        return f"tensorflow.{rest}"
    if _below(name, ("tf.app.flags",)):
        rest = rest.removeprefix("app.")
    return f"{_V1}.{rest}".rstrip(".")


def _below(name: str, modules: tuple[str, ...]) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def _is_module(name: str) -> bool:
    return not installed.split_module(_path(canonical(name)))[1]


def _exists(name: str) -> bool:
    return installed.has(_path(canonical(name)))


@functools.cache
def _offering() -> Set[str]:
    """Returns the old modules with names that are offered."""
    return _enclosing_modules(row.was for row in table().values() if row.kind != NOT_OFFERED)


@functools.cache
def _namespaces() -> Set[str]:
    """Returns the old modules that the table has names of."""
    return _enclosing_modules(table())


def _enclosing_modules(names: Iterable[str]) -> Set[str]:
    """Returns the modules with some names, and the modules around them."""
    modules = {name.rpartition(".")[0] for name in names}
    return {beginning for module in modules for beginning in _beginnings(module)}
