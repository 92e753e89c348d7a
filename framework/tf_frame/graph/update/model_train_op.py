"""The update of a model that returns a train op of its own, as model functions do.

The model's train op is not changed: optimizer, schedule, transforms and moving averages of
tf-frame are not used, and there is only one clone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.errors import ConfigError, PluginError
from tf_frame.plugin import ModelOutput


@dataclasses.dataclass(frozen=True)
class Update:
    """The parts of a `TrainGraph` that differ between a model's train op and tf-frame's."""

    train_op: Any
    total_loss: Any
    summary_op: Any
    learning_rate: Any = None
    hooks: Sequence[Any] = ()
    run_is_step: bool = False


def check_model_train_op(
    output: ModelOutput, config: RunOptions, transforms: Sequence[Any]
) -> None:
    """Refuses options that work only without a train op of the model.

    Raises:
      PluginError: the model returned no loss beside its train op.
      ConfigError: several clones, gradient transforms, or moving averages are asked for.
    """
    if output.loss is None:
        raise PluginError("the model returned a train_op without a loss; return both")
    requested = {
        f"num_clones {config.num_clones}": config.num_clones > 1,
        "gradient transforms": bool(transforms),
        "sync_replicas": config.sync_replicas,
        "moving_average_decay": config.moving_average_decay is not None,
    }
    for what, is_requested in requested.items():
        if is_requested:
            raise ConfigError(
                f"the model returns its own train_op, so that {what} cannot be used; return the "
                "loss without a train_op, and tf-frame makes the update"
            )


def model_train_op(output: ModelOutput) -> Update:
    """Makes the update in the default graph.

    Args:
      output: output of the model for its only clone.
    """
    with tf.control_dependencies([output.train_op]):
        train_op = tf.identity(output.loss, name="train_op")
    return Update(train_op, output.loss, _summaries(output), hooks=output.hooks)


def _summaries(output: ModelOutput) -> Any:
    if output.scaffold is not None and output.scaffold.summary_op is not None:
        return output.scaffold.summary_op
    # As in tf.estimator, unless there is a summary of this name (estimator.py).
    if not any(each.op.name == "loss" for each in tf.get_collection(tf.GraphKeys.SUMMARIES)):
        tf.summary.scalar("loss", output.loss)
    return tf.summary.merge_all()
