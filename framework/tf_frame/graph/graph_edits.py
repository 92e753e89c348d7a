"""Searches and edits graphs: ancestors of tensors, bodies of functions, inputs of operations.

Quantisation, exact resuming and synchronised batch norm change a graph after a model has built it.
TensorFlow has had no public interface for edits since tf.contrib.graph_editor was removed. The
functions use `Operation._update_input`, as TensorFlow's own while loops do. Edits must come before
the first run of a session, because a session does not see later changes.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator
from typing import Any

import tensorflow.compat.v1 as tf

# Types of the operations that assign to a variable.
ASSIGNMENTS = (
    "Assign",
    "AssignAdd",
    "AssignSub",
    "AssignVariableOp",
    "AssignAddVariableOp",
    "AssignSubVariableOp",
)


def ancestors(ends: Iterable[Any]) -> list[Any]:
    """Returns all operations that tensors or operations of a graph need, including themselves.

    They are in the order of their creation.
    """
    needed: set[Any] = set()
    stack = [getattr(end, "op", end) for end in ends]
    while stack:
        op = stack.pop()
        if op not in needed:
            needed.add(op)
            stack += [tensor.op for tensor in op.inputs]
            stack += op.control_inputs
    if not needed:
        return []
    graph = next(iter(needed)).graph
    return [op for op in graph.get_operations() if op in needed]


def assignments(variable: Any) -> list[Any]:
    """Returns the operations that assign to a variable, within `tf.cond` too."""
    handles = [variable.handle if hasattr(variable, "handle") else variable.op.outputs[0]]
    found = []
    while handles:
        for op in handles.pop().consumers():
            if op.type in ("Switch", "RefSwitch"):
                handles += op.outputs
            elif op.type in ASSIGNMENTS:
                found.append(op)
    return found


class FunctionLibrary:
    """The functions of a graph; they are read when a node calls the first one."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    @functools.cached_property
    def _functions(self) -> dict[str, Any]:
        return {f.signature.name: f for f in self._graph.as_graph_def().library.function}

    def nodes(self, node: Any) -> Iterator[Any]:
        """Yields the nodes of the functions that a `NodeDef` calls, directly or indirectly."""
        stack, seen = _called_functions(node), set()
        while stack:
            name = stack.pop()
            if name not in seen and name in self._functions:
                seen.add(name)
                for inner in self._functions[name].node_def:
                    yield inner
                    stack += _called_functions(inner)


def _called_functions(node: Any) -> list[str]:
    values = node.attr.values()
    names = [name for v in values for name in (v.func.name, *(f.name for f in v.list.func))]
    return [name for name in names if name]


def set_input(op: Any, index: int, tensor: Any) -> None:
    """Makes `tensor` the input number `index` of an operation."""
    op._update_input(index, tensor)


def redirect(consumers: Iterable[Any], old: Any, new: Any) -> None:
    """Makes operations read the tensor `new` instead of `old`, of the same type and shape."""
    for op in consumers:
        for index, tensor in enumerate(op.inputs):
            if tensor.name == old.name:
                set_input(op, index, new)


@contextlib.contextmanager
def switch_branches() -> Iterator[None]:
    """Builds `tf.cond` from switches instead of functions.

    Functions cannot update reference variables (TensorFlow 2.21 raises a TypeError).
    """
    enabled = tf.control_flow_v2_enabled()
    tf.disable_control_flow_v2()
    try:
        yield
    finally:
        if enabled:
            tf.enable_control_flow_v2()
