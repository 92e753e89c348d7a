"""`TrainingGraph`: the graph and the loop that the three trainers share.

    graph = TrainingGraph(config, model_deploy.DeploymentConfig(num_clones=2))
    graph.add_clones(create_queue, model_fn)
    graph.add_update(create_optimizer)
    graph.train(train_dir, save_summaries_secs=120)

It differs from the old trainers in what was broken there:

* An update waits for the check of the loss, so that a loss of NaN changes no variable.
* `TotalLoss` is the loss that is optimised, and is written once. It was the sum over the clones,
  and in one fork it was written once a loss.
* The summary of the learning rate is also written with several clones.
* With `sync_replicas` workers begin at once unless `startup_delay_steps` is given; the old default
  of 15 steps was refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.values import GradsAndVars
from tf_frame.graph.summaries import on_cpu
from tf_frame.graph.update.gradients import waiting_for
from tf_frame.legacy import learning, model_deploy, variables_helper
from tf_frame.legacy.sync_replicas import SyncReplicasOptimizer
from tf_frame_detection.legacy.config import Config

_BIASES = (".*/biases",)
_STARTUP_DELAY_STEPS = 15


class TrainingGraph:
    """Builds the default graph in the order of the old trainers, then trains.

    Args:
      config: the training's configuration, with its defaults.
      deployment: number and devices of clones, variables and inputs.
    """

    def __init__(self, config: Config, deployment: model_deploy.DeploymentConfig) -> None:
        self._config = config
        self._deployment = deployment
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
          create_optimizer: returns it, given a set that it adds summaries to.
        """
        scope, config = self._clones[0].scope, self._config
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)
        with tf.device(self._deployment.optimizer_device()):
            self._optimizer = create_optimizer(self._summaries)
            if config.sync_replicas:
                self._optimizer = SyncReplicasOptimizer(
                    self._optimizer, config.replicas_to_aggregate, self._deployment.num_replicas
                )
            self._total_loss, pairs = self._gradients()
            updates.append(self._optimizer.apply_gradients(pairs, global_step=self._global_step))
            with tf.control_dependencies([tf.group(*updates, name="update_barrier")]):
                self._train_op = tf.identity(self._total_loss, name="train_op")
        self._summaries |= set(tf.get_collection(tf.GraphKeys.SUMMARIES, scope))

    def train(
        self,
        train_dir: str,
        *,
        variables: str = "",
        losses: str = "",
        max_to_keep: int | None = 5,
        session_options: Any = (),
        **kwargs: Any,
    ) -> Any:
        """Trains as `learning.train` does; returns the loss of the last step.

        Args:
          train_dir: the folder of checkpoints and summaries.
          variables: prefix of the tags of the histograms of model variables.
          losses: prefix of those of the losses of all clones, and of `TotalLoss`.
          max_to_keep: number of the newest checkpoints that are kept; None: all.
          session_options: fields of the `tf.ConfigProto`.
          **kwargs: other arguments of `learning.train`.
        """
        config = self._config
        return learning.train(
            self._train_op,
            logdir=train_dir,
            session_config=tf.ConfigProto(allow_soft_placement=True, **dict(session_options)),
            number_of_steps=config.num_steps or None,
            summary_op=self._summary_op(variables, losses),
            sync_optimizer=self._optimizer if config.sync_replicas else None,
            saver=tf.train.Saver(
                max_to_keep=max_to_keep,
                keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
            ),
            **kwargs,
        )

    def _gradients(self) -> tuple[Any, GradsAndVars]:
        config = self._config
        total_loss, pairs = model_deploy.optimize_clones(
            self._clones,
            self._optimizer,
            regularization_losses=None if config.add_regularization_loss else [],
        )
        total_loss = tf.check_numerics(total_loss, "LossTensor is inf or nan.")
        pairs = transformed(pairs, config)
        if not pairs:
            raise ConfigError(
                f"freeze_variables {list(config.freeze_variables)} leaves no variable to train; "
                "name fewer"
            )
        return total_loss, waiting_for(total_loss, pairs)

    def _summary_op(self, variables: str, losses: str) -> Any:
        found = [
            *self._summaries,
            *(tf.summary.histogram(f"{variables}{v.op.name}", v) for v in tf.model_variables()),
            *(
                tf.summary.scalar(f"{losses}{loss.op.name}", loss)
                for loss in tf.losses.get_losses()
            ),
            tf.summary.scalar(f"{losses}TotalLoss", self._total_loss),
        ]
        return tf.summary.merge(on_cpu(found), name="summary_op")


def transformed(grads_and_vars: GradsAndVars, config: Config) -> GradsAndVars:
    """Multiplies gradients of biases, drops those of frozen variables, clips, in this order."""
    if config.bias_grad_multiplier:
        grads_and_vars = variables_helper.multiply_gradients_matching_regex(
            grads_and_vars, _BIASES, config.bias_grad_multiplier
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


def startup_delay(config: Config) -> int:
    """Returns the global step that workers other than the chief wait for."""
    if config.startup_delay_steps is not None:
        return int(config.startup_delay_steps)
    return 0 if config.sync_replicas else _STARTUP_DELAY_STEPS
