"""Errors for names of TensorFlow 1 that nothing stands for."""

from __future__ import annotations

import re

from tf_frame.errors import ConfigError
from tf_frame_legacy.names import Row
from tf_frame_legacy.names.keras_part import KERAS
from tf_frame_legacy.source.lookup import NEWER_NOTE, is_newer

# Other modules of the table are those that programs usually bring along, such as `deployment`.
_OLD = ("tf", "tf_slim", "tensorflow_estimator")
# The names of `tf` in messages of TensorFlow.
_V1 = re.compile(r"tensorflow\.(_api\.v2\.)?compat\.v1\b")


class NotOfferedError(ConfigError, AttributeError):
    """An attribute of TensorFlow 1 that tf-frame does not offer, or that nobody knows."""


class NotOfferedImportError(ConfigError, ImportError):
    """A module or name of TensorFlow 1 that cannot be imported."""


def explain(full_name: str, row: Row | None) -> str:
    """Returns the reason for a name that is not offered."""
    if row is not None:
        return f"{full_name} is not offered: {row.note}"
    if full_name.startswith(f"{KERAS}."):
        return f"{full_name} is not in TensorFlow's part of Keras 2; pip install tf_keras"
    root = full_name.partition(".")[0]
    if root not in _OLD:
        return f"the program has no module {root!r}, and tf-frame's own has no {full_name}"
    if is_newer(full_name):
        return f"{full_name} is {NEWER_NOTE}"
    return (
        f"{full_name} is unknown: TensorFlow 2 has no such name, and neither has tf-frame's table "
        "of old names"
    )


def explain_missing(module: str, name: str) -> str | None:
    """Returns the reason for a name that a public module of TensorFlow lacks; None: another module.

    Args:
      module: the full name of the module today.
      name: the name in it.
    """
    if not _V1.match(module):
        return None
    return explain(f"{_V1.sub('tf', module)}.{name}", None)
