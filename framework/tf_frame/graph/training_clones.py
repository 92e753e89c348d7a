"""The clones of a model on its training data, their compilation by XLA, and their placement.

XLA compiles the computation of a clone, forward and backward, into few kernels. The operations
of a clone are marked when they are made (`jit_scope`); gradients inherit the mark. This needs
no environment variable and works on any kind of device. On CPUs it costs more than it saves:
a small DeepLab on two cores took 13 s instead of 1 for the first step, and then made 10 steps
a second instead of 29.
"""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.clones import Clone, create_clones
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import Balanced, variable_sizes
from tf_frame.graph.inputs.pipeline import make_batches
from tf_frame.graph.model_output import build_model
from tf_frame.plugin import InputContext, Mode

# Operations that XLA does not compile: random ones, which might draw other numbers, and those of
# variables, because their order would split the rest into more and smaller pieces.
_NOT_COMPILED = (
    "Assign",
    "Multinomial",
    "Random",
    "TruncatedNormal",
    "VarHandle",
    "VarIsInitialized",
    "Variable",
)


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


def xla_scope(config: RunOptions) -> contextlib.AbstractContextManager[Any]:
    """A context whose operations, and their gradients, are compiled with `--xla`.

    Args:
      config: `xla`.
    """
    if not config.xla:
        return contextlib.nullcontext()
    scope: contextlib.AbstractContextManager[Any] = tf.xla.experimental.jit_scope(
        compile_ops=_compiled
    )
    return scope


def _compiled(node_def: Any) -> bool:
    return not any(word in node_def.op for word in _NOT_COMPILED)


def placement_strategy(
    model: Any, source: Any, config: RunOptions, deployment: DeploymentConfig
) -> Balanced | None:
    """The assignment of variables to parameter servers; None: in turn.

    To balance bytes, one clone is built in a scratch graph first, because an even division
    needs all sizes. Arguments as of `training_clones`.
    """
    if config.placement != "balanced" or deployment.num_ps_tasks < 2:
        return None
    alone = dataclasses.replace(deployment, num_clones=1)

    def build() -> None:
        tf.train.create_global_step()
        training_clones(model, source, config, alone)

    return Balanced(deployment, variable_sizes(build))
