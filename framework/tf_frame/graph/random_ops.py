"""Random numbers of a step that follow from the step alone.

    reasons = make_repeatable(train_op, global_step=global_step, seed=1)

A stateful random op (dropout has one) counts its draws in the session, which no
checkpoint holds: a resumed run draws other numbers than one that was never
stopped. In place of each comes a stateless op of the same shape, type, range and
device, whose numbers follow from the seed, its name and the global step.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.quantization.edit import redirect
from tf_frame.graph.stateless_draws import STATELESS, Stream

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
    random, reasons = [], []
    for op in _ancestors(train_op):
        why = _why_not(op, graph)
        if why:
            reasons.append(f"{op.name}: {why}")
        elif op.type in STATELESS:
            random.append(op)
    if random:
        with graph.as_default(), tf.control_dependencies(None):
            index = _index_of_run(global_step)
            for op in random:
                _replace(op, Stream(_key(op, seed, task), index))
    return reasons


def _ancestors(train_op: Any) -> list[Any]:
    """Every operation that must run for this one, in the order of their making."""
    found: dict[str, Any] = {}
    waiting = [getattr(train_op, "op", train_op)]
    while waiting:
        op = waiting.pop()
        if op.name not in found:
            found[op.name] = op
            waiting += [tensor.op for tensor in op.inputs] + list(op.control_inputs)
    return [op for op in train_op.graph.get_operations() if op.name in found]


def _why_not(op: Any, graph: Any) -> str | None:
    """Why the numbers of an op cannot be made repeatable; None if they can or there are none."""
    if op.type in _PYTHON:
        return f"{op.type} calls Python code, whose state no checkpoint holds"
    inside = next(_random_in_functions(op, graph), None)
    if inside:
        return f"{op.type} calls a function with the random op {inside}"
    if op.type not in STATELESS and _draws(op.type, op.node_def.attr):
        return f"{op.type} is a random op that has no stateless counterpart here"
    if op.type in STATELESS and not graph.is_fetchable(op):
        return f"the random op {op.type} stands in a loop or branch"
    return None


def _draws(kind: str, attributes: Any) -> bool:
    # Queues that shuffle have seeds, too; inputs are looked after by graph/input_position.py.
    return "seed2" in attributes and "Queue" not in kind


def _random_in_functions(op: Any, graph: Any) -> Iterator[str]:
    """Random ops, and Python code, in the functions that an op calls."""
    called = [name for value in op.node_def.attr.values() for name in _functions(value)]
    if not called:
        return
    library = {f.signature.name: f for f in graph.as_graph_def().library.function}
    seen: set[str] = set()
    while called:
        name = called.pop()
        if name in seen or name not in library:
            continue
        seen.add(name)
        for node in library[name].node_def:
            if node.op in _PYTHON or node.op in STATELESS or _draws(node.op, node.attr):
                yield f"{node.name} ({node.op})"
            called += [each for value in node.attr.values() for each in _functions(value)]


def _functions(value: Any) -> list[str]:
    """Names of the functions in an attribute."""
    return [name for name in (value.func.name, *(f.name for f in value.list.func)) if name]


def _key(op: Any, seed: int, task: int) -> int:
    # The name, too: two ops may be given one seed, and the clones of a model always are.
    own = (op.node_def.attr["seed"].i, op.node_def.attr["seed2"].i)
    text = f"{seed}/{task}/{own}/{op.name}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def _index_of_run(global_step: Any) -> Any:
    """Scalar int64 tensor: number of this session run, read before the run changes it."""
    with tf.device(None), tf.device(global_step.device), tf.name_scope("repeatable"):
        index = tf.bitwise.left_shift(_before(global_step), tf.constant(_RUNS_BITS, tf.int64))
        for variable in tf.global_variables():
            if variable.op.name == _RUNS:
                index += _before(variable)
        return tf.identity(index, name="index_of_run")


def _before(variable: Any) -> Any:
    """The value of a variable before any update in this session run, as int64."""
    # A copy: what reads a reference variable later sees it as it is then.
    value = tf.add(variable.read_value(), 0)
    for op in _updates(variable):
        # There is no public way to give an operation that exists something to wait for;
        # TensorFlow's own control flow does it so.
        op._add_control_input(value.op)
    return tf.cast(value, tf.int64)


def _updates(variable: Any) -> list[Any]:
    """The operations that assign to a variable, within `tf.cond` too; not its initialiser."""
    handles = [variable.handle if hasattr(variable, "handle") else variable.op.outputs[0]]
    updates = []
    while handles:
        for op in handles.pop().consumers():
            if op.type in ("Switch", "RefSwitch", "Enter", "RefEnter"):
                handles += op.outputs
            elif op.type in _ASSIGNMENTS and op.name != variable.initializer.name:
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
