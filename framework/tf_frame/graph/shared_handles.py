"""One operation for the handles of all variables of a step.

A resource variable has an operation that only returns its handle. With slots and moving statistics
these were a quarter of the operations of a step of deeplab. TensorFlow's `_VarHandlesOp` returns
many handles: the same variables, and a quicker first step. Variables keep their own operations,
which savers, hooks and programs use, and which a session does not run where a step does not need
them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.graph_edits import ancestors, redirect

_LIST = tf.AttrValue.ListValue


def share_handles(train_op: Any) -> None:
    """Lets the operations of a step take their handles from one operation for each device.

    Call it when the graph of the step is complete, before a session runs it. Where the placer would
    choose devices, all variables without one get the same: use it where there is one device only.
    Reference variables, which have no handles, stay as they are.

    Args:
      train_op: the operation, or a tensor of it, that runs a step.
    """
    needed = {op.name: op for op in ancestors([train_op])}
    by_device: dict[str, list[Any]] = defaultdict(list)
    for op in needed.values():
        if op.type == "VarHandleOp":
            by_device[op.device].append(op)
    for device, ops in by_device.items():
        with tf.control_dependencies(None), tf.device(device or None):
            shared = _handles(ops)
        for op, handle in zip(ops, shared, strict=True):
            users = [user for user in op.outputs[0].consumers() if user.name in needed]
            redirect(users, op.outputs[0], handle)


def _handles(ops: Sequence[Any]) -> Sequence[Any]:
    """Returns the outputs of a new operation, in the order of the operations of single handles."""
    lists = {
        "containers": _LIST(s=[op.get_attr("container") for op in ops]),
        "shared_names": _LIST(s=[op.get_attr("shared_name") for op in ops]),
        "dtypes": _LIST(type=[op.get_attr("dtype").as_datatype_enum for op in ops]),
        "shapes": _LIST(shape=[op.get_attr("shape") for op in ops]),
    }
    attributes = {name: tf.AttrValue(list=values) for name, values in lists.items()}
    graph = ops[0].graph
    # It has no Python function, because its name begins with an underscore.
    shared = graph.create_op(
        "_VarHandlesOp",
        [],
        [tf.resource] * len(ops),
        name="shared_handles",
        attrs={**attributes, "N": tf.AttrValue(i=len(ops))},
    )
    return list(shared.outputs)
