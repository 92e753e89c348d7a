"""Builds the training graph, ready for a session, from plugins and run options.

inputs -> clones -> graph hooks -> losses -> gradients -> transforms -> update -> train_op

A clone is a copy of the model on one device; a graph hook is a function that edits the graph.
Plugins give inputs, model, transforms, optimizer and learning rate; this package does the rest, so
that one model trains on any number of clones and servers.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.reader import INPUT_POSITION
from tf_frame.collector import without_collector
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.clones import Clone, create_clones
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.placement import Balanced, variable_sizes, variables_placed
from tf_frame.graph.global_step import read_step_after
from tf_frame.graph.graph_hook import run_graph_hooks
from tf_frame.graph.inputs.first_batches import first_batches
from tf_frame.graph.inputs.pipeline import make_batches
from tf_frame.graph.inputs.position import InputPosition, make_input_position
from tf_frame.graph.inputs.streams import Batch, iterator_initializers
from tf_frame.graph.inputs.wait import INPUT_WAIT, measure_input_wait
from tf_frame.graph.model_output import build_model
from tf_frame.graph.stateless_random import make_stateless
from tf_frame.graph.step_reads import read_step_before_change
from tf_frame.graph.update.train_step import Update, make_update, model_train_op
from tf_frame.plugin import InputContext, Mode
from tf_frame.plugin.needs import check_batch
from tf_frame.plugin.origin import describe_method

# Operations that XLA does not compile: random operations, which might draw other numbers, and
# variables, which would split the other operations into more and smaller pieces.
_NOT_COMPILED = (
    "Assign",
    "Multinomial",
    "Random",
    "TruncatedNormal",
    "VarHandle",
    "VarIsInitialized",
    "Variable",
)
_SEED_OF_WORKER = 1_000_003


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrainGraph(Update):
    """The handles of a graph that is ready for a session; `Update` has the first of them.

    Attributes:
      graph: the `tf.Graph`.
      global_step: the variable.
      step_after: the global step after `train_op`; fetch it in the same run.
      scaffold: initialisation of a session, and the saver.
      clones: the clones.
      batches: features and labels of each clone, as the input gives them.
      model_variables: the global variables that the model made.
      chief_hooks: session hooks of the model that only the chief needs.
      input_position: saves and restores the position of this worker in the input, or None.
      input_wait: reads the seconds that steps waited for input; see `measure_input_wait`.
      not_repeatable: reasons why a resumed run would end with other values.
    """

    graph: Any
    global_step: Any
    step_after: Any
    scaffold: Any
    clones: Sequence[Clone]
    batches: Sequence[Batch] = ()
    model_variables: Sequence[Any] = ()
    chief_hooks: Sequence[Any] = ()
    input_position: InputPosition | None = None
    input_wait: Any = None
    not_repeatable: Sequence[str] = ()

    @property
    def scalars(self) -> Sequence[Any]:
        """Scalars that hooks may fetch with the train op in every step, at no cost."""
        rates = () if self.learning_rate is None else (self.learning_rate,)
        return (*(loss for loss in self.losses.values() if loss is not self.train_op), *rates)


@without_collector()
def build_train_graph(
    *,
    model: Any,
    source: Any,
    optimizer: Any,
    schedule: Callable[[Any], Any],
    transforms: Sequence[Callable[[list[Any]], list[Any]]],
    config: RunOptions,
    deployment: DeploymentConfig,
) -> TrainGraph:
    """Builds the training graph of one worker.

    Args:
      model: the model plugin.
      source: the input plugin.
      optimizer: the optimizer plugin.
      schedule: the learning-rate plugin.
      transforms: gradient transforms, in order.
      config: batch size, seed and the like.
      deployment: devices and number of clones.
    """
    graph = tf.Graph()
    strategy = placement_strategy(model, source, config, deployment)
    with graph.as_default(), variables_placed(deployment, strategy):
        tf.set_random_seed(config.random_seed)
        global_step = tf.train.create_global_step()
        clones, batches = training_clones(model, source, config, deployment)
        model_variables = tf.global_variables()
        output = clones[0].outputs
        if output.train_op is not None:
            update = model_train_op(output, config, transforms)
        else:
            run_graph_hooks(model=model, config=config, deployment=deployment)
            update = make_update(clones, optimizer, schedule, transforms, config, deployment)
        # Last: all ops of a step must exist.
        position = make_input_position(source, config)
        repeats = position is not None and config.makes_steps_together
        reasons = _make_repeatable(update.train_op, config) if repeats else []
        return TrainGraph(
            graph=graph,
            global_step=global_step,
            step_after=read_step_after([update.train_op], global_step),
            input_wait=measure_input_wait(update.train_op),
            scaffold=_scaffold(output.scaffold, deployment),
            clones=clones,
            batches=batches,
            model_variables=model_variables,
            chief_hooks=output.chief_hooks,
            input_position=position,
            not_repeatable=reasons,
            **vars(update),
        )


def training_clones(
    model: Any, source: Any, config: RunOptions, deployment: DeploymentConfig
) -> tuple[list[Clone], list[Batch]]:
    """Builds the input and every clone of the model in the default graph.

    Arguments as of `build_train_graph`.

    Returns:
      The clones, and the features and labels of each.
    """
    limited = first_batches(source, config)
    batches: list[Batch] = []
    if not config.batch_shards:
        context = _input_context(config, deployment.num_replicas, deployment.replica_id)
        batches = make_batches(limited, Mode.TRAIN, context, deployment)
    count = iter(range(deployment.num_clones))

    def build_clone() -> Any:
        index = next(count)
        if config.batch_shards:
            batches.append(_shard_batch(limited, config, deployment, index))
        if index == 0:
            check_batch(model, source, *batches[0])
        with xla_scope(config):
            return build_model(model, *batches[index], Mode.TRAIN)

    clones = create_clones(deployment, build_clone, origin=describe_method(model, "build"))
    return clones, batches


def _shard_batch(
    source: Any, config: RunOptions, deployment: DeploymentConfig, index: int
) -> Batch:
    """Makes the input of the shard of a clone, and returns its batch.

    Made just before the clone: the initial values of the variables depend on the number of
    operations before them, and must not depend on the number of this worker's shards.
    """
    shard = config.input_shards(deployment.replica_id)[index]
    context = _input_context(config, config.batch_shards, shard)
    with tf.name_scope(""):
        single = dataclasses.replace(deployment, num_clones=1)
        return make_batches(source, Mode.TRAIN, context, single)[0]


def _input_context(config: RunOptions, num_shards: int, shard_index: int) -> InputContext:
    return InputContext(
        batch_size=config.clone_batch_size,
        seed=config.random_seed,
        num_shards=num_shards,
        shard_index=shard_index,
        train_batch_size=config.train_batch_size,
    )


def xla_scope(config: RunOptions) -> contextlib.AbstractContextManager[Any]:
    """Returns a context that marks operations, and their gradients, for XLA (`--xla`).

    XLA compiles the computation of a clone, forward and backward, into few kernels. The mark
    (`jit_scope`) needs no environment variable and works on any kind of device. On CPUs it costs
    more than it saves: a small DeepLab on two cores took 13 s instead of 1 for the first step, and
    then made 10 steps a second instead of 29.
    """
    if not config.xla:
        return contextlib.nullcontext()
    scope: contextlib.AbstractContextManager[Any] = tf.xla.experimental.jit_scope(
        compile_ops=lambda node: not any(word in node.op for word in _NOT_COMPILED)
    )
    return scope


def placement_strategy(
    model: Any, source: Any, config: RunOptions, deployment: DeploymentConfig
) -> Balanced | None:
    """Returns the assignment of variables to parameter servers; None: in turn.

    An even division of bytes needs all sizes, so one clone is built in a scratch graph first.
    Arguments as of `build_train_graph`.
    """
    if config.placement != "balanced" or deployment.num_ps_tasks < 2:
        return None
    single_clone = dataclasses.replace(deployment, num_clones=1)

    def build() -> None:
        tf.train.create_global_step()
        training_clones(model, source, config, single_clone)

    return Balanced(deployment, variable_sizes(build))


def _make_repeatable(train_op: Any, config: RunOptions) -> list[str]:
    """Orders reads, replaces random ops; returns why a resumed run would not be the same."""
    step = tf.train.get_global_step()
    # Each worker draws different numbers, or each clone where clones have numbers of the job.
    seed = config.random_seed + (0 if config.batch_shards else _SEED_OF_WORKER * config.task)
    read_step_before_change(train_op, step)
    reasons = list(
        make_stateless(train_op, global_step=step, seed=seed, by_name=bool(config.batch_shards))
    )
    several = config.update_ops == "all_clones" and config.num_clones > 1
    if several and tf.get_collection(tf.GraphKeys.UPDATE_OPS):
        reasons.append(
            "--update_ops all_clones: the clones update the moving statistics in no order"
        )
    return reasons


def _scaffold(model_scaffold: Any, deployment: DeploymentConfig) -> Any:
    """The model's own scaffold, or a new one, with a saver."""
    local_init_op = _local_init_op(model_scaffold)
    copied = {"local_init_op": local_init_op, "copy_from_scaffold": model_scaffold}
    if model_scaffold is not None and model_scaffold.saver is not None:
        return tf.train.Scaffold(**copied)
    if not tf.get_collection(tf.GraphKeys.SAVERS):
        saver = tf.train.Saver(sharded=deployment.num_ps_tasks > 1, save_relative_paths=True)
        # A script's hooks, such as CheckpointSaverHook, look for the saver there.
        tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
    saver = tf.get_collection(tf.GraphKeys.SAVERS)[0]
    return tf.train.Scaffold(saver=saver, **copied)


def _local_init_op(model_scaffold: Any) -> Any:
    """The model's own op with the initializers of the input, which the model does not know."""
    if model_scaffold is None or model_scaffold.local_init_op is None:
        return None
    of_input = (INPUT_POSITION, INPUT_WAIT)
    variables = [v for v in tf.local_variables() if v.op.name.startswith(of_input)]
    inputs = [tf.variables_initializer(variables), *iterator_initializers()]
    return tf.group(model_scaffold.local_init_op, *inputs)
