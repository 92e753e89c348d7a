"""Gives Keras layers without names the same names in every graph that a model is built in.

Keras numbers layers per process: the second graph of a process would have `dense_1/kernel` in
place of `dense/kernel`, and would not fit the checkpoint of the first. Keras 2 (tf-keras) numbers
them per graph, as is done here for Keras 3.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import tensorflow.compat.v1 as tf

# There is no public function that reads or sets the numbers: `keras.utils.clear_session` also
# drops whatever else the process has made with Keras.
_STATE, _NUMBERS = "keras.src.backend.common.global_state", "object_name_uids"
_OF_GRAPH: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


@contextlib.contextmanager
def keras_names_of_graph() -> Iterator[None]:
    """Inside the block, Keras 3 numbers its objects as those of the default graph.

    A further block for the same graph goes on with the next number, outside of the blocks
    Keras goes on as if there had been none. Keras is not imported.
    """
    graph, outside = tf.get_default_graph(), _numbers()
    _set_numbers(_OF_GRAPH.get(graph))
    try:
        yield
    finally:
        _OF_GRAPH[graph] = _numbers()
        _set_numbers(outside)


def _numbers() -> Any:
    state = sys.modules.get(_STATE)
    return state.get_global_attribute(_NUMBERS) if state else None


def _set_numbers(numbers: Any) -> None:
    state = sys.modules.get(_STATE)
    if state:
        state.set_global_attribute(_NUMBERS, numbers)  # None: Keras begins to count.
