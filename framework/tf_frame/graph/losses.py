"""Combines the losses of the clones to the total loss, and averages losses over the steps.

A clone is a copy of the model on one device. The options reproduce older trainers. By default the
total is the mean of the clones' data losses plus all regularisation losses, as in slim's
model_deploy (research/slim/deployment/model_deploy.py). DeepLab's trainer with towers
(research/deeplab/train.py, 2019) averages the gradients of the towers, gives the regularisation to
the first tower only, and reports the sum of all losses: `regularization="scaled", total="sum"`.
Averages over the steps give smooth curves.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.deploy.clones import Clone
from tf_frame.errors import ConfigError, PluginError
from tf_frame.graph.model_output import LOSS, TOTAL_LOSS, output_origin, scalar_loss
from tf_frame.graph.update.batch_shards import BatchShards
from tf_frame.graph.weight_penalties import sum_penalties

TAG_PREFIX = "losses/"


@dataclasses.dataclass(frozen=True)
class Losses:
    """The losses of a training graph, all scalars.

    Attributes:
      per_clone: the loss that each clone differentiates: its data loss divided by the
        number of clones, and for the first clone the regularisation as well.
      data: mean, or sum, of the clones' data losses.
      regularization: sum of the regularisation losses; None without any.
      total: the reported loss: data plus regularisation.
    """

    per_clone: Sequence[Any]
    data: Any
    regularization: Any
    total: Any

    def by_name(self) -> dict[str, Any]:
        """Returns the losses by their names, the total first.

        `loss` is the data loss, in training and in evaluation; `total_loss` adds the
        regularisation. Without regularisation there is only `loss`.
        """
        if self.regularization is None:
            return {LOSS: self.total}
        named = {TOTAL_LOSS: self.total, LOSS: self.data}
        return {**named, "regularization_loss": self.regularization}

    def by_tag(self) -> dict[str, Any]:
        """Returns the losses by their tags in summaries, equal in training and evaluation."""
        return {f"{TAG_PREFIX}{name}": loss for name, loss in self.by_name().items()}


def gather_losses(
    clones: Sequence[Clone],
    *,
    regularization: str = "full",
    total: str = "mean",
    shards: BatchShards | None = None,
) -> Losses:
    """Collects and combines the losses of the clones.

    Args:
      clones: the clones.
      regularization: weight of the regularisation losses in the gradient: "full" for 1,
        "scaled" for one over the number of clones, "none" for no regularisation at all.
      total: "mean" or "sum" of the clones' data losses in the reported total; the gradient is the
        gradient of the mean. A regularisation other than "none" is reported in full.
      shards: the shards of the batch that the clones compute, if other workers compute the others;
        the reported losses are then those of all shards.

    Raises:
      ConfigError: `regularization` or `total` is another word.
      PluginError: a clone has no loss, or one that is not a scalar.
    """
    for name, value, choices in (
        ("regularization", regularization, ("full", "scaled", "none")),
        ("total", total, ("mean", "sum")),
    ):
        if value not in choices:
            raise ConfigError(f"{name} of the losses is {value!r}; use one of {', '.join(choices)}")
    count = shards.count if shards else len(clones)
    unscaled = [_data_loss(clone) for clone in clones]
    pairs = zip(unscaled, clones, strict=True)
    scaled = [_scaled(loss, clone, count) for loss, clone in pairs]
    data = _sum(scaled if total == "mean" else unscaled, shards)
    penalty = _penalty(clones[0], regularization)
    if penalty is None:
        return Losses(scaled, data, None, tf.identity(data, name="total_loss"))
    per_clone = scaled
    if not (shards and shards.own.start):
        weighted = penalty / count if regularization == "scaled" else penalty
        per_clone = [tf.add(scaled[0], weighted), *scaled[1:]]
    return Losses(per_clone, data, penalty, tf.add(data, penalty, name="total_loss"))


def collected_losses(scope: str = "") -> list[Any]:
    """Returns the losses in `tf.GraphKeys.LOSSES` that were added in a scope.

    Args:
      scope: with its slash (`clone_1/`), because `clone_1` also matches `clone_10`.
    """
    losses = tf.get_collection(tf.GraphKeys.LOSSES, scope)
    return [scalar_loss(loss, "the model in tf.GraphKeys.LOSSES") for loss in losses]


def loss_averages(losses: Mapping[str, Any], *, decay: float) -> tuple[Any, list[Any]]:
    """Keeps an exponential moving average of each loss over the steps, for smooth curves.

    As in research/inception/inception_distributed_train.py, the averages are variables
    `<operation of the loss>/avg` that begin at 0 without bias correction: at a decay of 0.9 they
    are too low for some twenty steps. That trainer saves them with the model. Here they are local
    variables that begin again with every session, so that a checkpoint fits with and without them.

    Args:
      losses: name -> scalar tensor; the total among them.
      decay: share of an average that a step keeps, such as 0.9.

    Returns:
      The operation that must run in every step, and two scalar summaries per loss, in no
      collection: `<name> (raw)`, and `<name>` of the average after this step. Evaluate them only in
      a run of the step, because the averages move in that run.
    """
    average = tf.train.ExponentialMovingAverage(decay, name="avg")
    # A loss with two names must not move its average twice.
    unique = list({loss.ref(): loss for loss in losses.values()}.values())
    with tf.variable_creator_scope(_create_local):
        moved = average.apply(unique)
    summaries = []
    with tf.control_dependencies([moved]):
        for name, loss in losses.items():
            # tf.summary.scalar would change the tag to `name__raw_`.
            summaries.append(tf.raw_ops.ScalarSummary(tags=f"{name} (raw)", values=loss))
            value = average.average(loss).read_value()
            summaries.append(tf.raw_ops.ScalarSummary(tags=name, values=value))
    return moved, summaries


def _sum(losses: Sequence[Any], shards: BatchShards | None) -> Any:
    if shards and not shards.sees_all:
        # Those of this worker stand for all.
        return tf.add_n(losses) * (shards.count / len(losses))
    if shards:
        return tf.identity(shards.sums([[loss] for loss in losses])[0], name="data_loss")
    return losses[0] if len(losses) == 1 else tf.add_n(losses, name="data_loss")


def _data_loss(clone: Clone) -> Any:
    if clone.outputs.loss is not None:
        return clone.outputs.loss
    with tf.device(clone.device), tf.name_scope(clone.scope):
        collected = collected_losses(clone.scope)
        if not collected:
            raise PluginError(
                f"{output_origin(clone.outputs)} returned no loss; put a scalar tensor into "
                "ModelOutput(loss=...), or add losses to tf.GraphKeys.LOSSES (tf.compat.v1.losses "
                "does)"
            )
        return tf.add_n(collected, name="clone_loss")


def _scaled(loss: Any, clone: Clone, num_clones: int) -> Any:
    if num_clones == 1:
        return loss
    with tf.device(clone.device), tf.name_scope(clone.scope):
        return tf.divide(loss, num_clones, name="scaled_clone_loss")


def _penalty(first: Clone, regularization: str) -> Any:
    """The regularisation losses as one scalar; None without any."""
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    if regularization == "none" or not losses:
        return None
    with tf.device(first.device), tf.name_scope(first.scope):
        return sum_penalties(losses, first.scope, name="regularization_loss")


def _create_local(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
    return next_creator(**{**kwargs, "collections": [tf.GraphKeys.LOCAL_VARIABLES]})
