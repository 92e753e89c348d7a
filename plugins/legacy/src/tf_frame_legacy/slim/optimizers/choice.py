"""Conversion of the arguments `learning_rate` and `optimizer` of `optimize_loss`.

They may be numbers, tensors, names, classes or functions. Names, accepted types and error messages
are from tf_slim, layers/optimizers.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

OPTIMIZER_CLS_NAMES: dict[str, Callable[..., Any]] = {
    "Adagrad": tf.train.AdagradOptimizer,
    "Adam": tf.train.AdamOptimizer,
    "Ftrl": tf.train.FtrlOptimizer,
    "Momentum": lambda learning_rate: tf.train.MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": tf.train.RMSPropOptimizer,
    "SGD": tf.train.GradientDescentOptimizer,
}


def learning_rate_tensor(learning_rate: Any) -> Any:
    """Converts a learning rate to a scalar tensor or variable; None stays None.

    Raises:
      ValueError: the learning rate is neither a float of 0 or more nor a scalar tensor.
    """
    if learning_rate is None:
        return None
    if isinstance(learning_rate, tf.Tensor) and learning_rate.shape.ndims == 0:
        return learning_rate
    if not isinstance(learning_rate, float):
        raise ValueError(
            "Learning rate should be 0d Tensor or float. "
            f"Got {learning_rate} of type {type(learning_rate)}"
        )
    if learning_rate < 0.0:
        raise ValueError(f"Invalid learning_rate {learning_rate}.")
    start = tf.constant_initializer(learning_rate)
    return tf.get_variable("learning_rate", [], trainable=False, initializer=start)


def decayed(rate: Any, global_step: Any, decay_fn: Callable[[Any, Any], Any]) -> Any:
    """Returns the learning rate at a global step.

    Raises:
      ValueError: there is no global step.
    """
    if global_step is None:
        raise ValueError("global_step is required for learning_rate_decay_fn.")
    return decay_fn(rate, global_step)


def chosen_optimizer(optimizer: Any, rate: Any) -> Any:
    """Returns the optimizer for a name, an optimizer, a class or a function.

    Args:
      optimizer: see `optimize_loss`.
      rate: the learning rate, a scalar or None.

    Raises:
      ValueError: another kind of argument, an unknown name, or a missing learning rate.
    """
    if isinstance(optimizer, tf.train.Optimizer):
        return optimizer
    if isinstance(optimizer, str):
        return _class_named(optimizer, rate)(learning_rate=rate)
    if isinstance(optimizer, type) and issubclass(optimizer, tf.train.Optimizer):
        _require_rate(rate, f"class ({optimizer})")
        return optimizer(learning_rate=rate)
    if callable(optimizer):
        result = optimizer() if rate is None else optimizer(rate)
        if not isinstance(result, tf.train.Optimizer):
            raise ValueError(
                "Unrecognized optimizer: function should return subclass of Optimizer. Got "
                f"{result}."
            )
        return result
    raise ValueError(
        "Unrecognized optimizer: should be string, subclass of Optimizer, instance of "
        f"subclass of Optimizer or function with one argument. Got {optimizer}."
    )


def _class_named(name: str, rate: Any) -> Callable[..., Any]:
    _require_rate(rate, f"string ({name})")
    if name not in OPTIMIZER_CLS_NAMES:
        names = ", ".join(OPTIMIZER_CLS_NAMES)
        raise ValueError(f"Optimizer name should be one of [{names}], you provided {name}.")
    return OPTIMIZER_CLS_NAMES[name]


def _require_rate(rate: Any, kind: str) -> None:
    if rate is None:
        raise ValueError(f"Learning rate is None, but should be specified if optimizer is {kind}.")
