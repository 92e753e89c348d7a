"""`NumpyDraws`: whether code uses NumPy's global random numbers, which differ by process."""

from __future__ import annotations

from typing import Any

import numpy as np


class NumpyDraws:
    """A context that notes whether the state of the global generator changes inside it.

    Attributes:
      used: whether it did, in any of its blocks.
    """

    def __init__(self) -> None:
        self.used = False
        self._before = b""

    def __enter__(self) -> NumpyDraws:
        self._before = _state()
        return self

    def __exit__(self, *error: Any) -> None:
        self.used |= _state() != self._before

    def check(self, method: str) -> None:
        """Raises AssertionError if they were used.

        Args:
          method: the method that was called in the blocks.
        """
        assert not self.used, (
            f"{method} uses the global random numbers of NumPy, which are others in the process "
            "that resumes a run; draw by operations of TensorFlow, or np.random.RandomState(seed)"
        )


def _state() -> bytes:
    state: Any = np.random.get_state()
    return bytes(state[1].tobytes()) + bytes(str(state[2:]), "ascii")
