"""What must run for something to be computed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def ancestors(ends: Iterable[Any]) -> list[Any]:
    """Every operation that tensors or operations need, their own included.

    Args:
      ends: tensors and operations of one graph.

    Returns:
      The operations, in the order of their making.
    """
    found: dict[str, Any] = {}
    waiting = [getattr(end, "op", end) for end in ends]
    while waiting:
        op = waiting.pop()
        if op.name not in found:
            found[op.name] = op
            waiting += [tensor.op for tensor in op.inputs] + list(op.control_inputs)
    if not found:
        return []
    graph = next(iter(found.values())).graph
    return [op for op in graph.get_operations() if op.name in found]
