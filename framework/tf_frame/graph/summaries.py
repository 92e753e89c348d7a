"""Summaries of the training graph: those of the first clone, and the totals."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.graph.losses import Losses


def merge(first_clone_scope: str, losses: Losses, learning_rate: Any) -> Any:
    """Merges the first clone's summaries with losses and learning rate.

    Returns:
      A scalar string tensor, a serialised `Summary`.
    """
    kept = tf.get_collection(tf.GraphKeys.SUMMARIES, first_clone_scope)
    with tf.device("/device:CPU:0"):
        kept += [
            tf.summary.scalar("losses/total", losses.total),
            tf.summary.scalar("losses/data", losses.data),
            tf.summary.scalar("optimizer/learning_rate", learning_rate),
        ]
        if losses.regularization is not None:
            kept.append(tf.summary.scalar("losses/regularization", losses.regularization))
        return tf.summary.merge(kept, name="summary_op")
