"""`train` of the fork of the Object Detection API's trainer that has rotated boxes.

    from tf_frame_detection.legacy import rotated_trainer as trainer

    trainer.train(create_tensor_dict_fn, create_model_fn, train_config, input_config,
                  master="", task=0, num_clones=1, worker_replicas=1, clone_on_cpu=False,
                  ps_tasks=0, worker_job_name="lonely_worker", is_chief=True, train_dir="runs/dota")

Differences from `trainer`:

* A model with `is_rbbox` true gets `groundtruth_rboxes`, `[count, 5]`.
* `preprocess_input_options` of a second configuration, for the input, are applied before the
  augmentation.
* Every checkpoint is kept; histograms and losses have plain names; the learning rate is
  `Learning_Rate`.

The fork could not train synchronous replicas: it took `SyncReplicasOptimizer` from a module that
does not have it, and the number of replicas from a field that the configuration does not have.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_detection.legacy.inputs import create_input_queue, create_input_queues, get_inputs
from tf_frame_detection.legacy.losses import create_losses
from tf_frame_detection.legacy.standard_fields import InputDataFields
from tf_frame_legacy import optimizer_builder
from tf_frame_legacy.config import TRAIN_CONFIG, Config
from tf_frame_legacy.model_deploy import DeploymentConfig
from tf_frame_legacy.training_graph import TrainingGraph, fine_tune_init_fn

__all__ = ["create_input_queue", "create_losses", "create_losses_rbbox", "get_inputs", "train"]

_SAVE_SUMMARIES_SECS = 240
create_losses_rbbox = functools.partial(
    create_losses, boxes_field=InputDataFields.groundtruth_rboxes
)


def train(
    create_tensor_dict_fn: Any,
    create_model_fn: Callable[[], Any],
    train_config: Any,
    input_config: Any,
    master: str,
    task: int,
    num_clones: int,
    worker_replicas: int,
    clone_on_cpu: bool,
    ps_tasks: int,
    worker_job_name: str,
    is_chief: bool,
    train_dir: str,
    save_interval_secs: float = 3600,
    log_every_n_steps: int = 1000,
) -> Any:
    """Trains until `num_steps`, or until the input ends.

    Args:
      create_tensor_dict_fn, create_model_fn, train_config, master, task, num_clones,
        worker_replicas, clone_on_cpu, ps_tasks, worker_job_name, is_chief, train_dir: see
        `trainer.train`.
      input_config: `preprocess_input_options`, pairs of functions and arguments.
      save_interval_secs: seconds between checkpoints.
      log_every_n_steps: steps between lines of log.

    Returns:
      The loss of the last step.

    Raises:
      ValueError, ConfigError: see `trainer.train`; but clones of synchronous replicas are allowed.
    """
    config = Config(train_config, TRAIN_CONFIG)
    input_options = Config(input_config, {"preprocess_input_options": ()}).preprocess_input_options
    detection_model = create_model_fn()
    restore_map = functools.partial(
        detection_model.restore_map, from_detection_checkpoint=config.from_detection_checkpoint
    )
    losses_fn = create_losses_rbbox if detection_model.is_rbbox else create_losses
    with tf.Graph().as_default():
        deployment = DeploymentConfig(
            num_clones, clone_on_cpu, task, worker_replicas, ps_tasks, worker_job_name
        )
        graph = TrainingGraph(config, deployment)
        graph.add_clones(
            lambda: create_input_queues(create_tensor_dict_fn, config, num_clones, input_options),
            functools.partial(losses_fn, create_model_fn=create_model_fn, train_config=config),
        )
        graph.add_update(functools.partial(optimizer_builder.build, config.optimizer))
        return graph.train(
            train_dir,
            master=master,
            is_chief=is_chief,
            init_fn=fine_tune_init_fn(config, restore_map),
            log_every_n_steps=log_every_n_steps,
            save_summaries_secs=_SAVE_SUMMARIES_SECS,
            save_interval_secs=save_interval_secs,
            max_to_keep=None,
        )
