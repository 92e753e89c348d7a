"""Files of h5py, as its version 2 opened and read them."""

from __future__ import annotations

import functools
import os
from typing import Any

import h5py


def restore_methods() -> None:
    """Gives datasets their `value`; a file without a mode is for reading and writing again."""
    if not hasattr(h5py.Dataset, "value"):
        h5py.Dataset.value = property(lambda dataset: dataset[()])
    if h5py.version.version_tuple.major > 2:
        h5py.File.__init__ = _without_mode(h5py.File.__init__)


def _without_mode(make: Any) -> Any:
    """Returns the constructor, with the mode of then: read what can be read only, or write, too."""

    @functools.wraps(make)
    def init(file: Any, name: Any, mode: str | None = None, *rest: Any, **options: Any) -> None:
        if mode is not None or not isinstance(name, (str, bytes, os.PathLike)):
            make(file, name, mode or "r", *rest, **options)
            return
        try:
            make(file, name, "a", *rest, **options)
        except OSError:
            make(file, name, "r", *rest, **options)

    return init
