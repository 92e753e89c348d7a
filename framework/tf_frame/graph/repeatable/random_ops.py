"""Random numbers of a step that follow from the step alone.

    reasons = make_repeatable(train_op, global_step=global_step, seed=1)

A stateful random op (dropout has one) counts its draws in the session, which no
checkpoint holds: a resumed run draws other numbers than one that was never
stopped. In place of each comes a stateless op of the same shape, type, range and
device, whose numbers follow from the seed, its name and the global step.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.ancestors import ancestors
from tf_frame.graph.quantization.edit import redirect
from tf_frame.graph.repeatable.stateless_draws import STATELESS, Stream

# Where gradients are accumulated, this variable counts the session runs of a global step; so many
# bits of it tell them apart (gradient_transforms/accumulate.py).
_RUNS = "accumulate/runs"
_RUNS_BITS = 16
_PYTHON = ("PyFunc", "EagerPyFunc")
_ASSIGNMENTS = (
    "Assign",
    "AssignAdd",
    "AssignSub",
    "AssignVariableOp",
    "AssignAddVariableOp",
    "AssignSubVariableOp",
)


def make_repeatable(train_op: Any, *, global_step: Any, seed: int, task: int = 0) -> list[str]:
    """Puts a stateless op in the place of every stateful random op that a step runs.

    Call it when the graph is complete, and before a session has run it. Two ops
    never draw the same numbers, nor does one op in two steps, nor in two runs of
    one step where gradients are accumulated. Initial values are not touched.

    Args:
      train_op: the operation, or a tensor of it, that runs a step.
      global_step: the variable.
      seed: any whole number.
      task: which worker this is.

    Returns:
      Why what a step draws may still not be repeatable, a line `op name: why`
      for each op that had to stay; empty if all is well.
    """
    graph = train_op.graph
    needed, functions = ancestors([train_op]), _Functions(graph)
    random, reasons = [], []
    for op in needed:
        why = _why_not(op, functions)
        if why:
            reasons.append(f"{op.name}: {why}")
        elif op.type in STATELESS:
            random.append(op)
    if random:
        with graph.as_default(), tf.control_dependencies(None):
            index = _index_of_run(global_step, needed)
            for op in random:
                _replace(op, Stream(_key(op, seed, task), index))
    return reasons


def _why_not(op: Any, functions: _Functions) -> str | None:
    """Why the numbers of an op cannot be made repeatable; None if they can or there are none."""
    if op.type in _PYTHON:
        return f"{op.type} calls Python code, whose state no checkpoint holds"
    inside = functions.random_op(op.node_def)
    if inside:
        return f"{op.type} calls a function with the random op {inside}"
    if op.type not in STATELESS and _draws(op.type, op.node_def.attr):
        return f"{op.type} is a random op that has no stateless counterpart here"
    if op.type in STATELESS and not op.graph.is_fetchable(op):
        return f"the random op {op.type} stands in a loop or branch"
    return None


def _draws(kind: str, attributes: Any) -> bool:
    """Whether an operation with these attributes draws random numbers."""
    if "seed2" not in attributes or "Queue" in kind:
        return False  # graph/input_position.py looks after the queues, and shuffles, of inputs.
    if "dropout" in attributes:
        return bool(attributes["dropout"].f)  # The recurrent layers of cuDNN.
    return not ("deterministic" in attributes and attributes["deterministic"].b)


class _Functions:
    """The functions of a graph."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    @functools.cached_property
    def _library(self) -> dict[str, Any]:
        return {f.signature.name: f for f in self._graph.as_graph_def().library.function}

    def random_op(self, node: Any) -> str | None:
        """The first op in the functions that a node calls which draws, or runs Python code."""
        left, seen = _called(node), set()
        while left:
            name = left.pop()
            if name in seen or name not in self._library:
                continue
            seen.add(name)
            for inner in self._library[name].node_def:
                if inner.op in _PYTHON or inner.op in STATELESS or _draws(inner.op, inner.attr):
                    return f"{inner.name} ({inner.op})"
                left += _called(inner)
        return None


def _called(node: Any) -> list[str]:
    """Names of the functions that a node calls."""
    values = node.attr.values()
    names = [name for v in values for name in (v.func.name, *(f.name for f in v.list.func))]
    return [name for name in names if name]


def _key(op: Any, seed: int, task: int) -> int:
    # The name, too: two ops may be given one seed, and the clones of a model always are.
    own = (op.node_def.attr["seed"].i, op.node_def.attr["seed2"].i)
    text = f"{seed}/{task}/{own}/{op.name}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def _index_of_run(global_step: Any, needed: Iterable[Any]) -> Any:
    """Scalar int64 tensor: number of this session run, read before the run changes it."""
    names = {op.name for op in needed}
    with tf.device(None), tf.device(global_step.device), tf.name_scope("repeatable"):
        index = tf.bitwise.left_shift(
            _before(global_step, names), tf.constant(_RUNS_BITS, tf.int64)
        )
        for variable in tf.global_variables():
            if variable.op.name == _RUNS:
                index += _before(variable, names)
        return tf.identity(index, name="index_of_run")


def _before(variable: Any, needed: set[str]) -> Any:
    """The value of a variable before any update by these ops, as int64."""
    # A copy: what reads a reference variable later sees it as it is then.
    value = tf.add(variable.read_value(), 0)
    for op in _updates(variable):
        # Others, such as those that restore a checkpoint, may run while it has no value.
        if op.name in needed:
            # There is no public way to give an operation that exists something to wait for;
            # TensorFlow's own control flow does it so.
            op._add_control_input(value.op)
    return tf.cast(value, tf.int64)


def _updates(variable: Any) -> list[Any]:
    """The operations that assign to a variable, within `tf.cond` too."""
    handles = [variable.handle if hasattr(variable, "handle") else variable.op.outputs[0]]
    updates = []
    while handles:
        for op in handles.pop().consumers():
            if op.type in ("Switch", "RefSwitch"):
                handles += op.outputs
            elif op.type in _ASSIGNMENTS:
                updates.append(op)
    return updates


def _replace(op: Any, stream: Stream) -> None:
    (old,) = op.outputs
    consumers = old.consumers()
    with (
        tf.device(None),
        tf.device(op.device),
        tf.control_dependencies(op.control_inputs),
        tf.name_scope(f"{op.name}_repeatable/"),
    ):
        new = STATELESS[op.type](op, stream)
    new.set_shape(old.shape)
    redirect(consumers, old, new)
