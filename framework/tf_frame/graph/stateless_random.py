"""Replaces random ops by stateless ones seeded by the global step, so that resuming is exact.

    reasons = make_stateless(train_op, global_step=global_step, seed=1)

A stateful random op, as in dropout, counts its draws in the session. No checkpoint holds the count,
so a resumed run draws other numbers than an uninterrupted run. Each op is replaced by a stateless
op of the same shape, type, range and device; seed, name of the op and global step determine its
numbers. The generator is Philox, which is based on a counter (Salmon et al. 2011, "Parallel random
numbers: as easy as 1, 2, 3"). Each op has its own key. The upper half of the counter changes with
each session run; the lower half counts the numbers of a draw.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.graph_edits import FunctionLibrary, ancestors, redirect
from tf_frame.graph.step_reads import value_before

# With accumulated gradients, this variable counts the session runs of a global step
# (gradient_transforms/accumulate.py); the index of a run has so many bits for the count.
_RUNS = "accumulate/runs"
_RUNS_BITS = 16
_PYTHON = ("PyFunc", "EagerPyFunc")
_PHILOX = 1  # RNG_ALG_PHILOX, tensorflow/core/framework/rng_alg.h.


@dataclasses.dataclass(frozen=True)
class Stream:
    """The random numbers of an op in a session run.

    Attributes:
      key: number of the op.
      index: number of the session run, a scalar int64 tensor.
    """

    key: int
    index: Any

    @property
    def philox(self) -> dict[str, Any]:
        """Arguments of an op that takes the state of the generator."""
        counter = tf.stack([tf.zeros_like(self.index), self.index])
        return {
            "key": tf.constant([self.key], tf.uint64),
            "counter": tf.bitcast(counter, tf.uint64),
            "alg": _PHILOX,
        }

    @property
    def seed(self) -> Any:
        """Argument of an op with its own generator, int64 `[2]`."""
        return tf.stack([tf.constant(self.key >> 1, tf.int64), self.index])


def _by_shape(draw: Callable[..., Any]) -> Callable[[Any, Stream], Any]:
    """Makes the counterpart of an op that has no inputs but its shape."""
    return lambda op, stream: draw(shape=op.inputs[0], dtype=op.outputs[0].dtype, **stream.philox)


def _uniform_int(op: Any, stream: Stream) -> Any:
    inputs = dict(zip(("shape", "minval", "maxval"), op.inputs, strict=True))
    return tf.raw_ops.StatelessRandomUniformIntV2(**inputs, **stream.philox)


def _gamma(op: Any, stream: Stream) -> Any:
    inputs = {"shape": _full_shape(*op.inputs), "alpha": op.inputs[1]}
    return tf.raw_ops.StatelessRandomGammaV3(**inputs, **stream.philox)


def _poisson(op: Any, stream: Stream) -> Any:
    inputs = {"shape": _full_shape(*op.inputs), "lam": op.inputs[1]}
    return tf.raw_ops.StatelessRandomPoisson(**inputs, seed=stream.seed, dtype=op.outputs[0].dtype)


def _full_shape(shape: Any, parameters: Any) -> Any:
    """A stateful op draws `shape` samples for every parameter; a stateless op needs both shapes."""
    return tf.concat([shape, tf.shape(parameters, out_type=shape.dtype)], axis=0)


def _multinomial(op: Any, stream: Stream) -> Any:
    inputs = dict(zip(("logits", "num_samples"), op.inputs, strict=True))
    return tf.raw_ops.StatelessMultinomial(
        **inputs, seed=stream.seed, output_dtype=op.outputs[0].dtype
    )


def _shuffle(op: Any, stream: Stream) -> Any:
    return tf.random.experimental.stateless_shuffle(op.inputs[0], stream.seed)


def _parameterized_truncated_normal(op: Any, stream: Stream) -> Any:
    shape, *parameters = op.inputs
    # The stateful op has parameters for each entry of the first dimension, or for all entries; the
    # stateless op has them for the last dimension.
    names = ("means", "stddevs", "minvals", "maxvals")
    rows = shape[:1]
    numbers = tf.raw_ops.StatelessParameterizedTruncatedNormal(
        shape=tf.concat([shape[1:], rows], axis=0),
        seed=stream.seed,
        **{
            name: tf.broadcast_to(tf.reshape(parameter, [-1]), rows)
            for name, parameter in zip(names, parameters, strict=True)
        },
    )
    last = tf.size(shape) - 1
    return tf.transpose(numbers, tf.concat([[last], tf.range(last)], axis=0))


# Type of a stateful op -> function that makes its stateless counterpart; each has one output.
STATELESS: dict[str, Callable[[Any, Stream], Any]] = {
    "RandomUniform": _by_shape(tf.raw_ops.StatelessRandomUniformV2),
    "RandomUniformInt": _uniform_int,
    "RandomStandardNormal": _by_shape(tf.raw_ops.StatelessRandomNormalV2),
    "TruncatedNormal": _by_shape(tf.raw_ops.StatelessTruncatedNormalV2),
    "RandomGamma": _gamma,
    "RandomPoissonV2": _poisson,
    "Multinomial": _multinomial,
    "RandomShuffle": _shuffle,
    "ParameterizedTruncatedNormal": _parameterized_truncated_normal,
}


def make_stateless(
    train_op: Any, *, global_step: Any, seed: int, by_name: bool = False
) -> list[str]:
    """Replaces every stateful random op that a step runs by a stateless one.

    Call it when the graph is complete, before a session runs it. Two ops never draw the same
    numbers, nor does one op in two steps, or in two runs of one step that accumulate gradients.
    Initial values do not change.

    Args:
      train_op: the operation, or a tensor of it, that runs a step.
      global_step: the variable.
      seed: seed of the numbers.
      by_name: whether the seeds of an op do not count, which depend on the number of ops before it.

    Returns:
      A line `op name: reason` for each random op that could not be replaced.
    """
    graph = train_op.graph
    needed, library = ancestors([train_op]), FunctionLibrary(graph)
    random, reasons = [], []
    for op in needed:
        reason = _find_reason(op, library)
        if reason:
            reasons.append(f"{op.name}: {reason}")
        elif op.type in STATELESS:
            random.append(op)
    if random:
        with graph.as_default(), tf.control_dependencies(None):
            index = _run_index(global_step, needed)
            for op in random:
                _replace(op, Stream(_key(op, seed, by_name), index))
    return reasons


def _find_reason(op: Any, library: FunctionLibrary) -> str | None:
    """The reason why an op cannot be replaced; None if it can, or is no random op."""
    if op.type in _PYTHON:
        return f"{op.type} calls Python code, and no checkpoint holds its state"
    definition = op.node_def  # Made anew by each access.
    for node in library.nodes(definition):
        if node.op in _PYTHON or node.op in STATELESS or _draws(node.op, node.attr):
            return f"{op.type} calls a function with the random op {node.name} ({node.op})"
    if op.type not in STATELESS and _draws(op.type, definition.attr):
        return f"{op.type} is a random op that has no stateless counterpart here"
    if op.type in STATELESS and not op.graph.is_fetchable(op):
        return f"the random op {op.type} is in a loop or branch"
    return None


def _draws(kind: str, attributes: Any) -> bool:
    """Returns whether an operation with these attributes draws random numbers."""
    if "seed2" not in attributes or "Queue" in kind:
        return False  # Queues and shuffles of inputs belong to inputs/position.py.
    if "dropout" in attributes:
        return bool(attributes["dropout"].f)  # The recurrent layers of cuDNN.
    return not ("deterministic" in attributes and attributes["deterministic"].b)


def _key(op: Any, seed: int, by_name: bool) -> int:
    # Two ops may have the same seeds, and ops of clones always do, so the name is added.
    seeds = () if by_name else (op.node_def.attr["seed"].i, op.node_def.attr["seed2"].i)
    # The 0 has no meaning; without it, runs of older checkpoints would draw other numbers.
    text = f"{seed}/0/{seeds}/{op.name}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def _run_index(global_step: Any, needed: Iterable[Any]) -> Any:
    """The number of this session run, a scalar int64 tensor, read before the run changes it."""
    names = {op.name for op in needed}
    with tf.device(None), tf.device(global_step.device), tf.name_scope("repeatable"):
        index = tf.bitwise.left_shift(
            tf.cast(value_before(global_step, names), tf.int64), tf.constant(_RUNS_BITS, tf.int64)
        )
        for variable in tf.global_variables():
            if variable.op.name == _RUNS:
                index += tf.cast(value_before(variable, names), tf.int64)
        return tf.identity(index, name="index_of_run")


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
