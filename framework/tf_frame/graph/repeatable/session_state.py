"""What a session holds that only another session begins anew."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.ancestors import ancestors

# Kernels that keep something from one run to the next, and have no op that sets them back; an
# iterator that can be initialised has one, and so have variables and tables that do not change.
_KEEPING = re.compile(
    r"(FIFOQueue|PaddingFIFOQueue|RandomShuffleQueue|PriorityQueue|\w+Reader|OneShotIterator"
    r"|Mutable\w*HashTable(OfTensors)?|Barrier|Stage|MapStage|OrderedMapStage"
    r"|(Sparse|Resource)?ConditionalAccumulator)(V\d)?"
)


def kept_by_session(ends: Iterable[Any]) -> str:
    """Names something that a session keeps, so that another evaluation needs another session.

    Queues, tables that change and the like count wherever they are in the graph,
    random numbers only where they are drawn to compute `ends`: the initial
    values of variables are random as well.

    Args:
      ends: tensors and operations of the default graph.

    Returns:
      Such as `the queue FIFOQueueV2 'input/fifo_queue'`; empty if there is nothing.
    """
    for op in tf.get_default_graph().get_operations():
        if _KEEPING.fullmatch(op.type):
            return f"{op.type} {op.name!r}"
    for node in _run_for(ends):
        # The attribute of every op that draws from a generator of its kernel.
        if "seed2" in node.attr:
            return f"random numbers, {node.op} {node.name!r}"
    if tf.get_collection(tf.GraphKeys.LOCAL_RESOURCES):
        return "a local resource"
    return ""


def _run_for(ends: Iterable[Any]) -> Iterator[Any]:
    """The nodes that are run to compute something, those in functions that they call too."""
    library: dict[str, Any] | None = None
    nodes, seen = [op.node_def for op in ancestors(ends)], set()
    while nodes:
        node = nodes.pop()
        yield node
        for name in _called(node):
            if library is None:
                definition = tf.get_default_graph().as_graph_def()
                library = {f.signature.name: f for f in definition.library.function}
            if name in library and name not in seen:
                seen.add(name)
                nodes += library[name].node_def


def _called(node: Any) -> list[str]:
    """Names of the functions that a node calls."""
    values = node.attr.values()
    names = [name for v in values for name in (v.func.name, *(f.name for f in v.list.func))]
    return [name for name in names if name]
