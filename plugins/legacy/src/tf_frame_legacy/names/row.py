"""A row of the table of names, and the functions that the families write rows with.

Modules of TensorFlow 1 begin with `tf.`, whether programs spelled them `tensorflow.` or
`tensorflow.compat.v1.`:

    *reimplemented(
        ("tf.contrib.rnn", "tf.nn.rnn_cell"),
        "tf_frame_legacy.contrib.rnn",
        "BasicLSTMCell LSTMCell _private_name old_name=new_name",
        note="...",
    )
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

OURS = "ours"
ALIAS = "alias"
REIMPLEMENTED = "reimplemented"
NOT_OFFERED = "not offered"
# The name in a row of a module without any name that is offered.
ANY = "*"


class Row(NamedTuple):
    """An old name, and what stands for it.

    Attributes:
      was: the full old name: `tf.contrib.rnn.LSTMCell`, `tf_slim.conv2d`; the last part is `*` for
        all names of a module that is not offered.
      target: the full name today; empty if not offered.
      kind: OURS: a function or class of tf-frame, whose differences the documentation lists; ALIAS:
        TensorFlow 2 has it elsewhere; REIMPLEMENTED: written anew, with the behaviour of then;
        NOT_OFFERED.
      note: what differs; for a name that is not offered why, and what to use instead.
    """

    was: str
    target: str
    kind: str
    note: str = ""


def ours(was: str | tuple[str, ...], target: str, names: str, note: str = "") -> Iterator[Row]:
    """Yields rows of names that are tf-frame's; see `alias` for the arguments."""
    return _rows(was, target, names, OURS, note)


def alias(was: str | tuple[str, ...], target: str, names: str, note: str = "") -> Iterator[Row]:
    """Yields rows of names that TensorFlow 2 has elsewhere.

    Args:
      was: the old module, or several that had the names.
      target: the module today.
      names: the names, separated by blanks; `old=new` for a name that changed.
      note: the note of each row.
    """
    return _rows(was, target, names, ALIAS, note)


def reimplemented(
    was: str | tuple[str, ...], target: str, names: str, note: str = ""
) -> Iterator[Row]:
    """Yields rows of names that are written anew; see `alias` for the arguments."""
    return _rows(was, target, names, REIMPLEMENTED, note)


def not_offered(was: str | tuple[str, ...], names: str, note: str) -> Iterator[Row]:
    """Yields rows of names that are not offered; `*` stands for all other names of the module."""
    return _rows(was, "", names, NOT_OFFERED, note)


def _rows(
    was: str | tuple[str, ...], target: str, names: str, kind: str, note: str
) -> Iterator[Row]:
    for module in (was,) if isinstance(was, str) else was:
        for name in names.split():
            old, _, new = name.partition("=")
            new_name = f"{target}.{new or old}" if target else ""
            yield Row(f"{module}.{old}", new_name, kind, note)
