"""A session and its prepared calls, made once and used for every step that fetches the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# What hooks ask for comes in few combinations; one that makes up new ones must not fill memory.
_MOST = 64


class Prepared:
    """The prepared calls (`tf.Session.make_callable`) of one session.

    Args:
      session: the `tf.Session`.
    """

    def __init__(self, session: Any) -> None:
        self.session = session
        self._calls: dict[Any, tuple[Any, Callable[[], Any]]] = {}

    def call(self, fetches: Any) -> Callable[[], Any]:
        """The prepared call for these fetches, nested as for `tf.Session.run`."""
        key = _key(fetches)
        if key not in self._calls:
            if len(self._calls) >= _MOST:
                self._calls.clear()
            # The fetches are kept with it, for the key is made of their ids.
            self._calls[key] = (fetches, self.session.make_callable(fetches))
        return self._calls[key][1]

    def run(self, fetches: Any) -> Any:
        """Runs them once."""
        return self.call(fetches)()


def _key(fetches: Any) -> Any:
    if isinstance(fetches, dict):
        return (dict, *((key, _key(value)) for key, value in fetches.items()))
    if isinstance(fetches, (list, tuple)):
        return (type(fetches), *map(_key, fetches))
    return fetches if isinstance(fetches, str) else id(fetches)
