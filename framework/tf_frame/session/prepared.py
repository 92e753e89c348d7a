"""`PreparedCalls`: session calls with fetches that are resolved once and reused in every step.

    prepared = PreparedCalls(session)
    call = prepared.call([train_op, global_step])   # the same tensors in every step
    loss, step = call()                             # the value of tf-frame's train_op is the loss
    prepared.run({"rate": learning_rate})           # any nested fetches, now and then

A prepared call avoids the Python work of `Session.run` in each step. TensorFlow optimises the whole
graph for every new call, which takes seconds for a large graph; so the same set of fetches, in any
order or form, shares one call.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.prepared_call import prepared_call
from tf_frame.types import Session

# Hooks use few different sets of fetches; a hook that makes new fetches must not fill the memory.
_MOST_CALLS = 64


class PreparedCalls:
    """Runs fetches of a session with calls that are prepared once."""

    def __init__(self, session: Session) -> None:
        self.session = session
        # Names of all fetches -> names of the tensors in the order of the call, and the call.
        self._calls: dict[frozenset[str], tuple[list[str], Callable[[], list[Any]]]] = {}

    def call(self, fetches: Sequence[Any]) -> Callable[[], list[Any]]:
        """Returns a function that runs different tensors and operations once.

        The function returns the values of the tensors, in their order.
        """
        names = [fetch.name for fetch in fetches if isinstance(fetch, tf.Tensor)]
        targets = [fetch.name for fetch in fetches if not isinstance(fetch, tf.Tensor)]
        key = frozenset([*names, *targets])
        order, call = self._calls.get(key, (None, None))
        if call is None or order != names:
            if len(self._calls) >= _MOST_CALLS:
                self._calls.clear()
            call = prepared_call(self.session, names, targets=targets)
            self._calls[key] = names, call
        return call

    def run(self, fetches: Any) -> Any:
        """Runs fetches as `tf.Session.run`, nested in dicts, lists and tuples, once."""
        elements: dict[str, Any] = {}

        def add(fetch: Any) -> str:
            if not isinstance(fetch, (tf.Tensor, tf.Operation)):
                fetch = self.session.graph.as_graph_element(fetch)
            elements[fetch.name] = fetch
            return str(fetch.name)

        try:
            names = _map_structure(add, fetches)
        except TypeError:  # A fetch of several tensors, such as a sparse tensor.
            return self.session.run(fetches)
        key = frozenset(elements)
        if key not in self._calls:
            if not all(map(self.session.graph.is_fetchable, elements.values())):
                return self.session.run(fetches)  # Raises an error with the reason.
            self.call(list(elements.values()))
        order, call = self._calls[key]
        values = dict(zip(order, call(), strict=True))
        return _map_structure(values.get, names)  # The value of an operation is None.


def _map_structure(function: Callable[[Any], Any], nested: Any) -> Any:
    """Replaces the leaves of nested dicts, lists and tuples.

    `tf.nest.map_structure` sorts the keys of a dict, and so fails for hooks as keys.
    """
    kind = type(nested)
    if kind in (dict, collections.OrderedDict):
        return kind((key, _map_structure(function, part)) for key, part in nested.items())
    if not isinstance(nested, (list, tuple)):
        return function(nested)
    parts = [_map_structure(function, part) for part in nested]
    if isinstance(nested, list):
        return parts
    return kind(*parts) if hasattr(nested, "_fields") else tuple(parts)
