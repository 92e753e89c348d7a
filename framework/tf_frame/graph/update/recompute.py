"""Gradient checkpointing (`--recompute`): the backward pass computes activations a second time.

    with recomputed(clones, ["resnet_v1_50/block1", "resnet_v1_50/block2"]):
        gradients = clone_gradients(...)

Without it every activation stays in memory until its gradient is computed. For each scope only
its outputs stay; when the gradients of all later layers are there, a copy of the scope's operations
computes the rest again from them (Chen et al., "Training Deep Nets with Sublinear Memory Cost",
2016). The same operations on the same values: the gradients are equal bit by bit.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.clones import Clone
from tf_frame.errors import ConfigError, UnmatchedPatternWarning
from tf_frame.graph.graph_edits import set_input
from tf_frame.layers.moments import TO_SHARE
from tf_frame.text import brief, listed

# Their values need no memory of their own, or are small.
_KEPT = ("Const", "ReadVariableOp", "Placeholder", "PlaceholderWithDefault")
# Scope of the copies; the name of an original follows.
SCOPE = "recompute"
_CONTROL_FLOW = ("Enter", "Exit", "Switch", "Merge", "NextIteration", "LoopCond")


@contextlib.contextmanager
def recomputed(clones: Sequence[Clone], scopes: Sequence[str]) -> Iterator[None]:
    """Makes the gradients that are built inside the block recompute the activations of scopes.

    Args:
      clones: the clones, built.
      scopes: name scopes without that of a clone, such as `resnet_v1_50/block1`.

    Raises:
      ConfigError: no scope has operations that the gradients need and that can run again.
    """
    graph = tf.get_default_graph()
    forward = graph.get_operations() if scopes else []
    yield
    if not scopes:
        return
    backward = set(graph.get_operations()[len(forward) :])
    # `share_statistics` still has to replace their inputs.
    shared = {tensor.op for tensor in tf.get_collection(TO_SHARE)}
    found = set()
    for clone in clones:
        for scope in scopes:
            name = re.compile(rf"{re.escape(clone.scope)}{re.escape(scope.strip('/'))}(_\d+)?/")
            inside = {op for op in forward if name.match(op.name) and _can_be_copied(op)} - shared
            if inside and _recompute(inside, backward):
                found.add(scope)
    _check(scopes, found, forward, clones)


def _check(
    scopes: Sequence[str], found: set[str], forward: Sequence[Any], clones: Sequence[Clone]
) -> None:
    missing = [scope for scope in scopes if scope not in found]
    if not missing:
        return
    names = (op.name.removeprefix(clones[0].scope) for op in forward)
    known = sorted({"/".join(name.split("/")[:2]) for name in names if name.count("/") > 1})
    message = (
        f"--recompute {brief(missing[0])}: no operation of this name scope has a value that the "
        f"gradients need; there are {listed(known)}; --show_model shows more"
    )
    if not found:
        raise ConfigError(message)
    warnings.warn(UnmatchedPatternWarning(message), stacklevel=4)


def _can_be_copied(op: Any) -> bool:
    """Returns whether an operation computes the same again, such as no random number."""
    return not (
        op.op_def.is_stateful
        or op.type in (*_KEPT, *_CONTROL_FLOW)
        # Reads of variables, which may change, and handles.
        or any(tensor.dtype.base_dtype != tensor.dtype for tensor in (*op.inputs, *op.outputs))
        or any(tensor.dtype == tf.resource for tensor in op.outputs)
    )


def _recompute(inside: set[Any], backward: set[Any]) -> bool:
    """Lets the gradients of operations read copies; returns whether they read any value."""
    needed = [
        tensor
        for op in inside
        for tensor in op.outputs
        # An output of the scope is in memory for the layers behind it.
        if not _leaves(tensor, inside, backward)
        and any(consumer in backward for consumer in tensor.consumers())
    ]
    if not needed:
        return False
    readers = {c for tensor in needed for c in tensor.consumers() if c in backward}
    copies = _copy(needed, inside, backward, _arrivals(readers, backward))
    for tensor in needed:
        for op in readers:
            for index, value in enumerate(op.inputs):
                if value is tensor:
                    set_input(op, index, copies[tensor.name])
    return True


def _leaves(tensor: Any, inside: set[Any], backward: set[Any]) -> bool:
    """Returns whether an operation of the forward pass outside of the scope reads a tensor."""
    return any(op not in inside and op not in backward for op in tensor.consumers())


def _arrivals(readers: set[Any], backward: set[Any]) -> list[Any]:
    """Returns the gradients that come from later layers: those that no reader has changed."""
    after, stack = set(readers), list(readers)
    while stack:
        for tensor in stack.pop().outputs:
            new = [op for op in tensor.consumers() if op in backward and op not in after]
            after.update(new)
            stack += new
    inputs = (tensor.op for op in readers for tensor in op.inputs)
    return list(dict.fromkeys(op for op in inputs if op in backward and op not in after))


def _copy(
    needed: Sequence[Any], inside: set[Any], backward: set[Any], arrivals: Sequence[Any]
) -> dict[str, Any]:
    """Copies the operations that tensors need; returns tensor name -> its copy.

    The copies begin when operations, `arrivals`, have ended: else they would run at once, and
    their values stay in memory as the first ones did. Only identities wait for them: where a
    convolution has control inputs, oneDNN's layout pass aborts the process (TensorFlow 2.21).
    """
    ops, kept = _needed_ops(needed, inside, backward)
    with tf.control_dependencies(arrivals), tf.name_scope(SCOPE):
        inputs = {tensor.name: tf.identity(tensor, name=tensor.op.name) for tensor in kept}
    definition = tf.GraphDef(versions=tf.get_default_graph().graph_def_versions)
    for op in ops:
        node = definition.node.add()
        node.CopyFrom(op.node_def)
        node.attr.pop("_class", None)
        # A control input orders the first computation only.
        data = [text for text in node.input if not text.startswith("^")]
        del node.input[:]
        node.input.extend(data)
    names = [tensor.name for tensor in needed]
    copied = tf.graph_util.import_graph_def(
        definition, input_map=inputs, return_elements=names, name=SCOPE
    )
    return dict(zip(names, copied, strict=True))


def _needed_ops(
    needed: Sequence[Any], inside: set[Any], backward: set[Any]
) -> tuple[list[Any], list[Any]]:
    """Returns the operations to copy, and the tensors that they read and that stay in memory."""
    ops: dict[Any, None] = {}
    kept: dict[str, Any] = {}
    stack = [tensor.op for tensor in needed]
    while stack:
        op = stack.pop()
        if op in ops:
            continue
        ops[op] = None
        for tensor in op.inputs:
            if tensor.op in inside and not _leaves(tensor, inside, backward):
                stack.append(tensor.op)
            else:
                kept[tensor.name] = tensor
    return list(ops), list(kept.values())
