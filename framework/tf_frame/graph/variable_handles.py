"""Gives the operations of a step the handles of all variables from one operation.

A resource variable has an operation that returns its handle, and TensorFlow runs it in every step:
a step of deeplab has 525 of them. `_VarHandlesOp`, which TensorFlow itself puts into graphs for
TPUs, returns many handles. It is private, so a TensorFlow without it keeps the single operations.

Operations that share an input of a variable also share a device. Therefore this is only for steps
whose variables are in one process and on CPUs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.framework import op_def_registry

from tf_frame.graph.graph_edits import ancestors, redirect

_MERGED = "_VarHandlesOp"


def merge_variable_handles(ends: Iterable[Any]) -> int:
    """Changes the graph of some tensors and operations; all others keep the single handles.

    Call it when nothing more is added to the graph, and before a session runs: gradients by a
    variable whose handle was merged are unknown to TensorFlow.

    Returns:
      The number of merged handles.
    """
    if op_def_registry.get(_MERGED) is None:
        return 0
    needed = ancestors(ends)
    of_device: dict[str, list[Any]] = defaultdict(list)
    for op in needed:
        if op.type == "VarHandleOp" and not op.control_inputs:
            of_device[op.device].append(op)
    names = {op.name for op in needed}
    for device, handles in of_device.items():
        for handle, merged in zip(handles, _merged(handles, device), strict=True):
            old = handle.outputs[0]
            redirect([op for op in old.consumers() if op.name in names], old, merged)
    return sum(map(len, of_device.values()))


def _merged(handles: Sequence[Any], device: str) -> Sequence[Any]:
    """Returns the handles of the same variables from one new operation on their device."""
    with tf.control_dependencies(None), tf.name_scope(""), tf.device(device):
        merged = tf.get_default_graph().create_op(
            _MERGED,
            [],
            [tf.resource] * len(handles),
            attrs={
                "containers": _list(s=[op.get_attr("container") for op in handles]),
                "shared_names": _list(s=[op.get_attr("shared_name") for op in handles]),
                "dtypes": _list(type=[op.get_attr("dtype").as_datatype_enum for op in handles]),
                "shapes": _list(shape=[op.get_attr("shape") for op in handles]),
                "N": tf.AttrValue(i=len(handles)),
            },
            name="variable_handles",
        )
    outputs: Sequence[Any] = merged.outputs
    return outputs


def _list(**values: Any) -> Any:
    return tf.AttrValue(list=tf.AttrValue.ListValue(**values))
