"""The work of single operations: floating-point operations, and bytes that they read and write.

With the time of an operation and the peaks of the machine, they say whether a faster kernel could
exist: the roofline model (Williams, Waterman, Patterson, 2009).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tf_frame.graph.graph_edits import ancestors
from tf_frame.profiling.flops import UnknownShape, flops
from tf_frame.profiling.model_cost import of_batch_size
from tf_frame.profiling.operation_names import plain_type
from tf_frame.profiling.step_profile import Node, Work

# Types that Grappler makes of an operation and those behind it -> the type of the first one. The
# result has the name of the last one.
_FUSED = {
    "FusedConv2D": "Conv2D",
    "FusedDepthwiseConv2dNative": "DepthwiseConv2dNative",
    "FusedMatMul": "MatMul",
    "FusedBatchNormEx": "FusedBatchNormV3",
}
# Their last output is for the gradient on some GPUs, and has no static shape.
_BATCH_NORMS, _RESERVE = ("FusedBatchNormV3",), 5
# Operations behind it at most: batch norm or a bias, a sum, an activation.
_MOST_FUSED = 4


def find_work(
    nodes: Iterable[Node], *, graph: Any, step: Any, batch_size: int | None = None
) -> list[Work | None]:
    """Returns the work of recorded nodes; None for a node of unknown work.

    Args:
      nodes: the nodes.
      graph: the graph as it was built; it is not changed.
      step: the tensor that runs a step.
      batch_size: examples in the batch of a clone, for inputs of unknown batch size.
    """
    operations = {op.name: op for op in of_batch_size(graph, ancestors([step]), batch_size)}
    return [_work(operations, node) for node in nodes]


def _work(operations: Mapping[str, Any], node: Node) -> Work | None:
    last = operations.get(node.name)
    if last is None:
        return None
    type_ = plain_type(node.type).removeprefix("_")
    first = last if last.type == type_ else _first_of_fused(last, _FUSED.get(type_, ""))
    if first is None or any(tensor.dtype.name == "resource" for tensor in first.inputs):
        return None  # A variable has no static shape here.
    try:
        tensors = [*first.inputs, *(last.outputs if last is not first else first.outputs[:1])]
        return Work(flops(first), sum(map(_bytes, tensors)))
    except UnknownShape:
        return None


def _first_of_fused(last: Any, type_: str) -> Any:
    """Returns the operation of a type that was fused with those behind it; None without one."""
    level = [last]
    for _ in range(_MOST_FUSED if type_ else 0):
        level = [tensor.op for op in level for tensor in op.inputs]
        for op in level:
            if op.type == type_:
                return op
    return None


def _bytes(tensor: Any) -> int:
    if tensor.op.type in _BATCH_NORMS and tensor.value_index == _RESERVE:
        return 0
    count = tensor.shape.num_elements()
    if count is None:
        raise UnknownShape(tensor.name)
    return int(count) * int(tensor.dtype.base_dtype.size)
