"""The optimizers that canned estimators take: names, optimizers, and functions that return one."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

_CLASSES = {
    "Adagrad": tf.train.AdagradOptimizer,
    "Adam": tf.train.AdamOptimizer,
    "Ftrl": tf.train.FtrlOptimizer,
    "RMSProp": tf.train.RMSPropOptimizer,
    "SGD": tf.train.GradientDescentOptimizer,
}


def get_optimizer_instance(opt: Any, learning_rate: float | None = None) -> Any:
    """Returns an optimizer.

    Args:
      opt: a name such as "Adagrad", an optimizer of tf.train, or a function that returns one.
      learning_rate: the learning rate for a name.

    Raises:
      ValueError: an unknown name, a name without a learning rate, or another object.
    """
    if isinstance(opt, str):
        if opt not in _CLASSES:
            raise ValueError(
                f"Unsupported optimizer name: {opt}. Supported names are: {tuple(sorted(_CLASSES))}"
            )
        if not learning_rate:
            raise ValueError("learning_rate must be specified when opt is string.")
        return _CLASSES[opt](learning_rate=learning_rate)
    if callable(opt):
        opt = opt()
    if not isinstance(opt, tf.train.Optimizer):
        raise ValueError(
            "The given object is not an Optimizer instance: canned estimators take optimizers of "
            f"tf.train. Given: {opt}"
        )
    return opt
