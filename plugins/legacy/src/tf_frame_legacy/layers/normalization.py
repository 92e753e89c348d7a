"""Batch normalisation of tf.layers, on `tf_frame.layers`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.layers.batch_norm import normalize_batch
from tf_frame.layers.sizes import known_dimension
from tf_frame_legacy.layers.base import Function, Layer, as_initializer


class BatchNormalization(Layer):
    """Batch normalisation, https://arxiv.org/abs/1502.03167.

    The updates of the moving statistics are in `UPDATE_OPS`; a train op must run them. Variables:
    `gamma`, `beta`, `moving_mean` and `moving_variance`, each `[channels]`.

    Args:
      axis: the channel axis, an integer or a list of one.
      momentum: weight of the old value in each update of a moving statistic.
      epsilon: added to the variance.
      center, scale: whether to add `beta`, and to multiply by `gamma`.
      beta_initializer, gamma_initializer, moving_mean_initializer,
        moving_variance_initializer: initializers of the variables.
      beta_regularizer, gamma_regularizer: map a variable to a scalar penalty; None: none.
      beta_constraint, gamma_constraint: map the new value of a variable to one that is allowed,
        after each step of an optimizer; None: no constraint.
      renorm, renorm_clipping, adjustment, fused: see `tf_frame.layers.batch_norm`.
      renorm_momentum: its `renorm_decay`.
      trainable: whether `beta` and `gamma` are trained, and the moving statistics updated.
      virtual_batch_size: None.
      name: see `Layer`.

    Raises:
      ValueError: a `virtual_batch_size`, or several axes.
    """

    def __init__(
        self,
        axis: Any = -1,
        momentum: Any = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = tf.zeros_initializer(),  # noqa: B008
        gamma_initializer: Any = tf.ones_initializer(),  # noqa: B008
        moving_mean_initializer: Any = tf.zeros_initializer(),  # noqa: B008
        moving_variance_initializer: Any = tf.ones_initializer(),  # noqa: B008
        beta_regularizer: Function | None = None,
        gamma_regularizer: Function | None = None,
        beta_constraint: Function | None = None,
        gamma_constraint: Function | None = None,
        renorm: bool = False,
        renorm_clipping: Mapping[str, Any] | None = None,
        renorm_momentum: Any = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Callable[[Any], tuple[Any, Any]] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable, name, **kwargs)
        if virtual_batch_size is not None:
            raise ValueError(
                f"virtual_batch_size is {virtual_batch_size}: normalising parts of a batch is not "
                "supported; leave it out, or split the batch over clones"
            )
        self.axis = _single(axis)
        self._fused = fused
        self._constraints = {"beta": beta_constraint, "gamma": gamma_constraint}
        self._arguments = {
            "decay": momentum,
            "epsilon": epsilon,
            "center": center,
            "scale": scale,
            "param_initializers": {
                "beta": as_initializer(beta_initializer),
                "gamma": as_initializer(gamma_initializer),
                "moving_mean": as_initializer(moving_mean_initializer),
                "moving_variance": as_initializer(moving_variance_initializer),
            },
            "param_regularizers": {"beta": beta_regularizer, "gamma": gamma_regularizer},
            "renorm": renorm,
            "renorm_clipping": renorm_clipping,
            "renorm_decay": renorm_momentum,
            "adjustment": adjustment,
        }

    def call(self, inputs: Any, training: Any = False) -> Any:
        """Returns a tensor of the shape of the inputs.

        Args:
          inputs: a tensor of known rank and number of channels.
          training: bool, or scalar bool tensor: whether to use the statistics of the batch.
        """
        known_dimension(inputs.shape, self.axis)
        before = {key: len(tf.get_collection(key)) for key in _COLLECTIONS}
        with (
            # The arg_scope of slim never applied to tf.layers.
            layers.arg_scope({}),
            tf.variable_scope(
                tf.get_variable_scope(), custom_getter=self._variable, auxiliary_name_scope=False
            ),
        ):
            outputs = normalize_batch(
                inputs,
                axis=self.axis % inputs.shape.rank,
                is_training=training if tf.is_tensor(training) else bool(training),
                trainable=self.trainable,
                # The kernel takes images; tf.layers normalised vectors by separate operations.
                fused=False if inputs.shape.rank == 2 else self._fused,
                **self._arguments,
            )
        for key, added_to in zip(_COLLECTIONS, (self.updates, self.losses), strict=True):
            added_to += tf.get_collection(key)[before[key] :]
        return outputs

    def _variable(self, getter: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        """Makes a variable as tf.layers did: with a constraint, and no model variable."""
        short_name = name.rpartition("/")[2]
        collections = [key for key in kwargs["collections"] if key != _MODEL_VARIABLES]
        kwargs.update(collections=collections, constraint=self._constraints.get(short_name))
        variable = getter(name, *args, **kwargs)
        self._own(variable, kwargs["trainable"])
        setattr(self, short_name, variable)
        return variable


_COLLECTIONS = (tf.GraphKeys.UPDATE_OPS, tf.GraphKeys.REGULARIZATION_LOSSES)
_MODEL_VARIABLES = tf.GraphKeys.MODEL_VARIABLES


def batch_normalization(
    inputs: Any,
    axis: Any = -1,
    momentum: Any = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Any = tf.zeros_initializer(),  # noqa: B008
    gamma_initializer: Any = tf.ones_initializer(),  # noqa: B008
    moving_mean_initializer: Any = tf.zeros_initializer(),  # noqa: B008
    moving_variance_initializer: Any = tf.ones_initializer(),  # noqa: B008
    beta_regularizer: Function | None = None,
    gamma_regularizer: Function | None = None,
    beta_constraint: Function | None = None,
    gamma_constraint: Function | None = None,
    training: Any = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
    renorm: bool = False,
    renorm_clipping: Mapping[str, Any] | None = None,
    renorm_momentum: Any = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Callable[[Any], tuple[Any, Any]] | None = None,
) -> Any:
    """Applies a new `BatchNormalization` with these arguments to the inputs.

    `reuse` is whether to reuse the existing variables of the scope `name`.
    """
    arguments = dict(locals())
    for call_argument in ("inputs", "training", "reuse"):
        del arguments[call_argument]
    return BatchNormalization(**arguments, _scope=name, _reuse=reuse)(inputs, training=training)


def _single(axis: Any) -> int:
    axes = list(axis) if isinstance(axis, list | tuple) else [axis]
    if len(axes) != 1:
        raise ValueError(f"axis is {axis}: only one channel axis is supported")
    return int(axes[0])
