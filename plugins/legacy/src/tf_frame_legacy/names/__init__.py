"""The table of names: what TensorFlow 1 called a function, and what stands for it today.

    find("tensorflow.contrib.rnn.LSTMCell")  # Row(was="tf.contrib.rnn.LSTMCell", target=...)

The rows are in `families`, a module for each family of names. The table imports no TensorFlow.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping

from tf_frame_legacy.names import families
from tf_frame_legacy.names.row import (
    ALIAS as ALIAS,
    ANY as ANY,
    NOT_OFFERED as NOT_OFFERED,
    OURS as OURS,
    REIMPLEMENTED as REIMPLEMENTED,
    Row as Row,
)

_ROOTS = {
    **dict.fromkeys(("tensorflow.compat.v1", "tf.compat.v1"), "tf"),
    **dict.fromkeys(("tensorflow.compat.v2.keras", "tf.compat.v2.keras"), "tf.keras"),
    **dict.fromkeys(("tensorflow.compat.v2.compat.v1", "tf.compat.v2.compat.v1"), "tf"),
    "tensorflow": "tf",
}


@functools.cache
def table() -> Mapping[str, Row]:
    """Returns the rows by old name."""
    return {row.was: row for row in all_rows()}


def all_rows() -> list[Row]:
    """Returns the rows of all families, in the order of their modules."""
    names = [
        f"{families.__name__}.{module.name}" for module in pkgutil.iter_modules(families.__path__)
    ]
    return [row for name in names for row in importlib.import_module(name).ROWS]


def find(name: str) -> Row | None:
    """Returns the row of an old name, or of the class that it is a part of; None if there is none.

    Args:
      name: a full name; TensorFlow may be spelled `tf`, `tensorflow` or `tensorflow.compat.v1`.
    """
    name = canonical(name)
    row = table().get(name)
    while row is None and "." in name:
        name = name.rpartition(".")[0]
        row = table().get(name) or table().get(f"{name}.{ANY}")
    return row


def canonical(name: str) -> str:
    """Returns the name as the table spells it, with `tf` for TensorFlow."""
    for root, spelled in _ROOTS.items():
        if name == root or name.startswith(f"{root}."):
            return spelled + name.removeprefix(root)
    return name


@functools.cache
def children() -> Mapping[str, set[str]]:
    """Returns the names in each module: those of the table, and the modules on the way there."""
    names: dict[str, set[str]] = {"tf": {"keras"}, "tf.keras": set()}
    names |= {"tf.compat": {"v1"}, "tf.compat.v2": {"compat"}, "tf.compat.v2.compat": {"v1"}}
    for path in table():
        while "." in path:
            path, _, child = path.rpartition(".")
            names.setdefault(path, set()).add(child)
    return names
