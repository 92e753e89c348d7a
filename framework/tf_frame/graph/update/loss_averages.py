"""Losses averaged over the steps, for curves that can be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf


def loss_averages(losses: Mapping[str, Any], *, decay: float) -> tuple[Any, list[Any]]:
    """Keeps an exponential moving average of each loss over the steps.

    As in research/inception/inception_distributed_train.py, the averages are
    variables called `<operation of the loss>/avg` that begin at 0, without a
    correction for it: at a decay of 0.9 they read too low for some twenty steps.
    There they are saved with the model. Here they are local variables, begin
    again with every session, and a checkpoint fits with and without them.

    Args:
      losses: name -> scalar tensor; the total among them.
      decay: share of an average that a step keeps, such as 0.9.

    Returns:
      The operation that must run in every step, and two scalar summaries per
      loss: `<name> (raw)` and, of the average with this step in it, `<name>`.
      These are in no collection, and belong in a run of the step: the
      averages move in every run that evaluates one of them.
    """
    average = tf.train.ExponentialMovingAverage(decay, name="avg")
    # One that has two names must not move twice.
    unique = list({loss.ref(): loss for loss in losses.values()}.values())
    with tf.variable_creator_scope(_create_local):
        moved = average.apply(unique)
    summaries = []
    with tf.control_dependencies([moved]):
        for name, loss in losses.items():
            # tf.summary.scalar would make `name__raw_` of the tag.
            summaries.append(tf.raw_ops.ScalarSummary(tags=f"{name} (raw)", values=loss))
            value = average.average(loss).read_value()
            summaries.append(tf.raw_ops.ScalarSummary(tags=name, values=value))
    return moved, summaries


def _create_local(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
    return next_creator(**{**kwargs, "collections": [tf.GraphKeys.LOCAL_VARIABLES]})
