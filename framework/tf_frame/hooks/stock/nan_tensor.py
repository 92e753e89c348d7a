"""`NanTensorHook` of TensorFlow: ends training at a loss that is NaN."""

from __future__ import annotations

import math
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.hooks.base import Hook, Phase
from tf_frame.types import Tensor

_MESSAGE = "Model diverged with loss = NaN."


class NanTensorHook(Hook):
    """Ends training at a loss that is NaN, but not at an infinite loss.

    Arguments, errors and lines follow `tf.compat.v1.train.NanTensorHook`.

    Args:
      loss_tensor: tensor with one element.
      fail_on_nan_loss: whether to raise; otherwise the hook requests a stop.

    Raises:
      tf.compat.v1.train.NanLossDuringTrainingError: in the step with the NaN.
    """

    phase = Phase.CHECK

    def __init__(self, loss_tensor: Tensor, fail_on_nan_loss: bool = True) -> None:
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


def scalar(tensor: Tensor) -> Tensor:
    """Returns a tensor with one element, or of this name, as a scalar, reshaped if necessary."""
    if isinstance(tensor, str):
        tensor = tf.get_default_graph().get_tensor_by_name(tensor)
    if tensor.shape.rank in (None, 0):
        return tensor
    with tensor.graph.as_default(), tf.device(None):
        return tf.reshape(tensor, [])
