"""Settings of easydict, whose tuples were lists until version 1.11."""

from __future__ import annotations

from typing import Any

from easydict import EasyDict


def restore_methods() -> None:
    """Makes tuples in an `EasyDict` lists, so that they compare with the lists of YAML files."""
    set_value = EasyDict.__setattr__

    def set_list(settings: Any, name: Any, value: Any) -> None:
        set_value(settings, name, list(value) if isinstance(value, tuple) else value)

    EasyDict.__setattr__ = EasyDict.__setitem__ = set_list
