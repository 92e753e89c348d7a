"""Distributions of `tf.contrib.distributions` that TensorFlow no longer has.

`tf.distributions` of TensorFlow has those of single numbers.
"""

from __future__ import annotations

import math
from typing import Any

import tensorflow.compat.v1 as tf

_FULLY = tf.distributions.FULLY_REPARAMETERIZED


class MultivariateNormalDiag(tf.distributions.Distribution):  # type: ignore[misc]
    """A normal distribution of vectors with independent elements.

    A vector is `loc + scale * z`, with z of the standard normal distribution and the scale
    `scale_diag + scale_identity_multiplier`, or 1 if neither is given.

    Args:
      loc: `[..., k]`, the mean; None: 0.
      scale_diag: `[..., k]`; its elements may be negative, not 0.
      scale_identity_multiplier: `[...]`, a number for each distribution.
      validate_args: whether the session refuses a scale with zeros.
      allow_nan_stats: for `tf.distributions.Distribution`.
      name: name scope of the operations.

    Raises:
      ValueError: neither `loc` nor `scale_diag` is given, so that k is unknown.
    """

    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ) -> None:
        given = [loc, scale_diag, scale_identity_multiplier]
        if loc is None and scale_diag is None:
            raise ValueError("Cannot infer the size of vectors unless loc or scale_diag is given.")
        with tf.name_scope(name, values=given) as scope:
            tensors = [value if value is None else tf.convert_to_tensor(value) for value in given]
            self._loc, diagonal, multiplier = tensors
            self._scale = _scale(self._loc, diagonal, multiplier)
            if validate_args:
                is_regular = tf.debugging.assert_none_equal(
                    self._scale, tf.zeros([], self._scale.dtype), message="scale has zeros"
                )
                with tf.control_dependencies([is_regular]):
                    self._scale = tf.identity(self._scale)
        super().__init__(
            dtype=self._scale.dtype,
            reparameterization_type=_FULLY,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters={
                "loc": loc,
                "scale_diag": scale_diag,
                "scale_identity_multiplier": scale_identity_multiplier,
                "validate_args": validate_args,
                "allow_nan_stats": allow_nan_stats,
                "name": name,
            },
            graph_parents=[tensor for tensor in (self._loc, self._scale) if tensor is not None],
            name=scope,
        )

    @property
    def loc(self) -> Any:
        """The mean as it was given; None: 0."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The scale as a `LinearOperatorDiag`."""
        return tf.linalg.LinearOperatorDiag(self._scale)

    def _full_shape(self) -> Any:
        scale = tf.shape(self._scale)
        return (
            scale if self._loc is None else tf.broadcast_dynamic_shape(tf.shape(self._loc), scale)
        )

    def _static_shape(self) -> tf.TensorShape:
        if self._loc is None:
            return self._scale.shape
        return tf.broadcast_static_shape(self._loc.shape, self._scale.shape)

    def _batch_shape_tensor(self) -> Any:
        return self._full_shape()[:-1]

    def _batch_shape(self) -> tf.TensorShape:
        return self._static_shape()[:-1]

    def _event_shape_tensor(self) -> Any:
        return self._full_shape()[-1:]

    def _event_shape(self) -> tf.TensorShape:
        return self._static_shape()[-1:]

    def _sample_n(self, n: Any, seed: Any = None) -> Any:
        shape = tf.concat([[n], self._full_shape()], 0)
        noise = tf.random_normal(shape, dtype=self.dtype, seed=seed)
        return self._mean() + self._scale * noise

    def _log_prob(self, x: Any) -> Any:
        deviation = (x - self._mean()) / self._scale
        terms = deviation**2 + math.log(2 * math.pi)
        return -0.5 * tf.reduce_sum(terms, -1) - self._log_determinant()

    def _prob(self, x: Any) -> Any:
        return tf.exp(self._log_prob(x))

    def _log_determinant(self) -> Any:
        return tf.reduce_sum(tf.log(tf.abs(self._scale)), -1)

    def _entropy(self) -> Any:
        terms = tf.log(tf.abs(self._scale)) + 0.5 * (1 + math.log(2 * math.pi))
        return tf.reduce_sum(terms + tf.zeros(self._full_shape(), self.dtype), -1)

    def _mean(self) -> Any:
        zeros = tf.zeros(self._full_shape(), self.dtype)
        return zeros if self._loc is None else self._loc + zeros

    def _mode(self) -> Any:
        return self._mean()

    # As in TensorFlow 1, the figures of the scale do not have the batches of `loc`.
    def _variance(self) -> Any:
        return tf.square(self._scale)

    def _stddev(self) -> Any:
        return tf.abs(self._scale)

    def _covariance(self) -> Any:
        return tf.linalg.diag(tf.square(self._scale))


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """A `MultivariateNormalDiag` with the standard deviations `softplus(scale_diag)`."""

    def __init__(
        self,
        loc: Any,
        scale_diag: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagWithSoftplusScale",
    ) -> None:
        super().__init__(
            loc,
            tf.nn.softplus(scale_diag),
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            name=name,
        )


@tf.distributions.RegisterKL(MultivariateNormalDiag, MultivariateNormalDiag)  # type: ignore[untyped-decorator]
def _divergence(a: Any, b: Any, name: str | None = None) -> Any:
    """Returns KL(a || b) of each pair, from the closed form for diagonal covariances."""
    with tf.name_scope(name, "kl_mvn"):
        ratio = tf.square(a.stddev() / b.stddev())
        distance = tf.square((b.mean() - a.mean()) / b.stddev())
        return 0.5 * tf.reduce_sum(ratio + distance - 1 - tf.log(ratio), -1)


def _scale(loc: Any, diagonal: Any, multiplier: Any) -> Any:
    """Returns the scale `[..., k]`, without the batches of `loc`."""
    if diagonal is None:
        size = loc.shape[-1:] if loc.shape.rank else tf.TensorShape([None])
        shape = size if size.is_fully_defined() else tf.shape(loc)[-1:]
        diagonal = tf.fill(shape, tf.cast(1 if multiplier is None else 0, loc.dtype))
    return diagonal if multiplier is None else diagonal + multiplier[..., tf.newaxis]
