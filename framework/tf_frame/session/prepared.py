"""A session and its prepared calls, made once and used for every step that fetches the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

# What hooks ask for comes in few combinations; one that makes up new ones must not fill memory.
_MOST = 64


class Prepared:
    """The prepared calls (`tf.Session.make_callable`) of one session.

    A new set of fetches costs TensorFlow a preparation of the whole graph, seconds
    with a large one. So what counts is the set: the same tensors asked for by
    other hooks, in another order or several times are the same call.

    Args:
      session: the `tf.Session`.
    """

    def __init__(self, session: Any) -> None:
        self.session = session
        self._calls: dict[Any, tuple[Any, Callable[[], Any]]] = {}

    def call(self, fetches: Any) -> Callable[[], Any]:
        """The prepared call of a tensor or an operation."""
        return self._prepared((_key(fetches),), fetches)

    def run(self, fetches: Any) -> Any:
        """Runs fetches once, nested in dicts, lists and tuples as for `tf.Session.run`."""
        leaves: dict[Any, Any] = {}
        _collect(fetches, leaves)
        keys = sorted(leaves, key=str)
        values = self._prepared(tuple(keys), [leaves[key] for key in keys])()
        return _filled(fetches, dict(zip(keys, values, strict=True)))

    def _prepared(self, key: Any, fetches: Any) -> Callable[[], Any]:
        if key not in self._calls:
            if len(self._calls) >= _MOST:
                self._calls.clear()
            # The fetches are kept with it, for a key may have been made of their ids.
            self._calls[key] = (fetches, self.session.make_callable(fetches))
        return self._calls[key][1]


def _key(leaf: Any) -> Any:
    if isinstance(leaf, str):
        return leaf
    return leaf.name if isinstance(leaf, (tf.Tensor, tf.Operation)) else id(leaf)


def _collect(fetches: Any, leaves: dict[Any, Any]) -> None:
    if isinstance(fetches, dict):
        fetches = fetches.values()
    elif not isinstance(fetches, (list, tuple)):
        leaves[_key(fetches)] = fetches
        return
    for part in fetches:
        _collect(part, leaves)


def _filled(fetches: Any, values: dict[Any, Any]) -> Any:
    """The values in the form of the fetches."""
    if isinstance(fetches, dict):
        return type(fetches)((key, _filled(part, values)) for key, part in fetches.items())
    if isinstance(fetches, (list, tuple)):
        parts = [_filled(part, values) for part in fetches]
        return type(fetches)(*parts) if hasattr(fetches, "_fields") else type(fetches)(parts)
    return values[_key(fetches)]
