"""`Saver` of programs with eager execution, the variables of an optimizer, and devices."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf
from tensorflow.python.eager import context


class Saver:
    """Writes and restores variables by name, without a session.

    Args:
      var_list: the variables, or name -> variable.

    Raises:
      RuntimeError: eager execution is not enabled.
    """

    def __init__(self, var_list: Any) -> None:
        if not tf.executing_eagerly():
            raise RuntimeError(
                "tf.contrib.eager.Saver needs eager execution; in graphs use tf.train.Saver"
            )
        self._saver = tf.train.Saver(var_list)

    def save(self, file_prefix: str, global_step: Any = None) -> str:
        """Writes a checkpoint; returns its prefix, which ends with the step if there is one."""
        step = global_step.numpy() if hasattr(global_step, "numpy") else global_step
        return str(self._saver.save(None, file_prefix, step, write_meta_graph=False))

    def restore(self, file_prefix: str) -> None:
        """Restores the variables."""
        self._saver.restore(None, file_prefix)


def get_optimizer_variables(optimizer: tf.train.Optimizer) -> list[Any]:
    """Returns the variables of an optimizer that has applied gradients."""
    return list(optimizer.variables())


def list_devices() -> list[str]:
    """Returns the names of the devices."""
    context.ensure_initialized()
    return list(context.context().devices())
