"""Computes the changes of many moving statistics of batch norm by a few operations.

A layer moves its mean and its variance by `old -= rate * (old - new)`, four operations for each.
Vectors of some hundred numbers take less time than the start of an operation, and copies of them
between a GPU and the variables on the CPU take longer still. The differences of all layers are
therefore computed together:

    step = (concat(olds) - concat(news)) * rate

and split. Each element is the result of the same operations, so the values are equal bit by bit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.graph_edits import set_input
from tf_frame.layers.norm_variables import MOVING_UPDATES, MovingUpdate

# The layers are not in the name: an operation of several layers belongs to none. Reports count
# operations of this scope for batch norm.
_SCOPE = "batch_norm_updates"


def combine_moving_updates(updates: Iterable[Any], scope: str) -> None:
    """Lets the update operations of a clone read differences that are computed together.

    The operations in the default graph stay the same, and so does whatever depends on them; only
    the tensors that they subtract are others. Updates that a program has ordered by control
    dependencies keep their own differences, because all others would wait for them as well.

    Call it when the clones are complete, and before a session runs.

    Args:
      updates: the update operations that the step runs, or their outputs; operations that
        `moving_update` of `tf_frame.layers` did not make stay as they are.
      scope: name scope of the clone, with its slash.
    """
    run = {getattr(update, "op", update).name for update in updates}
    groups: dict[Hashable, list[MovingUpdate]] = defaultdict(list)
    for update in tf.get_collection(MOVING_UPDATES):
        if update.op.name in run and update.op.name.startswith(scope) and _is_movable(update):
            groups[_kind(update)].append(update)
    for group in groups.values():
        if len(group) > 1:
            with tf.name_scope(f"{scope}{_SCOPE}"):
                _combine(group)


def _kind(update: MovingUpdate) -> Hashable:
    """The updates of a kind have the same rate, and tensors of one type on the same devices."""
    return (
        *map(_identity, update.weight),
        update.old.dtype.base_dtype,
        update.op.inputs[0].device,
        update.new.device,
    )


def _identity(value: Any) -> Hashable:
    return value.ref() if hasattr(value, "ref") else float(value)


def _is_movable(update: MovingUpdate) -> bool:
    """Returns whether an update changes a vector in every step, and nothing else is ordered by it.

    An update of a group waits for the values of all layers of the group. If a layer waited for the
    update, there would be a circle.
    """
    step = update.op.inputs[1].op
    chain = [update.op, step, *(tensor.op for tensor in step.inputs), update.old.op]
    return (
        update.op.graph is tf.get_default_graph()  # Not in a branch of a tf.cond.
        and update.old.shape.rank == 1
        and update.old.shape.is_fully_defined()
        and update.new.shape.is_compatible_with(update.old.shape)
        and update.op._get_control_flow_context() is None
        and not any(op.control_inputs for op in chain)
        and all(_is_unused_read(op) for op in _followers(update.op))
    )


def _followers(op: Any) -> list[Any]:
    return [*(user for tensor in op.outputs for user in tensor.consumers()), *op._control_outputs]


def _is_unused_read(op: Any) -> bool:
    # Every assignment to a resource variable comes with a read of the new value.
    return op.type == "ReadVariableOp" and not _followers(op)


def _combine(group: Sequence[MovingUpdate]) -> None:
    with tf.device(group[0].new.device):
        new = tf.concat([update.new for update in group], axis=0)
    with tf.device(group[0].op.inputs[0].device):
        old = tf.concat([update.old for update in group], axis=0)
        sizes = [int(update.old.shape[0]) for update in group]
        steps = tf.split((old - new) * group[0].rate, sizes)
    for update, step in zip(group, steps, strict=True):
        set_input(update.op, 1, step)
