"""Losses averaged over the steps, for curves that can be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow.compat.v1 as tf


def loss_averages(losses: Mapping[str, Any], *, decay: float) -> tuple[Any, list[Any]]:
    """Keeps an exponential moving average of each loss over the steps.

    As in research/inception/inception_distributed_train.py, the averages are
    variables called `<operation of the loss>/avg` that begin at 0 without a
    correction: at a decay of 0.9 the first twenty steps or so read too low.
    There they are saved with the model; here they are local to the process, so
    that a checkpoint fits whether losses are averaged or not.

    Args:
      losses: name -> scalar tensor; the total among them.
      decay: share of an average that a step keeps, such as 0.9.

    Returns:
      The operation that must run in every step, and two scalar summaries per
      loss: `<name> (raw)` and, of the average including this step, `<name>`.
      They are in no collection, and take a step's run to be evaluated in: the
      average moves whenever one of them is.
    """
    averages = {name: _average(loss, decay) for name, loss in losses.items()}
    summaries = []
    with tf.device("/device:CPU:0"):
        for name, loss in losses.items():
            # tf.summary.scalar would write `name__raw_`.
            summaries.append(tf.raw_ops.ScalarSummary(tags=f"{name} (raw)", values=loss))
            summaries.append(tf.raw_ops.ScalarSummary(tags=name, values=averages[name]))
    return tf.group(*averages.values(), name="loss_averages"), summaries


def _average(loss: Any, decay: float) -> Any:
    """The average of a loss once this step is in it."""
    raise NotImplementedError
