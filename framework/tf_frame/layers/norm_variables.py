"""Variables of the normalisation layers, and the updates of the moving statistics.

Variable names are slim's, so slim's checkpoints load. `is_training` may be a tensor. The updates
need no `tf.cond`: outside of training they run, too, but change nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from tf_frame.layers.conditions import smart_where
from tf_frame.layers.outputs import get_variable_collections
from tf_frame.layers.variables import model_variable

INITIALIZERS = {
    "gamma": tf.ones_initializer(),
    "beta": tf.zeros_initializer(),
    "moving_mean": tf.zeros_initializer(),
    "moving_variance": tf.ones_initializer(),
}


# Collection of the `MovingUpdate`s of a graph. Its name is no string: TensorFlow exports only
# collections that are named by strings.
MOVING_UPDATES = ("tf_frame/moving_updates",)


class MovingUpdate(NamedTuple):
    """The parts of an update by `moving_update`: `old -= rate * (old - new)`.

    Attributes:
      op: assigns to the variable; its input 1 is the difference.
      old, new, rate: tensors, all of the variable's type.
      weight: `decay` and `is_training`, which give the rate.
    """

    op: Any
    old: Any
    new: Any
    rate: Any
    weight: tuple[Any, Any]


class BatchNormVariables(NamedTuple):
    """The variables of one batch normalisation layer.

    Attributes:
      beta, gamma: trained offset and factor, `[channels]`; None if unused.
      moving_mean, moving_variance: statistics that inference uses, `[channels]`.
    """

    beta: Any
    gamma: Any
    moving_mean: Any
    moving_variance: Any

    def read_moving(self) -> tuple[Any, Any]:
        """Returns tensors of the moving mean and the moving variance."""
        return tf.convert_to_tensor(self.moving_mean), tf.convert_to_tensor(self.moving_variance)


def beta_and_gamma(
    shape: Any,
    dtype: Any,
    *,
    center: bool,
    scale: bool,
    trainable: bool,
    initializers: Mapping[str, Any] | None = None,
    regularizers: Mapping[str, Any] | None = None,
    collections: Any = None,
    gamma_first: bool = False,
) -> tuple[Any, Any]:
    """Gets or creates offset and factor in the current variable scope.

    Args:
      shape, dtype: shape and type of both variables.
      center, scale: whether the layer has a beta, and a gamma; None replaces a missing one.
      trainable: whether the variables are trained.
      initializers: "beta" and "gamma" -> initializer; zeros and ones by default.
      regularizers: "beta" and "gamma" -> regularizer.
      collections: list of collections, or variable name -> list of collections.
      gamma_first: whether gamma is created before beta.
    """

    def make(name: str) -> Any:
        return model_variable(
            name,
            shape,
            dtype,
            initializer=(initializers or {}).get(name, INITIALIZERS[name]),
            regularizer=(regularizers or {}).get(name),
            trainable=trainable,
            collections=get_variable_collections(collections, name),
        )

    used = {"beta": center, "gamma": scale}
    variables = {name: make(name) for name in sorted(used, reverse=gamma_first) if used[name]}
    return variables.get("beta"), variables.get("gamma")


def batch_norm_variables(
    channels: int,
    dtype: Any,
    *,
    initializers: Mapping[str, Any] | None = None,
    collections: Any = None,
    **factors: Any,
) -> BatchNormVariables:
    """Gets or creates the variables of a batch normalisation layer, `[channels]`.

    See `beta_and_gamma` for the other arguments.
    """
    beta, gamma = beta_and_gamma(
        [channels], dtype, initializers=initializers, collections=collections, **factors
    )
    mean, variance = (
        moving_variable(
            name,
            [channels],
            dtype,
            (initializers or {}).get(name, INITIALIZERS[name]),
            get_variable_collections(collections, name),
        )
        for name in ("moving_mean", "moving_variance")
    )
    return BatchNormVariables(beta, gamma, mean, variance)


def moving_variable(
    name: str, shape: Any, dtype: Any, initializer: Any, collections: Any = None
) -> Any:
    """Gets or creates an untrained variable, in one piece, in the current variable scope."""
    with _unpartitioned():
        return model_variable(
            name, shape, dtype, initializer=initializer, trainable=False, collections=collections
        )


def moving_update(variable: Any, value: Any, decay: Any, is_training: Any) -> Any:
    """Moves a variable, in training only, by `variable -= (1 - decay) * (variable - value)`.

    The collection `MOVING_UPDATES` has the parts of the update: a training graph may compute the
    differences of many variables together.

    Returns:
      The variable after the update, which reads it as a tensor; its `op` is the update.
    """
    with tf.name_scope("AssignMovingAvg") as name:
        new = tf.cast(value, variable.dtype.base_dtype)
        old = tf.convert_to_tensor(variable)
        difference = old - new
        rate = _rate(variable, decay, is_training)
        updated = variable.assign_sub(difference * rate, name=name)
    parts = MovingUpdate(updated.op, old, new, rate, (decay, is_training))
    tf.add_to_collection(MOVING_UPDATES, parts)
    return updated


def unbiased_update(
    variable: Any, value: Any, decay: Any, is_training: Any, *, in_model: bool
) -> Any:
    """Moves a variable like `moving_update`, corrected for its initial value of 0.

    The variable `biased` holds the uncorrected average; divided by `1 - decay ** local_step` it is
    the weighted mean of the values so far (Kingma and Ba, https://arxiv.org/abs/1412.6980,
    section 3). TensorFlow's names repeat the scope: `BatchNorm/BatchNorm/moving_mean/biased`.

    The two variables belong to `MODEL_VARIABLES` if they are `in_model`.
    """
    dtype = variable.dtype.base_dtype
    make = model_variable if in_model else tf.get_variable
    with _unpartitioned(), tf.variable_scope(variable.op.name):
        biased, steps = (
            make(name, shape, dtype, tf.zeros_initializer(), trainable=False)
            for name, shape in (("biased", variable.shape), ("local_step", []))
        )
    with tf.name_scope("AssignMovingAvg") as name:
        rate = _rate(variable, decay, is_training)
        # Added, not assigned: the updates of several batches may run at the same time.
        average = biased.assign_sub((biased - tf.cast(value, dtype)) * rate)
        new_steps = steps.assign_add(tf.cast(is_training, dtype))
        mean = average / (1 - tf.pow(1 - rate, new_steps))
        # Before the first training step the quotient is 0 / 0.
        mean = smart_where(is_training, mean, tf.convert_to_tensor(variable))
        return variable.assign(mean, name=name)


@contextlib.contextmanager
def _unpartitioned() -> Iterator[None]:
    """Creates variables in one piece: the updates do not support partitions."""
    with tf.variable_scope(tf.get_variable_scope(), auxiliary_name_scope=False) as scope:
        scope.set_partitioner(None)
        yield


def _rate(variable: Any, decay: Any, is_training: Any) -> Any:
    """Returns the weight of the new value: `1 - decay`, or 0 without training."""
    rate = tf.cast(1.0 - decay, variable.dtype.base_dtype)
    return smart_where(is_training, rate, tf.zeros_like(rate))
