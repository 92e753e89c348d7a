"""`PreparedCalls`: session calls with fetches that are resolved once and reused in every step.

    prepared = PreparedCalls(session)
    call = prepared.call([train_op, global_step])   # the same tensors in every step
    loss, step = call()                             # the value of tf-frame's train_op is the loss
    prepared.run({"rate": learning_rate})           # any nested fetches, now and then

A prepared call avoids the Python work of `Session.run` in each step. TensorFlow optimises the whole
graph for every new call, which takes seconds for a large graph; so the same fetches, in any order,
share one call.
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
    """Runs fetches of a session with calls that are prepared once.

    The same set of fetches in another order or form, or with repetitions, is the same call.

    Args:
      session: the `tf.Session`.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        # Names of all fetches -> names of the tensors in the order of the call, and the call.
        self._calls: dict[frozenset[str], tuple[list[str], Callable[[], list[Any]]]] = {}

    def call(self, fetches: Sequence[Any]) -> Callable[[], list[Any]]:
        """Prepares a call.

        Args:
          fetches: tensors and operations, each once.

        Returns:
          A function that runs them once and returns the values of the tensors, in
          their order.
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
        """Runs fetches once.

        Args:
          fetches: as for `tf.Session.run`: tensors, operations, variables, names, nested in
            dicts, lists and tuples.
        """
        elements: dict[str, Any] = {}
        try:
            names = self._names(fetches, elements)
        except TypeError:  # A fetch of several tensors, such as a sparse tensor.
            return self.session.run(fetches)
        key = frozenset(elements)
        if key not in self._calls:
            if not all(map(self.session.graph.is_fetchable, elements.values())):
                return self.session.run(fetches)  # Raises an error with the reason.
            self.call(list(elements.values()))
        order, call = self._calls[key]
        return _filled(names, dict(zip(order, call(), strict=True)))

    def _names(self, fetches: Any, elements: dict[str, Any]) -> Any:
        """Replaces fetches by the names of tensors and operations, and collects these."""
        kind = type(fetches)
        if kind in (dict, collections.OrderedDict):
            return kind((key, self._names(fetch, elements)) for key, fetch in fetches.items())
        if isinstance(fetches, (list, tuple)):
            return _like(fetches, [self._names(fetch, elements) for fetch in fetches])
        if not isinstance(fetches, (tf.Tensor, tf.Operation)):
            fetches = self.session.graph.as_graph_element(fetches)
        name = fetches.name
        elements[name] = fetches
        return name


def _filled(names: Any, values: dict[str, Any]) -> Any:
    """Replaces names by values; the value of an operation is None."""
    if isinstance(names, str):
        return values.get(names)
    if isinstance(names, dict):
        return type(names)((key, _filled(name, values)) for key, name in names.items())
    return _like(names, [_filled(name, values) for name in names])


def _like(sequence: Any, parts: list[Any]) -> Any:
    """Returns the parts in a list, tuple or named tuple, like the sequence."""
    if isinstance(sequence, list):
        return parts
    return type(sequence)(*parts) if hasattr(sequence, "_fields") else tuple(parts)
