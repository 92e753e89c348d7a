"""Orders the reads of the global step before its change, so that a step has one result.

Optimizers of tf.train change the step after all else. Model functions whose optimizer is their own
may change it beside the operations that read it, as BERT's does: which value the learning rate is
made from is then a matter of chance.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.graph_edits import ancestors, assignments, redirect


def read_step_before_change(train_op: Any, global_step: Any) -> None:
    """Gives the old global step to the operations that do not say which value they want.

    Call it when the graph is complete, before a session runs it.

    Args:
      train_op: the operation, or a tensor of it, that runs a step.
      global_step: the variable.
    """
    needed = _names(ancestors([train_op]))
    changes = [op for op in assignments(global_step) if op.name in needed]
    unordered = needed - _names(ancestors(changes)) - _names(_successors(changes))
    users = [
        (read.outputs[0], user)
        for read in global_step.op.outputs[0].consumers()
        if read.type in ("Identity", "ReadVariableOp")
        for user in read.outputs[0].consumers()
        if user.name in unordered
    ]
    if not users:
        return
    with tf.device(None), tf.device(global_step.device), tf.control_dependencies(None):
        old = value_before(global_step, needed)
    for value, user in users:
        redirect([user], value, old)


def value_before(variable: Any, needed: Container[str]) -> Any:
    """Returns an integer variable's value before any operation with these names changes it."""
    # A copy: a reference variable is read when its value is used. TensorFlow optimises graphs, and
    # moves tf.add(value, 0), Snapshot and DeepCopy behind their users.
    value = tf.bitwise.bitwise_or(variable.read_value(), 0)
    for op in assignments(variable):
        # Other changes, such as restoring a checkpoint, may run before the variable has a value.
        if op.name in needed:
            # There is no public way to add a dependency to an existing operation; TensorFlow's
            # own control flow does it this way.
            op._add_control_input(value.op)
    return value


def _names(operations: Iterable[Any]) -> set[str]:
    return {op.name for op in operations}


def _successors(operations: Iterable[Any]) -> list[Any]:
    """Returns the operations that run after these."""
    found: dict[str, Any] = {}
    stack = list(operations)
    while stack:
        op = stack.pop()
        after = [user for tensor in op.outputs for user in tensor.consumers()]
        for next_op in [*after, *op._control_outputs]:
            if next_op.name not in found:
                found[next_op.name] = next_op
                stack.append(next_op)
    return list(found.values())
