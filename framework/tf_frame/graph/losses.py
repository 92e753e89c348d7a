"""From the losses of the clones to the one number that is minimised.

The total is the mean of the clones' data losses plus the regularisation
losses, once and in full, as slim's model_deploy has it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.clones import Clone
from tf_frame.errors import TfFrameError
from tf_frame.graph.model_output import scalar_loss


@dataclasses.dataclass(frozen=True)
class Losses:
    """The losses of a training graph, all scalars.

    Attributes:
      per_clone: what each clone differentiates: its data loss over the number
        of clones, and for the first clone the regularisation as well.
      data: mean of the clones' data losses.
      regularization: sum of the regularisation losses, None without any.
      total: data plus regularisation.
    """

    per_clone: Sequence[Any]
    data: Any
    regularization: Any
    total: Any


def gather_losses(clones: Sequence[Clone]) -> Losses:
    """Collects and combines the losses of the clones.

    Raises:
      TfFrameError: a clone has no loss, or one that is not a scalar.
    """
    scaled = [_data_loss(clone, len(clones)) for clone in clones]
    regularization = _regularization_loss(clones[0])
    data = scaled[0] if len(scaled) == 1 else tf.add_n(scaled, name="data_loss")
    if regularization is None:
        return Losses(scaled, data, None, tf.identity(data, name="total_loss"))
    first = tf.add(scaled[0], regularization)
    total = tf.add(data, regularization, name="total_loss")
    return Losses([first, *scaled[1:]], data, regularization, total)


def collected_losses(scope: str = "") -> list[Any]:
    """The scalars in `tf.GraphKeys.LOSSES` that were added in a scope."""
    losses = tf.get_collection(tf.GraphKeys.LOSSES, scope)
    return [scalar_loss(loss, "the model in tf.GraphKeys.LOSSES") for loss in losses]


def _data_loss(clone: Clone, num_clones: int) -> Any:
    loss = clone.outputs.loss
    with tf.device(clone.device), tf.name_scope(clone.scope):
        if loss is None:
            collected = collected_losses(clone.scope)
            if not collected:
                raise TfFrameError(_no_loss(clone))
            loss = tf.add_n(collected, name="clone_loss")
        return loss if num_clones == 1 else tf.divide(loss, num_clones, name="scaled_clone_loss")


def _regularization_loss(first: Clone) -> Any:
    collected = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    if not collected:
        return None
    with tf.device(first.device), tf.name_scope(first.scope):
        return tf.add_n(collected, name="regularization_loss")


def _no_loss(clone: Clone) -> str:
    return (
        f"the model gave no loss in clone scope {clone.scope!r}; return ModelOutput(loss=...) "
        "from build(), or add losses to tf.GraphKeys.LOSSES (tf.compat.v1.losses does)"
    )
