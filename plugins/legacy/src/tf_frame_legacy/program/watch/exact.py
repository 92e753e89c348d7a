"""Makes the random numbers of a graph depend on the global step, so that a resume repeats them.

Random operations of TensorFlow 1, such as those of dropout, keep their state in the process: after
a restart they begin anew.
"""

from __future__ import annotations

import logging
from typing import Any

import tensorflow.compat.v1 as tf

_LOG = logging.getLogger("tf_frame")
_DRAWS = {
    "RandomUniform": tf.random.stateless_uniform,
    "RandomStandardNormal": tf.random.stateless_normal,
    "TruncatedNormal": tf.random.stateless_truncated_normal,
}


def resume_exactly() -> None:
    """Replaces the random operations of the default graph that a step uses.

    Those of initial values stay: a resumed run does not need them. Those within loops and branches
    stay as well, with a warning.
    """
    graph = tf.get_default_graph()
    initial = _ancestors([op for op in graph.get_operations() if _initialises(op)])
    step = tf.cast(tf.train.get_or_create_global_step(graph).read_value(), tf.int64)
    for number, operation in enumerate(graph.get_operations()):
        if operation.type not in _DRAWS or operation in initial:
            continue
        if operation._control_flow_context is not None:
            _LOG.warning("%s is in a loop or branch: it is not resumed", operation.name)
            continue
        _replace(operation, number, step)


def _replace(operation: Any, number: int, step: Any) -> None:
    (old,) = operation.outputs
    name = f"{operation.name}/of_step"
    with tf.name_scope(None), tf.device(operation.device):
        draw = _DRAWS[operation.type]
        seed = tf.stack([step, tf.constant(number, tf.int64)], name=f"{name}_seed")
        new = draw(operation.inputs[0], seed=seed, dtype=old.dtype, name=name)
    for consumer in old.consumers():
        for index, tensor in enumerate(consumer.inputs):
            if tensor is old:
                consumer._update_input(index, new)


def _initialises(operation: Any) -> bool:
    return operation.type in ("Assign", "AssignVariableOp") and "/Assign" in operation.name


def _ancestors(operations: list[Any]) -> set[Any]:
    seen, waiting = set(operations), list(operations)
    while waiting:
        before = {tensor.op for tensor in waiting.pop().inputs} - seen
        seen |= before
        waiting += before
    return seen
