"""A clock that a test sets, instead of `time.monotonic` and other functions."""

from __future__ import annotations

import contextlib
import time
from unittest import mock


class FakeClock(contextlib.ExitStack):
    """Sets the time within a `with` block; sleeping takes no time.

        with FakeClock() as clock:
            hook.after_run(context, values)
            clock.now += 60

    Args:
      *functions: the functions of the module `time` that it replaces, of `monotonic`, `time`,
        `perf_counter` and `sleep`. A module that has imported one by name keeps the real one.
      now: the first time, in seconds.

    Attributes:
      now: the time, in seconds; `sleep` adds to it.
    """

    def __init__(self, *functions: str, now: float = 1000.0) -> None:
        super().__init__()
        self._functions = functions or ("monotonic", "sleep")
        self.now = now

    def __enter__(self) -> FakeClock:
        for name in self._functions:
            replacement = self.sleep if name == "sleep" else self.read
            self.enter_context(mock.patch.object(time, name, replacement))
        return self

    def read(self) -> float:
        """Returns the time."""
        return self.now

    def sleep(self, secs: float) -> None:
        """Adds to the time at once.

        Args:
          secs: seconds to add to `now`.
        """
        self.now += secs
