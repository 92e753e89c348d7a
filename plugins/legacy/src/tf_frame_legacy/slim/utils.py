"""Functions that layers and networks use, under the names of `slim.utils`.

Networks written for slim collect their end points by `slim.utils.convert_collection_to_dict`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tf_frame.layers.conditions import constant_value as constant_value, smart_cond as smart_cond
from tf_frame.layers.outputs import (
    append_tensor_alias as append_tensor_alias,
    append_tensor_aliases as append_tensor_aliases,
    collect_named_outputs as collect_named_outputs,
    convert_collection_to_dict as convert_collection_to_dict,
    gather_tensors_aliases as gather_tensors_aliases,
    get_tensor_aliases as get_tensor_aliases,
    get_variable_collections as get_variable_collections,
)
from tf_frame.layers.sizes import (
    channel_dimension as channel_dimension,
    last_dimension as last_dimension,
    n_positive_integers as n_positive_integers,
    two_element_tuple as two_element_tuple,
)


def static_cond(pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any]) -> Any:
    """Calls `fn1` if `pred` is true, otherwise `fn2`.

    Args:
      pred: a Python value, not a tensor.
      fn1, fn2: functions without arguments.

    Raises:
      TypeError: `fn1` or `fn2` is not callable, or `pred` is a tensor.
    """
    return smart_cond(bool(pred), fn1, fn2)
