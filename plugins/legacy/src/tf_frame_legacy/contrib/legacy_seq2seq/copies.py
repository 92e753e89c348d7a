"""Copies of the cell of a decoder, for the encoder."""

from __future__ import annotations

import copy
import weakref
from typing import Any

# The cells as they were before they had variables, which cannot be copied.
_without_variables: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def own_copy(cell: Any) -> Any:
    """Returns a copy of a cell that makes or reuses the variables of the scope where it is called.

    A model for several buckets copies the same cell for each. Cells of TensorFlow 0.x kept no
    variables and could be copied at any time; for later ones the first copy is kept.

    Raises:
      TypeError: the cell had variables before its first copy.
    """
    if cell not in _without_variables:
        _without_variables[cell] = copy.deepcopy(cell)
    return copy.deepcopy(_without_variables[cell])
