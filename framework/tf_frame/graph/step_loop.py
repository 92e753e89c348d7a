"""Runs many training steps in one session call, by a loop in the graph (`--steps_per_loop`).

A small step costs less than the call that starts it. The body of the loop is a copy of all
operations that the train op needs, except variables, iterators and tables, which the loop shares
with the graph. So a step of the loop does the same as a run of the train op.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame.graph.graph_edits import ancestors
from tf_frame.graph.prepared_call import prepared_call
from tf_frame.graph.train_graph import TrainGraph

_CONTROL_FLOW = ("Enter", "Exit", "Switch", "Merge", "NextIteration", "LoopCond")


@dataclasses.dataclass(frozen=True)
class StepLoop:
    """Many steps in one call.

    Attributes:
      steps: largest number of steps in one call.
      fetches: loss, global step, and further watched tensors after the last step.
    """

    steps: int
    fetches: Sequence[Any]
    _count: Any

    def prepare(self, session: Any) -> Callable[[float], list[Any]]:
        """Prepares the call of a session.

        It must not be the first run of a session: threads of the input that start here would stay
        without the session's thread pool.

        Returns:
          A function of the number of steps, at most `steps`; it makes fewer steps if a watched
          tensor is not finite, and returns the values of `fetches`.
        """
        call = prepared_call(
            session,
            [tensor.name for tensor in self.fetches],
            feeds=[self._count.name],
            # In the calling thread: another thread would take longer to start than an operation.
            options=tf.RunOptions(inter_op_thread_pool=-1),
        )
        return lambda count: call(np.int32(min(count, self.steps)))


def build_step_loop(graph: TrainGraph, *, steps: int, watched: Iterable[Any] = ()) -> StepLoop:
    """Builds the loop in the training graph, before a session runs it.

    Args:
      graph: the training graph.
      steps: largest number of steps in one call.
      watched: scalar float tensors; the loop ends after a step if one of them is not finite.

    Raises:
      ValueError: see `find_obstacle`.
    """
    reason = find_obstacle(graph)
    if reason:
        raise ValueError(reason)
    by_name = {tensor.name: tensor for tensor in watched}
    tensors = list({graph.train_op.name: graph.train_op, **by_name}.values())
    with graph.graph.as_default(), tf.name_scope("steps_per_loop"):
        body, shared = _copy(graph.graph, tensors)
        count = tf.placeholder(tf.int32, [], name="count")

        def step(*_: Any) -> Any:
            return tf.graph_util.import_graph_def(
                body,
                # The body is a function; the identities capture the handles of the outer graph.
                input_map={name: tf.identity(handle) for name, handle in shared.items()},
                return_elements=[tensor.name for tensor in tensors],
                name="step",
            )

        def are_finite(*values: Any) -> Any:
            pairs = zip(tensors, values, strict=True)
            finite = [tf.is_finite(value) for tensor, value in pairs if tensor.name in by_name]
            return functools.reduce(tf.logical_and, finite) if finite else tf.constant(True)

        # Each loop variable costs four operations a step, so there are only the watched tensors.
        zeros = [tf.zeros([], tensor.dtype) for tensor in tensors]
        loss, *watched_values = tf.nest.flatten(
            tf.while_loop(are_finite, step, zeros, parallel_iterations=1, maximum_iterations=count)
        )
        with tf.control_dependencies([loss]):
            after = tf.identity(graph.global_step.read_value(), name="global_step_after")
    return StepLoop(steps, (loss, after, *watched_values), count)


def find_obstacle(graph: TrainGraph) -> str:
    """Returns the reason why steps of a graph cannot run in one call; empty if they can."""
    if not tf.control_flow_v2_enabled():
        return "TensorFlow 2's control flow is switched off"
    if not graph.run_is_step:
        return (
            "a run of the train op need not be a step: the model makes its own update, or a "
            "gradient transform, such as accumulate, holds updates back"
        )
    needed = ancestors([graph.train_op, graph.step_after])
    for op in needed:
        reason = _op_obstacle(op)
        if reason:
            return reason
    if not any(op.type == "IteratorGetNext" for op in needed):
        return "the input is no tf.data.Dataset"
    return ""


def _op_obstacle(op: Any) -> str:
    if any(output.dtype != output.dtype.base_dtype for output in op.outputs):
        return f"{op.name} is a reference variable"
    if op.type in _CONTROL_FLOW:
        return f"{op.name} ({op.type}) belongs to TensorFlow 1's control flow"
    if op.type == "Placeholder":
        return f"{op.name} has to be fed"
    if "Queue" in op.type:
        return f"the input reads the queue {op.name}"
    return ""


def _is_shared(op: Any) -> bool:
    """Returns whether an operation is the handle of a variable, an iterator or a table."""
    return not op.inputs and any(output.dtype == tf.resource for output in op.outputs)


def _copy(graph: Any, tensors: Sequence[Any]) -> tuple[Any, dict[str, Any]]:
    """A `GraphDef` of all operations that tensors need, and the handles that it shares."""
    needed = {op.name: op for op in ancestors(tensors)}
    shared = {op.name for op in needed.values() if _is_shared(op)}
    full = graph.as_graph_def()
    copied = tf.GraphDef(versions=full.versions, library=full.library)
    for node in full.node:
        if node.name in needed and node.name not in shared:
            _add(copied, node, shared)
    handles = {output.name: output for name in shared for output in needed[name].outputs}
    return copied, handles


def _add(copied: Any, node: Any, shared: set[str]) -> None:
    added = copied.node.add()
    added.CopyFrom(node)
    # Colocation groups may name operations that are not copied.
    added.attr.pop("_class", None)
    if added.op == "IteratorGetNext":
        # The loop runs in the calling thread, which may wait for the batch.
        added.op = "IteratorGetNextSync"
    inputs = [n for n in added.input if n.removeprefix("^") not in shared or n[0] != "^"]
    del added.input[:]
    added.input.extend(inputs)
