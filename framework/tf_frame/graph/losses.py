"""From the losses of the clones to the one number that is minimised.

By default the total is the mean of the clones' data losses plus the
regularisation losses, once and in full, as slim's model_deploy has it
(research/slim/deployment/model_deploy.py). DeepLab's trainer with towers
(research/deeplab/train.py, 2019) averages the gradients of the towers, of
which only the first has the regularisation, and reports the sum of all losses:
that is `regularization="scaled", total="sum"`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.clones import Clone
from tf_frame.errors import ConfigError, TfFrameError
from tf_frame.graph.model_output import scalar_loss


@dataclasses.dataclass(frozen=True)
class Losses:
    """The losses of a training graph, all scalars.

    Attributes:
      per_clone: what each clone differentiates: its data loss over the number
        of clones, and for the first clone the regularisation as well.
      data: mean, or sum, of the clones' data losses.
      regularization: sum of the regularisation losses, None without any.
      total: data plus regularisation, what is reported.
    """

    per_clone: Sequence[Any]
    data: Any
    regularization: Any
    total: Any

    def by_name(self) -> dict[str, Any]:
        """The losses by their names in summaries."""
        named = {"total": self.total, "data": self.data, "regularization": self.regularization}
        return {f"losses/{name}": loss for name, loss in named.items() if loss is not None}


def gather_losses(
    clones: Sequence[Clone],
    *,
    regularization: str = "full",
    total: str = "mean",
    regularization_losses: Sequence[Any] | None = None,
) -> Losses:
    """Collects and combines the losses of the clones.

    Args:
      clones: the clones.
      regularization: weight of the regularisation losses in the gradient: "full" for 1,
        "scaled" for one over the number of clones, "none" for no regularisation at all.
      total: how the clones' data losses add up in what is reported, "mean" or
        "sum"; the gradient is that of the mean. A regularisation that is not
        "none" is reported in full.
      regularization_losses: scalars; None means `tf.GraphKeys.REGULARIZATION_LOSSES`.

    Raises:
      ConfigError: `regularization` or `total` is none of these words.
      TfFrameError: a clone has no loss, or one that is not a scalar.
    """
    _check_choice("regularization", regularization, ("full", "scaled", "none"))
    _check_choice("total", total, ("mean", "sum"))
    whole = [_data_loss(clone) for clone in clones]
    scaled = [_scaled(loss, clone, len(clones)) for loss, clone in zip(whole, clones, strict=True)]
    data = _sum(scaled if total == "mean" else whole)
    penalty = _penalty(clones[0], regularization, regularization_losses)
    if penalty is None:
        return Losses(scaled, data, None, tf.identity(data, name="total_loss"))
    weighted = penalty / len(clones) if regularization == "scaled" else penalty
    per_clone = [tf.add(scaled[0], weighted), *scaled[1:]]
    return Losses(per_clone, data, penalty, tf.add(data, penalty, name="total_loss"))


def collected_losses(scope: str = "") -> list[Any]:
    """The scalars in `tf.GraphKeys.LOSSES` that were added in a scope.

    Args:
      scope: with its slash (`clone_1/`), or else `clone_10` would count as well.
    """
    losses = tf.get_collection(tf.GraphKeys.LOSSES, scope)
    return [scalar_loss(loss, "the model in tf.GraphKeys.LOSSES") for loss in losses]


def _check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ConfigError(f"{name} of the losses is {value!r}; use one of {', '.join(choices)}")


def _data_loss(clone: Clone) -> Any:
    if clone.outputs.loss is not None:
        return clone.outputs.loss
    with tf.device(clone.device), tf.name_scope(clone.scope):
        collected = collected_losses(clone.scope)
        if not collected:
            raise TfFrameError(_no_loss(clone))
        return tf.add_n(collected, name="clone_loss")


def _scaled(loss: Any, clone: Clone, num_clones: int) -> Any:
    if num_clones == 1:
        return loss
    with tf.device(clone.device), tf.name_scope(clone.scope):
        return tf.divide(loss, num_clones, name="scaled_clone_loss")


def _sum(losses: Sequence[Any]) -> Any:
    return losses[0] if len(losses) == 1 else tf.add_n(losses, name="data_loss")


def _penalty(first: Clone, regularization: str, losses: Sequence[Any] | None) -> Any:
    """The regularisation losses as one scalar, None without any."""
    if losses is None:
        losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    if regularization == "none" or not losses:
        return None
    with tf.device(first.device), tf.name_scope(first.scope):
        return tf.add_n(losses, name="regularization_loss")


def _no_loss(clone: Clone) -> str:
    return (
        f"the model gave no loss in clone scope {clone.scope!r}; return ModelOutput(loss=...) "
        "from build(), or add losses to tf.GraphKeys.LOSSES (tf.compat.v1.losses does)"
    )
