"""Measures the time that the steps of a graph wait for their batches.

Two operations read the clock, one before a step takes its batches, and one after the last of them
is there; a variable sums the differences. They lie beside the computation of a step, which does not
wait for them: docs/performance/loop.md has their cost.
"""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.graph_edits import ancestors

INPUT_WAIT = "input_wait/"


def measure_input_wait(train_op: Any) -> Any:
    """Adds the measurement to a complete graph, before a session runs it.

    The time counts until the batch of the last clone is there, even if another clone computes
    meanwhile. Later operations would change the seeds of random operations after them.

    Args:
      train_op: the tensor that runs a step.

    Returns:
      A scalar float64 tensor that reads the seconds of all steps of a session; None if no step
      takes a batch from an iterator.
    """
    # Operations in a `tf.cond` or a loop of TensorFlow 1 need not run.
    batches = [
        op
        for op in ancestors([train_op])
        if op.type == "IteratorGetNext" and op._get_control_flow_context() is None
    ]
    if not batches:
        return None
    device = batches[0].device
    in_scope = tf.name_scope(INPUT_WAIT)
    with tf.device(None), tf.device(device), tf.control_dependencies(None), in_scope:
        # A local variable, so that checkpoints fit with and without it.
        waited_secs = tf.Variable(
            tf.zeros([], tf.float64),
            trainable=False,
            collections=[tf.GraphKeys.LOCAL_VARIABLES],
            name="secs",
            use_resource=True,  # As in the loop of `--steps_per_loop`.
        )
        began = tf.timestamp()
        with tf.control_dependencies(batches):
            ended = tf.timestamp()
        count = waited_secs.assign_add(ended - began, read_value=False)
        read = waited_secs.read_value()
    for op in batches:
        # There is no public way to add a dependency to an existing operation.
        op._add_control_input(began.op)
    train_op.op._add_control_input(count)
    return read
