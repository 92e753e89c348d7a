"""Summaries of gradients: how large they are, and how they are spread."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf

logger = logging.getLogger("tf_frame")


def gradient_summaries(grads_and_vars: Iterable[tuple[Any, Any]]) -> list[Any]:
    """Summarises each gradient, and the norm of all of them together.

    Tags: the histogram `gradients/VARIABLE` of the elements that are finite (a
    histogram of others ends the run), and the L2 norms
    `gradient_norms/VARIABLE` and `gradient_norms/global`. Of sparse gradients
    the slices count. A variable without gradient gets a line of log, as from
    `add_gradients_summaries` of tf_slim (training/training.py).

    Args:
      grads_and_vars: pairs.

    Returns:
      Scalar string tensors, to be merged; they are in no collection.
    """
    summaries, norms = [], []
    with tf.name_scope(None), tf.device("/device:CPU:0"):
        for gradient, variable in grads_and_vars:
            name = variable.op.name
            if gradient is None:
                logger.info("Var %s has no gradient", name)
                continue
            values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
            norms.append(_norm(values))
            finite = tf.boolean_mask(values, tf.math.is_finite(values))
            summaries.append(tf.summary.histogram(f"gradients/{name}", finite, collections=[]))
            summaries.append(_scalar(f"gradient_norms/{name}", norms[-1]))
        if norms:
            summaries.append(_scalar("gradient_norms/global", tf.norm(tf.stack(norms))))
    return summaries


def _norm(values: Any) -> Any:
    return tf.norm(tf.cast(values, tf.float32))


def _scalar(tag: str, value: Any) -> Any:
    return tf.summary.scalar(tag, value, collections=[])
