"""`train` of a RetinaNet with feature pyramid, by a fork of the Object Detection API's trainer.

    from tf_frame_detection.legacy import retinanet_trainer as trainer

    trainer.train(train_config, "runs/retinanet", input_queue_generator=input_queue_generator,
                  create_losses=create_losses)

The fork's trainer imported its input and its network; here the script gives both. The learning
rate falls by 0.95 every `decay_steps`. Mended: the loss that the model function returns is
optimised, which the fork left out; an optimizer that it does not know is an error at once; the
configuration of the caller does not change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_detection.legacy.label_map_util import get_label_map_dict
from tf_frame_detection.legacy.losses import add_returned_loss
from tf_frame_legacy.config import TRAIN_CONFIG, Config
from tf_frame_legacy.input_queues import split_batch_size
from tf_frame_legacy.model_deploy import DeploymentConfig
from tf_frame_legacy.training_graph import TrainingGraph, fine_tune_init_fn

__all__ = ["create_optimizer", "train"]

# Variables with this prefix are restored from `fine_tune_checkpoint`.
_PREFIX = "Retina_FPN"
_DECAY_RATE = 0.95
_STARTUP_DELAY_STEPS = 15
_SAVE_SUMMARIES_SECS = 120
_MEMORY_FRACTION = 0.8


def create_optimizer(
    optimizer_name: str, init_lr: float, decay_steps: int, global_summaries: set[Any]
) -> Any:
    """Builds the optimizer `rmsprop` (decay and momentum 0.9, epsilon 1e-10) or `adam`.

    Args:
      optimizer_name: the name.
      init_lr: the learning rate at step 0.
      decay_steps: steps after which it falls by 0.95.
      global_summaries: the summary `Learning_Rate` is added to this set.

    Raises:
      ValueError: another name; the fork returned None.
    """
    if optimizer_name not in ("adam", "rmsprop"):
        raise ValueError(f"Optimizer {optimizer_name} not supported. It must be adam or rmsprop.")
    learning_rate = tf.train.exponential_decay(
        init_lr,
        tf.train.get_or_create_global_step(),
        decay_steps=decay_steps,
        decay_rate=_DECAY_RATE,
        staircase=True,
    )
    global_summaries.add(tf.summary.scalar("Learning_Rate", learning_rate))
    if optimizer_name == "adam":
        return tf.train.AdamOptimizer(learning_rate)
    return tf.train.RMSPropOptimizer(learning_rate, decay=0.9, momentum=0.9, epsilon=1e-10)


def train(
    train_config: Any,
    train_dir: str,
    master: str = "",
    task: int = 0,
    num_clones: int = 1,
    worker_replicas: int = 1,
    clone_on_cpu: bool = False,
    ps_tasks: int = 0,
    worker_job_name: str = "lonely_worker",
    is_chief: bool = True,
    *,
    input_queue_generator: Callable[[Any], Any],
    create_losses: Callable[[Any, int, Any], Any],
) -> Any:
    """Trains until the input ends, or until `num_steps` if the configuration has it.

    Args:
      train_config: `optimizer` (`adam` or `rmsprop`), `lr`, `decay_steps`, `batch_size`,
        `label_map_file`, `train_file_path` and fields of `trainer.train`; the two functions get it
        with the `batch_size` of a clone and with `input_path`, by attribute and by item.
      train_dir, master, task, num_clones, worker_replicas, clone_on_cpu, ps_tasks,
        worker_job_name, is_chief: see `trainer.train`.
      input_queue_generator: returns the queue, given the configuration.
      create_losses: builds the network on a batch, given the queue, the number of classes (of the
        label map) and the configuration; returns the loss, or adds losses to `tf.GraphKeys.LOSSES`.

    Returns:
      The loss of the last step.

    Raises:
      ValueError: another optimizer.
      DataError: the label map cannot be read.
      ConfigError: a part of the batch is empty, or there is nothing to restore or to train.
    """
    config = Config(train_config, TRAIN_CONFIG)
    config.batch_size = split_batch_size(config.batch_size, num_clones)
    config.input_path = config.train_file_path
    num_classes = len(get_label_map_dict(config.label_map_file))

    def model_fn(queue: Any) -> None:
        add_returned_loss(create_losses(queue, num_classes, config))

    with tf.Graph().as_default():
        deployment = DeploymentConfig(
            num_clones, clone_on_cpu, task, worker_replicas, ps_tasks, worker_job_name
        )
        graph = TrainingGraph(config, deployment)
        graph.add_clones(lambda: input_queue_generator(config), model_fn)
        # Before the optimizer's variables are made: their names begin with the prefix, too.
        init_fn = fine_tune_init_fn(
            config,
            lambda: {v.op.name: v for v in tf.global_variables() if v.op.name.startswith(_PREFIX)},
        )
        graph.add_update(
            lambda summaries: create_optimizer(
                config.optimizer, config.lr, config.decay_steps, summaries
            )
        )
        return graph.train(
            train_dir,
            master=master,
            is_chief=is_chief,
            startup_delay_steps=_STARTUP_DELAY_STEPS,
            init_fn=init_fn,
            save_summaries_secs=_SAVE_SUMMARIES_SECS,
            session_options={
                "gpu_options": tf.GPUOptions(
                    per_process_gpu_memory_fraction=_MEMORY_FRACTION, allow_growth=True
                )
            },
        )
