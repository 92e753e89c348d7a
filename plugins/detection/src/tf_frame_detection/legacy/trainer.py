"""`train`, the Object Detection API's trainer of detection models (legacy/trainer.py).

    from tf_frame_detection.legacy import trainer  # was: from object_detection.legacy import ...

    trainer.train(create_tensor_dict_fn, create_model_fn, {"batch_size": 8, "optimizer": ...},
                  master="", task=0, num_clones=1, worker_replicas=1, clone_on_cpu=False,
                  ps_tasks=0, worker_job_name="lonely_worker", is_chief=True, train_dir="runs/ssd")

The configuration is a dictionary or an object with the fields of protos/train.proto. Names of
operations, summaries and variables are the old ones; `tf_frame_legacy.training_graph` lists the
faults that are mended.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame_detection.legacy.inputs import create_input_queue, create_input_queues, get_inputs
from tf_frame_detection.legacy.losses import create_losses
from tf_frame_legacy import optimizer_builder
from tf_frame_legacy.config import TRAIN_CONFIG, Config
from tf_frame_legacy.model_deploy import DeploymentConfig
from tf_frame_legacy.training_graph import TrainingGraph, fine_tune_init_fn

__all__ = ["create_input_queue", "create_losses", "get_inputs", "train"]

_SAVE_SUMMARIES_SECS = 120


def train(
    create_tensor_dict_fn: Any,
    create_model_fn: Callable[[], Any],
    train_config: Any,
    master: str,
    task: int,
    num_clones: int,
    worker_replicas: int,
    clone_on_cpu: bool,
    ps_tasks: int,
    worker_job_name: str,
    is_chief: bool,
    train_dir: str,
    graph_hook_fn: Callable[[], Any] | None = None,
) -> Any:
    """Trains until `num_steps`, or until the input ends.

    Args:
      create_tensor_dict_fn: builds the tensors of one example, see `create_input_queue`; or a list
        of such functions, to join their batches. `batch_size` is then a list, too.
      create_model_fn: returns a `DetectionModel`; called once for each clone, and once outside of
        the graph, for the `restore_map` of that model.
      train_config: the configuration.
      master: address of the server to run on.
      task: index of this worker.
      num_clones: number of clones, which share the batch.
      worker_replicas: number of workers.
      clone_on_cpu: whether clones are on the CPU.
      ps_tasks: number of parameter servers.
      worker_job_name: name of the workers' job.
      is_chief: whether this worker initialises, saves and summarises.
      train_dir: folder of checkpoints and summaries.
      graph_hook_fn: changes the default graph after the clones are built and before any gradient,
        such as `tf_frame_legacy.quantize.create_training_graph`.

    Returns:
      The loss of the last step.

    Raises:
      ValueError: several clones and `sync_replicas`, or a configuration that the optimizer or the
        loop refuses.
      ConfigError: a part of the batch is empty, or there is nothing to restore or to train.
    """
    config = Config(train_config, TRAIN_CONFIG)
    detection_model = create_model_fn()
    model_fn = functools.partial(
        create_losses, create_model_fn=create_model_fn, train_config=config
    )
    with tf.Graph().as_default():
        deployment = DeploymentConfig(
            num_clones, clone_on_cpu, task, worker_replicas, ps_tasks, worker_job_name
        )
        graph = TrainingGraph(config, deployment)
        num_parts = _num_parts(config, num_clones)
        graph.add_clones(
            lambda: create_input_queues(create_tensor_dict_fn, config, num_parts),
            model_fn,
            graph_hook_fn,
        )
        graph.add_update(functools.partial(_create_optimizer, config.optimizer))
        return graph.train(
            train_dir,
            master=master,
            is_chief=is_chief,
            init_fn=_init_fn(detection_model, config),
            save_summaries_secs=_SAVE_SUMMARIES_SECS,
            variables="ModelVars/",
            losses="Losses/",
        )


def _num_parts(config: Config, num_clones: int) -> int:
    """Returns the divisor of the batch: number of clones, or of synchronous replicas."""
    if not config.sync_replicas:
        return num_clones
    if num_clones != 1:
        raise ValueError(
            f"In Synchronous SGD mode num_clones must be 1. Found num_clones: {num_clones}"
        )
    return int(config.replicas_to_aggregate)


def _create_optimizer(optimizer_config: Any, summaries: set[Any]) -> Any:
    optimizer, rates = optimizer_builder.build(optimizer_config)
    summaries |= {tf.summary.scalar(rate.op.name, rate, family="LearningRate") for rate in rates}
    return optimizer


def _init_fn(detection_model: Any, config: Config) -> Callable[[Any], None] | None:
    if not config.fine_tune_checkpoint_type:
        is_detector = config.from_detection_checkpoint
        config.fine_tune_checkpoint_type = "detection" if is_detector else "classification"
    restore_map = functools.partial(
        detection_model.restore_map,
        fine_tune_checkpoint_type=config.fine_tune_checkpoint_type,
        load_all_detection_checkpoint_vars=config.load_all_detection_checkpoint_vars,
    )
    return fine_tune_init_fn(config, restore_map)
