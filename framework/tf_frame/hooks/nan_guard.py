"""Ends training at a loss that is not finite, so that the last good checkpoint stays (`--on_nan`).

The loss is checked in every step, and a bad step is never saved. `NanTensorHook` is
TensorFlow's, for scripts that use it: it lets an infinite loss pass.
"""

from __future__ import annotations

import logging
import math
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import NonFiniteError
from tf_frame.hooks.base import Hook, Phase

_LOG = logging.getLogger("tf_frame")
_MESSAGE = "Model diverged with loss = NaN."


class NanGuardHook(Hook):
    """Ends training at a loss that is NaN or infinite, before a later hook could save the step.

    Args:
      loss: scalar tensor to watch.
      on_nan: `raise`, or `stop`, which logs the reason and ends the session without
        an error. The variables must not be saved then: hooks that save check `diverged`.

    Attributes:
      diverged: whether a loss of this session was not finite.

    Raises:
      NonFiniteError: in this step, for `raise`.
      ValueError: another value of `on_nan`.
    """

    phase = Phase.CHECK

    def __init__(self, loss: Any, *, on_nan: str = "raise") -> None:
        if on_nan not in ("raise", "stop"):
            raise ValueError(f"on_nan is {on_nan!r}; it must be raise or stop")
        super().__init__()
        self.watched = loss
        self.diverged = False
        self._raise = on_nan == "raise"

    def start(self, session: Any, step: int) -> None:
        super().start(session, step)
        self.diverged = False  # The variables have been restored from a checkpoint.

    def not_finite(self, run_context: Any, value: float, step: int) -> None:
        self.diverged = True
        message = (
            f"the loss is {value} at global step {step} (tensor {self.watched.op.name}); the step "
            "was not saved. Lower --learning_rate, look for a division or log of zero, or "
            "name the gradient with --transform check_finite"
        )
        if self._raise:
            raise NonFiniteError(message)
        _LOG.error("training stops: %s", message)
        run_context.request_stop()


class NanTensorHook(Hook):
    """Ends training at a loss that is NaN, but not at an infinite loss.

    Arguments, errors and lines are those of `tf.compat.v1.train.NanTensorHook`.

    Args:
      loss_tensor: tensor with one element.
      fail_on_nan_loss: whether to raise; otherwise the hook requests a stop.

    Raises:
      tf.compat.v1.train.NanLossDuringTrainingError: in the step with the NaN.
    """

    phase = Phase.CHECK

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True) -> None:
        super().__init__()
        self._fail_on_nan_loss = fail_on_nan_loss
        self.watched = scalar(loss_tensor)

    def not_finite(self, run_context: Any, value: float, step: int) -> None:
        if not math.isnan(value):
            return
        if self._fail_on_nan_loss:
            tf.logging.error(_MESSAGE)
            raise tf.train.NanLossDuringTrainingError
        tf.logging.warning(_MESSAGE)
        run_context.request_stop()


def scalar(tensor: Any) -> Any:
    """Returns a tensor with one element as a scalar, reshaped if necessary.

    Args:
      tensor: tensor with one element, or its name in the default graph.
    """
    if isinstance(tensor, str):
        tensor = tf.get_default_graph().get_tensor_by_name(tensor)
    if tensor.shape.rank in (None, 0):
        return tensor
    with tensor.graph.as_default(), tf.device(None):
        return tf.reshape(tensor, [])
