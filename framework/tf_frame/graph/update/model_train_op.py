"""The training graph of a model that makes its own update.

The train op that the model returns is kept as it is: no optimizer, schedule,
transform or moving average of tf-frame's has a part in it, and there is one clone.
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
    """The parts of a training graph that depend on who makes the update; see `TrainGraph`."""

    train_op: Any
    total_loss: Any
    summary_op: Any
    learning_rate: Any = None
    hooks: Sequence[Any] = ()
    run_is_step: bool = False


def check_own_update(output: ModelOutput, config: RunOptions, transforms: Sequence[Any]) -> None:
    """Checks that nothing is asked for that only tf-frame's own update can do.

    Raises:
      PluginError: the model returned no loss beside its train op.
      ConfigError: several clones, gradient transforms, or moving averages are asked for.
    """
    if output.loss is None:
        raise PluginError("the model returned a train_op without a loss; return both")
    asked = {
        f"num_clones {config.num_clones}": config.num_clones > 1,
        "gradient transforms": bool(transforms),
        "sync_replicas": config.sync_replicas,
        "moving_average_decay": config.moving_average_decay is not None,
    }
    for what, is_asked in asked.items():
        if is_asked:
            raise ConfigError(
                f"the model returns a train_op of its own, which leaves no place for {what}; let "
                "it return the loss without a train_op, and tf-frame makes the update"
            )


def own_update(output: ModelOutput) -> Update:
    """Makes the parts in the default graph.

    Args:
      output: what the model returned for its only clone.
    """
    with tf.control_dependencies([output.train_op]):
        train_op = tf.identity(output.loss, name="train_op")
    return Update(train_op, output.loss, _summaries(output), hooks=output.hooks)


def _summaries(output: ModelOutput) -> Any:
    if output.scaffold is not None and output.scaffold.summary_op is not None:
        return output.scaffold.summary_op
    # As tf.estimator, which looks for a summary of this name (estimator.py).
    if not any(each.op.name == "loss" for each in tf.get_collection(tf.GraphKeys.SUMMARIES)):
        tf.summary.scalar("loss", output.loss)
    return tf.summary.merge_all()
