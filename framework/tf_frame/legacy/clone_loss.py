"""The loss of one clone, and the summaries that slim's model_deploy makes on the way."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.clones import Clone
from tf_frame.gradient_transforms.values import values_of

logger = logging.getLogger("tf_frame")


def gather_clone_loss(
    clone: Clone, num_clones: int, regularization_losses: Sequence[Any] | None
) -> Any:
    """Adds up what one clone minimises; call it in the clone's name scope.

    Args:
      clone: its losses are those of `tf.GraphKeys.LOSSES` in its scope.
      num_clones: what their sum is divided by.
      regularization_losses: scalars, added in full.

    Returns:
      A scalar, or None if there are no losses at all.
    """
    with tf.device(clone.device):
        loss = _data_loss(clone, num_clones)
        penalty = None
        if regularization_losses:
            penalty = tf.add_n(regularization_losses, name="regularization_loss")
        present = [part for part in (loss, penalty) if part is not None]
        total = tf.add_n(present) if present else None
    # Outside of the clone's device, which may have no kernel for summaries.
    if loss is not None:
        tf.summary.scalar("/".join(filter(None, ["Losses", clone.scope, "clone_loss"])), loss)
    if penalty is not None:
        tf.summary.scalar("Losses/regularization_loss", penalty)
    return total


def _data_loss(clone: Clone, num_clones: int) -> Any:
    collected = tf.get_collection(tf.GraphKeys.LOSSES, clone.scope)
    if not collected:
        return None
    loss = tf.add_n(collected, name="clone_loss")
    return loss if num_clones == 1 else tf.divide(loss, num_clones, name="scaled_clone_loss")


def gradient_summaries(grads_and_vars: Iterable[tuple[Any, Any]]) -> list[Any]:
    """Histograms `VARIABLE_gradient` and `VARIABLE_gradient_norm`; of sparse gradients, the slices.

    model_deploy wrote `VARIABLE:gradient`, which TensorFlow turns into these tags.
    """
    summaries = []
    for gradient, variable in grads_and_vars:
        name = variable.op.name
        if gradient is None:
            logger.info("Var %s has no gradient", name)
            continue
        values = values_of(gradient)
        norm = tf.global_norm([values])
        summaries.append(tf.summary.histogram(f"{name}_gradient", values))
        summaries.append(tf.summary.histogram(f"{name}_gradient_norm", norm))
    return summaries
