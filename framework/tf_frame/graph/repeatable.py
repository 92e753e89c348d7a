"""Replaces random ops by stateless ones seeded by the global step, so that resuming is exact.

    reasons = make_repeatable(train_op, global_step=global_step, seed=1)

A stateful random op (dropout has one) counts its draws in the session, which no checkpoint
holds: a resumed run draws other numbers than one that was never stopped. Each is replaced by
a stateless op of the same shape, type, range and device, whose numbers follow from the seed,
the name of the op and the global step. They come from Philox, a counter-based generator (Salmon
et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"). The key differs between ops, the
upper half of the counter between session runs, and the lower half counts the numbers of a draw.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.operations import ASSIGNMENTS, FunctionLibrary, ancestors, redirect

# Where gradients are accumulated, this variable counts the session runs of a global step, with so
# many bits (gradient_transforms/accumulate.py).
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
        """Arguments of an op that takes the state of a generator."""
        counter = tf.stack([tf.zeros_like(self.index), self.index])
        return {
            "key": tf.constant([self.key], tf.uint64),
            "counter": tf.bitcast(counter, tf.uint64),
            "alg": _PHILOX,
        }

    @property
    def seed(self) -> Any:
        """Argument of an op that makes its own generator, int64 `[2]`."""
        return tf.stack([tf.constant(self.key >> 1, tf.int64), self.index])


def _of_shape(draw: Callable[..., Any]) -> Callable[[Any, Stream], Any]:
    """A counterpart whose only inputs are shape and type."""
    return lambda op, stream: draw(shape=op.inputs[0], dtype=op.outputs[0].dtype, **stream.philox)


def _uniform_int(op: Any, stream: Stream) -> Any:
    shape, low, high = op.inputs
    return tf.raw_ops.StatelessRandomUniformIntV2(
        shape=shape, minval=low, maxval=high, **stream.philox
    )


def _gamma(op: Any, stream: Stream) -> Any:
    shape, alpha = op.inputs
    # The stateful op draws `shape` samples of every alpha.
    whole = tf.concat([shape, tf.shape(alpha, out_type=shape.dtype)], axis=0)
    return tf.raw_ops.StatelessRandomGammaV3(shape=whole, alpha=alpha, **stream.philox)


def _poisson(op: Any, stream: Stream) -> Any:
    shape, rate = op.inputs
    whole = tf.concat([shape, tf.shape(rate, out_type=shape.dtype)], axis=0)
    return tf.raw_ops.StatelessRandomPoisson(
        shape=whole, seed=stream.seed, lam=rate, dtype=op.outputs[0].dtype
    )


def _multinomial(op: Any, stream: Stream) -> Any:
    logits, num_samples = op.inputs
    return tf.raw_ops.StatelessMultinomial(
        logits=logits,
        num_samples=num_samples,
        seed=stream.seed,
        output_dtype=op.outputs[0].dtype,
    )


def _shuffle(op: Any, stream: Stream) -> Any:
    return tf.random.experimental.stateless_shuffle(op.inputs[0], stream.seed)


def _parameterized_truncated_normal(op: Any, stream: Stream) -> Any:
    shape, *parameters = op.inputs
    # The stateful op has parameters for each entry of the first dimension, or for all; the
    # stateless one for the last dimension.
    names = ("means", "stddevs", "minvals", "maxvals")
    rows = shape[:1]
    numbers = tf.raw_ops.StatelessParameterizedTruncatedNormal(
        shape=tf.concat([shape[1:], rows], axis=0),
        seed=stream.seed,
        **{
            name: tf.broadcast_to(tf.reshape(each, [-1]), rows)
            for name, each in zip(names, parameters, strict=True)
        },
    )
    last = tf.size(shape) - 1
    return tf.transpose(numbers, tf.concat([[last], tf.range(last)], axis=0))


# Type of a stateful op -> function that makes its stateless counterpart; each has one output.
STATELESS: dict[str, Callable[[Any, Stream], Any]] = {
    "RandomUniform": _of_shape(tf.raw_ops.StatelessRandomUniformV2),
    "RandomUniformInt": _uniform_int,
    "RandomStandardNormal": _of_shape(tf.raw_ops.StatelessRandomNormalV2),
    "TruncatedNormal": _of_shape(tf.raw_ops.StatelessTruncatedNormalV2),
    "RandomGamma": _gamma,
    "RandomPoissonV2": _poisson,
    "Multinomial": _multinomial,
    "RandomShuffle": _shuffle,
    "ParameterizedTruncatedNormal": _parameterized_truncated_normal,
}


def make_repeatable(train_op: Any, *, global_step: Any, seed: int) -> list[str]:
    """Replaces every stateful random op that a step runs by a stateless one.

    Call it when the graph is complete, and before a session has run it. Two ops
    never draw the same numbers, nor does one op in two steps, nor in two runs of
    one step where gradients are accumulated. Initial values do not change.

    Args:
      train_op: the operation, or a tensor of it, that runs a step.
      global_step: the variable.
      seed: any whole number.

    Returns:
      A line `op name: reason` for each random op that could not be replaced.
    """
    graph = train_op.graph
    needed, library = ancestors([train_op]), FunctionLibrary(graph)
    random, reasons = [], []
    for op in needed:
        why = _why_not(op, library)
        if why:
            reasons.append(f"{op.name}: {why}")
        elif op.type in STATELESS:
            random.append(op)
    if random:
        with graph.as_default(), tf.control_dependencies(None):
            index = _index_of_run(global_step, needed)
            for op in random:
                _replace(op, Stream(_key(op, seed), index))
    return reasons


def _why_not(op: Any, library: FunctionLibrary) -> str | None:
    """The reason why an op cannot be replaced; None if it can, or is no random op."""
    if op.type in _PYTHON:
        return f"{op.type} calls Python code, whose state no checkpoint holds"
    for node in library.nodes(op.node_def):
        if node.op in _PYTHON or node.op in STATELESS or _draws(node.op, node.attr):
            return f"{op.type} calls a function with the random op {node.name} ({node.op})"
    if op.type not in STATELESS and _draws(op.type, op.node_def.attr):
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


def _key(op: Any, seed: int) -> int:
    # Two ops may have the same seeds, and those of clones always do, so the name is added.
    own = (op.node_def.attr["seed"].i, op.node_def.attr["seed2"].i)
    # The 0 has no meaning; without it runs that older checkpoints continue would draw others.
    text = f"{seed}/0/{own}/{op.name}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def _index_of_run(global_step: Any, needed: Iterable[Any]) -> Any:
    """The number of this session run, a scalar int64 tensor, read before the run changes it."""
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
    # A copy, because a reference variable is read when its value is used.
    value = tf.add(variable.read_value(), 0)
    for op in _updates(variable):
        # Other updates, such as restoring a checkpoint, may run while the variable has no value.
        if op.name in needed:
            # There is no public way to add a dependency to an existing operation; TensorFlow's
            # own control flow uses this one.
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
            elif op.type in ASSIGNMENTS:
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
