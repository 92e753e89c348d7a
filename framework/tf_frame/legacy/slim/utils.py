"""What layers are made with, under the names of `slim.utils`.

Networks make their end points with it: `slim.utils.convert_collection_to_dict`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tf_frame.layers.conditions import constant_value, smart_cond
from tf_frame.layers.outputs import (
    append_tensor_alias,
    append_tensor_aliases,
    collect_named_outputs,
    convert_collection_to_dict,
    gather_tensors_aliases,
    get_tensor_aliases,
    get_variable_collections,
)
from tf_frame.layers.sizes import (
    channel_dimension,
    last_dimension,
    n_positive_integers,
    two_element_tuple,
)

__all__ = [
    "append_tensor_alias",
    "append_tensor_aliases",
    "channel_dimension",
    "collect_named_outputs",
    "constant_value",
    "convert_collection_to_dict",
    "gather_tensors_aliases",
    "get_tensor_aliases",
    "get_variable_collections",
    "last_dimension",
    "n_positive_integers",
    "smart_cond",
    "static_cond",
    "two_element_tuple",
]


def static_cond(pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any]) -> Any:
    """Calls one of two functions.

    Args:
      pred: whether it is `fn1`; no tensor.
      fn1: called without arguments if `pred` holds.
      fn2: called if not.

    Raises:
      TypeError: `fn1` or `fn2` cannot be called, or `pred` is a tensor.
    """
    for argument, function in (("fn1", fn1), ("fn2", fn2)):
        if not callable(function):
            raise TypeError(f"{argument} must be callable.")
    return fn1() if pred else fn2()
