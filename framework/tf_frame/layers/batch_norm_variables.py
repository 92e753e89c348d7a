"""The variables of batch normalisation, and the updates of the moving ones."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame.layers.conditions import smart_where
from tf_frame.layers.outputs import get_variable_collections
from tf_frame.layers.variables import model_variable


class Parameters(NamedTuple):
    """The variables of one layer.

    Attributes:
      gamma, beta: trained factor and offset, `[channels]`; None where not used.
      moving_mean, moving_variance: what inference normalises by, `[channels]`.
      initializers: of the variables, by name.
    """

    gamma: Any
    beta: Any
    moving_mean: Any
    moving_variance: Any
    initializers: Mapping[str, Any]

    def read_moving(self) -> tuple[Any, Any]:
        """Tensors of the moving mean and variance."""
        return tf.convert_to_tensor(self.moving_mean), tf.convert_to_tensor(self.moving_variance)


def make_parameters(
    channels: int,
    dtype: Any,
    *,
    factors: Sequence[str],
    initializers: Mapping[str, Any],
    regularizers: Mapping[str, Any],
    collections: Any,
    trainable: bool,
) -> Parameters:
    """Gets or creates the variables in the current variable scope.

    Args:
      channels: their number.
      dtype: type of the variables.
      factors: "gamma" and "beta", as far as they are used, in the order of creation.
      initializers: by name, where not the usual ones.
      regularizers: by name, of gamma and beta.
      collections: list of collections, or a dictionary of such lists.
      trainable: whether gamma and beta are trained.
    """
    initializers = {**_INITIALIZERS, **initializers}

    def make(name: str, *, trained: bool) -> Any:
        return model_variable(
            name,
            [channels],
            dtype,
            initializer=initializers[name],
            regularizer=regularizers.get(name) if trained else None,
            trainable=trained and trainable,
            collections=get_variable_collections(collections, name),
        )

    made = {name: make(name, trained=True) for name in factors}
    with _unpartitioned():
        moving_mean = make("moving_mean", trained=False)
        moving_variance = make("moving_variance", trained=False)
    return Parameters(
        made.get("gamma"), made.get("beta"), moving_mean, moving_variance, initializers
    )


def moving_variable(name: str, like: Any, initializer: Any) -> Any:
    """Gets or creates one more moving variable.

    Args:
      name: its name.
      like: a variable of the same shape and type.
      initializer: makes its first value.
    """
    with _unpartitioned():
        return model_variable(
            name, like.shape, like.dtype.base_dtype, initializer=initializer, trainable=False
        )


def moving_update(variable: Any, value: Any, decay: Any, is_training: Any) -> Any:
    """Moves a variable towards a value: `variable -= (1 - decay) * (variable - value)`.

    Args:
      variable: the variable.
      value: a tensor of its shape.
      decay: how much of the variable is kept.
      is_training: bool or scalar bool tensor; without training nothing moves.

    Returns:
      The operation.
    """
    with tf.name_scope("AssignMovingAvg") as name:
        step = (variable - tf.cast(value, variable.dtype.base_dtype)) * _rate(
            variable, decay, is_training
        )
        return variable.assign_sub(step, name=name, read_value=False)


def unbiased_update(variable: Any, value: Any, decay: Any, is_training: Any) -> Any:
    """Like `moving_update`, but the start at 0 does not count.

    What has been moved from 0 on is kept in the variable `biased`; divided by `1 -
    decay ** local_step` it is the mean of the values so far. Source: Kingma and Ba,
    https://arxiv.org/abs/1412.6980, section 3; the names are TensorFlow's, which
    repeat the scope: `BatchNorm/BatchNorm/moving_mean/biased`.
    """
    dtype = variable.dtype.base_dtype
    with _unpartitioned(), tf.variable_scope(variable.op.name):
        biased, steps = (
            tf.get_variable(name, shape, dtype, tf.zeros_initializer(), trainable=False)
            for name, shape in (("biased", variable.shape), ("local_step", []))
        )
    with tf.name_scope("AssignMovingAvg") as name:
        rate = _rate(variable, decay, is_training)
        new_biased = biased - (biased - tf.cast(value, dtype)) * rate
        new_steps = steps + tf.cast(is_training, dtype)
        mean = new_biased / (1 - tf.pow(1 - rate, new_steps))
        # Steps that do not train may come first; the mean is of no value then.
        mean = smart_where(is_training, mean, tf.convert_to_tensor(variable))
        return tf.group(
            biased.assign(new_biased, read_value=False),
            steps.assign(new_steps, read_value=False),
            variable.assign(mean, read_value=False),
            name=name,
        )


_INITIALIZERS = {
    "gamma": tf.ones_initializer(),
    "beta": tf.zeros_initializer(),
    "moving_mean": tf.zeros_initializer(),
    "moving_variance": tf.ones_initializer(),
}


@contextlib.contextmanager
def _unpartitioned() -> Iterator[None]:
    """Variables within are made in one piece: updates in parts are not worth their names."""
    with tf.variable_scope(tf.get_variable_scope(), auxiliary_name_scope=False) as scope:
        scope.set_partitioner(None)
        yield


def _rate(variable: Any, decay: Any, is_training: Any) -> Any:
    """How far to move: `1 - decay`, or 0 without training."""
    rate = tf.cast(1.0 - decay, variable.dtype.base_dtype)
    return smart_where(is_training, rate, tf.zeros_like(rate))
