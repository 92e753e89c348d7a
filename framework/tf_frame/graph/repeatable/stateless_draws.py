"""Stateless ops that draw from the same distributions as the stateful ones.

Numbers come from Philox, a counter-based generator (Salmon et al. 2011, "Parallel random
numbers: as easy as 1, 2, 3"). The key differs between ops, the upper half of the counter between
session runs, and the lower half counts the numbers of a draw.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

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
