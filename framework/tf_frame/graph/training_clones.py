"""The clones of a model on its training data, and where their variables go."""

from __future__ import annotations

import dataclasses
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.clones import Clone, create_clones
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement_strategies import Strategy, balanced, variable_sizes
from tf_frame.graph.inputs.batches import make_batches
from tf_frame.graph.model_output import build_model
from tf_frame.graph.xla import xla_scope
from tf_frame.plugin import InputContext, Mode


def training_clones(
    model: Any, source: Any, config: RunOptions, deployment: DeploymentConfig
) -> list[Clone]:
    """Builds the input and every clone of the model in the default graph.

    Args:
      model, source: the model and input plugins.
      config: batch size, seed, XLA.
      deployment: devices and number of clones.
    """
    context = InputContext(
        batch_size=config.clone_batch_size,
        seed=config.random_seed,
        num_shards=deployment.num_replicas,
        shard_index=deployment.replica_id,
    )
    batches = iter(make_batches(source, Mode.TRAIN, context, deployment))

    def build_clone() -> Any:
        with xla_scope(config):
            return build_model(model, *next(batches), Mode.TRAIN)

    return create_clones(deployment, build_clone)


def placement_strategy(
    model: Any, source: Any, config: RunOptions, deployment: DeploymentConfig
) -> Strategy | None:
    """How variables are dealt out to parameter servers; None means in turn.

    To balance their bytes, one clone is built in a scratch graph first: only
    who knows all sizes can divide them evenly. Arguments as of `training_clones`.
    """
    if config.placement != "balanced" or deployment.num_ps_tasks < 2:
        return None
    alone = dataclasses.replace(deployment, num_clones=1)

    def build() -> None:
        tf.train.create_global_step()
        training_clones(model, source, config, alone)

    return balanced(deployment, variable_sizes(build))
