"""Sums the penalties of weights by few operations.

Each layer has its own penalty, `scale * norm(weights)`, in `REGULARIZATION_LOSSES`, usually with
one scale for all. The sum multiplies by a common scale once:

    scale * (norm(weights 1) + norm(weights 2) + ...)

The gradients are equal bit by bit, because the scale still multiplies the gradient of the loss
before the weights do. The sum itself may differ in its last bits. Trainings of programs that add up
the collection themselves are as they were.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.graph_edits import redirect
from tf_frame.layers.regularizers import WEIGHT_PENALTIES, WeightPenalty

# The sum of norms before their scale might exceed the range of 16 bits.
_SUMMED = (tf.float32, tf.float64)


def sum_penalties(losses: Sequence[Any], scope: str, name: str) -> Any:
    """Returns the sum of scalar losses, those of regularizers of `tf_frame.layers` together.

    Call it when the clones are complete, before the gradients and before a session runs.

    Args:
      losses: the losses, not empty.
      scope: name scope of the first clone, with its slash.
      name: name of the sum.
    """
    parts = {part.total.op: part for part in tf.get_collection(WEIGHT_PENALTIES)}
    # `get_variable` collects objects that make a penalty anew where they are used; `op` is that of
    # the first one.
    ops = [getattr(loss, "op", None) for loss in losses]
    summed = {op: parts[op] for op in ops if op in parts and _is_summed(parts[op])}
    unused = {part.weights.op for op, part in parts.items() if op not in ops and _is_unused(op)}
    groups: dict[Hashable, list[WeightPenalty]] = defaultdict(list)
    for op in ops:
        if op in summed:
            _share_read(summed[op].weights, scope, unused)
            groups[_kind(summed[op])].append(summed[op])
    others = [loss for loss, op in zip(losses, ops, strict=True) if op not in summed]
    return tf.add_n([*others, *map(_sum_group, groups.values())], name=name)


def _is_summed(part: WeightPenalty) -> bool:
    return part.norm.dtype in _SUMMED and _is_free(part.norm.op)


def _is_unused(op: Any) -> bool:
    return not any(tensor.consumers() for tensor in op.outputs)


def _kind(part: WeightPenalty) -> Hashable:
    scale = part.scale.ref() if hasattr(part.scale, "ref") else float(part.scale)
    return scale, part.norm.dtype


def _sum_group(group: Sequence[WeightPenalty]) -> Any:
    if len(group) == 1:
        return group[0].total
    # Reports count operations of this scope for weight penalties.
    with tf.name_scope("Regularizer"):
        return tf.multiply(group[0].factor, tf.add_n([part.norm for part in group]))


def _share_read(weights: Any, scope: str, unused: set[Any]) -> None:
    """Lets a penalty use the weights that the layer has read, if there is only one other read.

    With more reads the gradients would be added in another order, and differ in their last bits.

    Args:
      weights: tensor of the weights, for the penalty.
      scope: name scope of the clone.
      unused: reads for penalties that nothing uses.
    """
    read = weights.op
    if read.type != "ReadVariableOp" or not _is_free(read):
        return
    others = [
        op
        for op in set(read.inputs[0].consumers()) - unused - {read}
        if op.name.startswith(scope) and not _is_unused(op)
    ]
    if (
        [op.type for op in others] == ["ReadVariableOp"]
        and _is_free(others[0])
        and others[0].device == read.device
    ):
        redirect(weights.consumers(), weights, others[0].outputs[0])


def _is_free(op: Any) -> bool:
    """Returns whether an operation always runs, and waits for its inputs only."""
    return not op.control_inputs and op._get_control_flow_context() is None
