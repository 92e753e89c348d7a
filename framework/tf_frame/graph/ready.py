"""Operations that name uninitialized variables, and whether an initializer needs others.

`tf.train.Scaffold` makes such operations by `report_uninitialized_variables`, which looks at each
variable several times, and adds three times as many operations; they took a fifth of the time
that a small model needs before its first step.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.graph_edits import ancestors

_KEYS = tf.GraphKeys
_HAS_VALUE = "VarIsInitializedOp"
# Collections of these operations, and of resources that only the operations of a scaffold check.
_OTHERS = (_KEYS.READY_OP, _KEYS.READY_FOR_LOCAL_INIT_OP, _KEYS.RESOURCES, _KEYS.LOCAL_RESOURCES)


def uninitialized_names(variables: Iterable[Any]) -> Any:
    """Returns a tensor of the names of uninitialized variables, `[count]` string."""
    variables = list(variables)
    with tf.device("/cpu:0"):
        if not variables:
            return tf.constant([], tf.string)
        has_value = tf.stack([_has_value(variable) for variable in variables])
        places = tf.reshape(tf.where(tf.logical_not(has_value)), [-1])
        return tf.gather(tf.constant([variable.op.name for variable in variables]), places)


def _has_value(variable: Any) -> Any:
    """Returns whether a variable has a value; a resource variable has such an operation already."""
    handle, scope = getattr(variable, "handle", None), f"{variable.op.name}/"
    readers = [] if handle is None else handle.consumers()
    # Others, which a program made, may depend on further operations.
    made = [op for op in readers if op.type == _HAS_VALUE and op.name.startswith(scope)]
    return made[0].outputs[0] if made else tf.is_variable_initialized(variable)


def add_ready_operations() -> None:
    """Adds the operations that a scaffold of the default graph takes when it is finalised.

    They are as TensorFlow's: `ready_for_local_init_op` names global variables, `ready_op` local
    ones as well. Nothing is added to a graph that has them, or has been finalised.
    """
    if tf.get_default_graph().finalized or any(map(tf.get_collection, _OTHERS)):
        return
    global_names = uninitialized_names(tf.global_variables())
    with tf.device("/cpu:0"):
        names = tf.concat([global_names, uninitialized_names(tf.local_variables())], 0)
    tf.add_to_collection(_KEYS.READY_FOR_LOCAL_INIT_OP, global_names)
    tf.add_to_collection(_KEYS.READY_OP, names)


def needs_global_state(op: Any) -> bool:
    """Returns whether an initializer of the default graph may need a global variable or resource.

    The initializer then has to run after those of global variables and resources.
    """
    needed = {each.name for each in ancestors([op])}
    variables = any(variable.op.name in needed for variable in tf.global_variables())
    return variables or bool(tf.get_collection(_KEYS.RESOURCES))
