"""`TrainingGraph`: the graph that the Object Detection API's trainer and its forks build.

    graph = TrainingGraph(config, model_deploy.DeploymentConfig(num_clones=2))
    graph.add_clones(create_queue, model_fn)
    graph.add_update(create_optimizer)
    graph.train(train_dir, save_summaries_secs=120)

These faults of the old trainers are mended:

* An update waits for the check of the loss, so that a loss of NaN changes no variable.
* `TotalLoss` is the optimised loss, and is written once. It was the sum over the clones, and one
  fork wrote it once for each loss.
* The summary of the learning rate is also written with several clones.
* With `sync_replicas` workers begin at once unless `startup_delay_steps` is given; the old default
  of 15 steps was refused.
* The global step is never restored by `fine_tune_checkpoint`; some forks did if the map had it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.path import resolve_checkpoint
from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.values import GradsAndVars
from tf_frame.graph.summaries import on_cpu
from tf_frame.graph.update.gradients import wait_for_loss
from tf_frame_legacy import learning, model_deploy, variables_helper
from tf_frame_legacy.config import Config
from tf_frame_legacy.sync_replicas import SyncReplicasOptimizer

_BIASES = (".*/biases",)
_STARTUP_DELAY_STEPS = 15


class TrainingGraph:
    """Builds the default graph in the order of the old trainers, then trains.

    Args:
      config: the training's configuration, with its defaults.
      deployment: number and devices of clones, variables and inputs.
      biases: name patterns of variables; `bias_grad_multiplier` multiplies their gradients.
      optimizer_scope: name scope of the optimizer's learning rate; empty: none.
      update_scope: variable scope of the loss, the update and its variables; empty: none.

    Attributes:
      total_loss, train_op, grads_and_vars: the loss, the operation that makes a step and returns
        the loss, and the transformed gradients; from `add_update` on.
      sync_optimizer: the `SyncReplicasOptimizer` of `sync_replicas`, or None.
    """

    def __init__(
        self,
        config: Config,
        deployment: model_deploy.DeploymentConfig,
        *,
        biases: Sequence[str] = _BIASES,
        optimizer_scope: str = "",
        update_scope: str = "",
    ) -> None:
        self._config = config
        self._deployment = deployment
        self._biases = biases
        self._optimizer_scope, self._update_scope = optimizer_scope, update_scope
        self.sync_optimizer: Any = None
        with tf.device(deployment.variables_device()):
            self._global_step = tf.train.create_global_step()

    def add_clones(
        self,
        create_queue: Callable[[], Any],
        model_fn: Callable[[Any], Any],
        graph_hook_fn: Callable[[], Any] | None = None,
    ) -> None:
        """Builds the input and the clones.

        Args:
          create_queue: builds the input, a queue or a list of them.
          model_fn: builds one clone on the input, and adds its losses to `tf.GraphKeys.LOSSES`.
          graph_hook_fn: then changes the default graph.
        """
        with tf.device(self._deployment.inputs_device()):
            queue = create_queue()
        self._summaries = set(tf.get_collection(tf.GraphKeys.SUMMARIES))
        self._clones = model_deploy.create_clones(self._deployment, model_fn, [queue])
        if graph_hook_fn:
            with tf.device(self._deployment.variables_device()):
                graph_hook_fn()

    def add_update(self, create_optimizer: Callable[[set[Any]], Any]) -> None:
        """Builds the optimizer and `train_op`, which makes a step and returns the loss.

        Args:
          create_optimizer: returns the optimizer; adds summaries to the set that is its argument.
        """
        scope = self._clones[0].scope
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)
        with tf.device(self._deployment.optimizer_device()):
            with tf.name_scope(self._optimizer_scope):
                optimizer = create_optimizer(self._summaries)
                if self._config.sync_replicas:
                    optimizer = self.sync_optimizer = SyncReplicasOptimizer(
                        optimizer, self._config.replicas_to_aggregate, self._deployment.num_replicas
                    )
            with tf.variable_scope(self._update_scope):
                self.total_loss, self.grads_and_vars = self._gradients(optimizer)
                pairs = wait_for_loss(self.total_loss, self.grads_and_vars)
                updates.append(optimizer.apply_gradients(pairs, global_step=self._global_step))
                with tf.control_dependencies([tf.group(*updates, name="update_barrier")]):
                    self.train_op = tf.identity(self.total_loss, name="train_op")
        self._summaries |= set(tf.get_collection(tf.GraphKeys.SUMMARIES, scope))

    def summary_op(self, histograms: Iterable[Any], losses: str = "") -> Any:
        """Merges histograms, the losses of all clones, `TotalLoss` and the model's summaries.

        Args:
          histograms: summaries, which need not be in a collection.
          losses: prefix of the tags of the losses.
        """
        summaries = [
            *self._summaries,
            *histograms,
            *(
                tf.summary.scalar(f"{losses}{loss.op.name}", loss)
                for loss in tf.losses.get_losses()
            ),
            tf.summary.scalar(f"{losses}TotalLoss", self.total_loss),
        ]
        return tf.summary.merge(on_cpu(summaries), name="summary_op")

    def train(
        self,
        train_dir: str,
        *,
        variables: str = "",
        losses: str = "",
        startup_delay_steps: int | None = None,
        max_to_keep: int | None = 5,
        session_options: Any = (),
        **kwargs: Any,
    ) -> Any:
        """Trains as `learning.train` does; returns the loss of the last step.

        Args:
          train_dir: the folder of checkpoints and summaries.
          variables: prefix of the tags of the histograms of model variables.
          losses: prefix of the tags of the losses of all clones, and of `TotalLoss`.
          startup_delay_steps: global step that workers other than the chief wait for; None: from
            the configuration.
          max_to_keep: maximum number of recent checkpoints; None: no maximum.
          session_options: fields of the `tf.ConfigProto`.
          **kwargs: other arguments of `learning.train`.
        """
        config = self._config
        histograms = [
            tf.summary.histogram(f"{variables}{v.op.name}", v) for v in tf.model_variables()
        ]
        if startup_delay_steps is None:
            startup_delay_steps = _startup_delay(config)
        return learning.train(
            self.train_op,
            logdir=train_dir,
            session_config=tf.ConfigProto(allow_soft_placement=True, **dict(session_options)),
            number_of_steps=config.num_steps or None,
            summary_op=self.summary_op(histograms, losses),
            startup_delay_steps=startup_delay_steps,
            sync_optimizer=self.sync_optimizer,
            saver=tf.train.Saver(
                max_to_keep=max_to_keep,
                keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
            ),
            **kwargs,
        )

    def _gradients(self, optimizer: Any) -> tuple[Any, GradsAndVars]:
        config = self._config
        total_loss, pairs = model_deploy.optimize_clones(
            self._clones,
            optimizer,
            regularization_losses=None if config.add_regularization_loss else [],
        )
        total_loss = tf.check_numerics(total_loss, "LossTensor is inf or nan.")
        pairs = _transform_gradients(pairs, config, self._biases)
        if not pairs:
            raise ConfigError(
                f"freeze_variables {list(config.freeze_variables)} leaves no variable to train; "
                "name fewer"
            )
        return total_loss, pairs


def _transform_gradients(
    grads_and_vars: GradsAndVars, config: Config, biases: Sequence[str]
) -> GradsAndVars:
    """Multiplies gradients of biases, drops gradients of frozen variables, clips; in this order."""
    if config.bias_grad_multiplier:
        grads_and_vars = variables_helper.multiply_gradients_matching_regex(
            grads_and_vars, biases, config.bias_grad_multiplier
        )
    if config.freeze_variables:
        grads_and_vars = variables_helper.freeze_gradients_matching_regex(
            grads_and_vars, config.freeze_variables
        )
    if config.gradient_clipping_by_norm > 0:
        with tf.name_scope("clip_grads"):
            grads_and_vars = learning.clip_gradient_norms(
                grads_and_vars, config.gradient_clipping_by_norm
            )
    return grads_and_vars


def _startup_delay(config: Config) -> int:
    if config.startup_delay_steps is not None:
        return int(config.startup_delay_steps)
    return 0 if config.sync_replicas else _STARTUP_DELAY_STEPS


def fine_tune_init_fn(
    config: Config, create_var_map: Callable[[], Mapping[str, Any]]
) -> Callable[[Any], None] | None:
    """Returns the function of a session that restores variables from `fine_tune_checkpoint`.

    Args:
      config: the configuration; its `fine_tune_checkpoint` is a checkpoint, or a folder, for the
        newest checkpoint in it. None is returned if it is empty.
      create_var_map: returns name in the checkpoint -> variable. A variable that the checkpoint
        lacks or has with another shape keeps its initial value.

    Raises:
      ConfigError: the checkpoint does not exist, or has none of the variables.
    """
    if not config.fine_tune_checkpoint:
        return None
    var_map = dict(create_var_map())
    path = resolve_checkpoint(config.fine_tune_checkpoint)
    available = variables_helper.get_variables_available_in_checkpoint(
        var_map, path, include_global_step=False
    )
    if not available:
        raise ConfigError(
            f"fine_tune_checkpoint {config.fine_tune_checkpoint} has none of the {len(var_map)} "
            "variables to restore; see the warnings above: it may be of another kind of model"
        )
    saver = tf.train.Saver(available)
    return lambda session: saver.restore(session, path)
