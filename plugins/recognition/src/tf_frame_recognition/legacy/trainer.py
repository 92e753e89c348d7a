"""`train`, the old trainer of word recognition with several input queues (ASTER's trainer.py).

    from tf_frame_recognition.legacy import trainer

    trainer.train([create_real_dict, create_rendered_dict], create_model_fn,
                  {"batch_size": [48, 16], "num_steps": 100000, "optimizer": ...},
                  master="", task=0, num_clones=1, worker_replicas=1, clone_on_cpu=False,
                  ps_tasks=0, worker_job_name="lonely_worker", is_chief=True, train_dir="words")

The configuration is a dictionary or an object with the fields of ASTER's protos/train.proto. Names
of operations, summaries and variables are the old ones. Mended, in addition to the faults that
`tf_frame_legacy.training_graph` lists:

* `num_steps` 0 trains without end; it was refused.
* Synchronous replicas train; their updates were never started.
* A run that goes on does not need its `fine_tune_checkpoint` any more.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.hooks import StopAtStepHook
from tf_frame.text import listed
from tf_frame_legacy import config as configs, optimizer_builder, training
from tf_frame_legacy.batcher import BatchQueue
from tf_frame_legacy.config import Config
from tf_frame_legacy.input_queues import check_augmentation, create_queues, dequeue_examples
from tf_frame_legacy.model_deploy import DeploymentConfig
from tf_frame_legacy.profile_session_run_hooks import ProfileAtStepHook
from tf_frame_legacy.training_graph import TrainingGraph, fine_tune_init_fn
from tf_frame_recognition.legacy.preprocessing_steps import apply_step
from tf_frame_recognition.legacy.standard_fields import InputDataFields

__all__ = ["create_input_queue", "create_losses", "get_inputs", "train"]

# Defaults of ASTER (bgshih/aster, protos/train.proto) where they are not the detection API's.
TRAIN_CONFIG = types.MappingProxyType(
    {
        **configs.TRAIN_CONFIG,
        "batch_queue_capacity": 600,
        "keep_checkpoint_every_n_hours": 1000,
        "prefetch_queue_capacity": 10,
        "save_checkpoint_secs": 600,
        "save_summaries_steps": 100,
    }
)
_BIASES = (r".*bias(?:es)?", r".*beta")
_PROFILED_STEP = 200
# `fine_tune_checkpoint` gives values to the variables in this scope.
_RESTORED_SCOPE = ["FeatureExtractor", "Convnet"]
_TRUTH = "groundtruth_"


def train(
    create_tensor_dict_fn_list: Sequence[Callable[[], Mapping[str, Any]]],
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
) -> Any:
    """Trains for `num_steps` steps, or until an input ends.

    A run in a folder with checkpoints resumes from the newest one, for `num_steps` more
    steps. The step after step 200 is traced, see `ProfileAtStepHook`.

    Args:
      create_tensor_dict_fn_list: for each input a function that builds the tensors of one example,
        see `create_input_queue`; a batch has `batch_size[i] // num_clones` examples of input i.
      create_model_fn: returns a model, see `create_losses`; called once for each clone.
      train_config: the configuration; `startup_delay_steps` has no effect.
      master: address of the server to run on.
      task: index of this worker.
      num_clones: number of clones, which share the batch.
      worker_replicas: number of workers.
      clone_on_cpu: whether clones are on the CPU.
      ps_tasks: number of parameter servers.
      worker_job_name: name of the workers' job.
      is_chief: whether this worker initialises, saves and summarises.
      train_dir: folder of checkpoints, summaries and the trace.

    Returns:
      The loss of the last step.

    Raises:
      ValueError: a configuration that the optimizer or the loop refuses.
      ConfigError: a part of a batch is empty, or there is nothing to restore or to train.
    """
    config = Config(train_config, TRAIN_CONFIG)
    with tf.Graph().as_default():
        deployment = DeploymentConfig(
            num_clones, clone_on_cpu, task, worker_replicas, ps_tasks, worker_job_name
        )
        graph = TrainingGraph(
            config,
            deployment,
            biases=_BIASES,
            optimizer_scope="Optimizer",
            update_scope="OptimizeClones",
        )
        graph.add_clones(
            lambda: create_queues(
                create_input_queue, create_tensor_dict_fn_list, config, num_clones
            ),
            functools.partial(create_losses, create_model_fn=create_model_fn),
        )
        graph.add_update(functools.partial(optimizer_builder.build, config.optimizer))
        return training.train(
            graph.train_op,
            train_dir,
            master=master,
            is_chief=is_chief,
            scaffold=_scaffold(graph, config, train_dir),
            hooks=_hooks(graph, config, is_chief, train_dir),
            save_checkpoint_secs=config.save_checkpoint_secs,
            save_summaries_steps=config.save_summaries_steps,
            config=tf.ConfigProto(allow_soft_placement=True),
        )


def create_input_queue(
    batch_size_per_clone: int,
    create_tensor_dict_fn: Callable[[], Mapping[str, Any]],
    batch_queue_capacity: int,
    num_batch_queue_threads: int,
    prefetch_queue_capacity: int,
    data_augmentation_options: Sequence[Any],
) -> BatchQueue:
    """Builds the queue of batches of examples.

    Args:
      batch_size_per_clone: examples of a batch.
      create_tensor_dict_fn: builds the tensors of one example, by name; `image` is
        `[height, width, channels]`.
      batch_queue_capacity, num_batch_queue_threads, prefetch_queue_capacity: see
        `batcher.BatchQueue`.
      data_augmentation_options: pairs of a function and its arguments, applied in this order. A
        function takes and returns the tensors of an example by name; `image` is float32. A
        protocol buffer may replace a pair, see `preprocessing_steps`.

    Raises:
      ConfigError: an option is not such a pair, or a step that is not offered.
    """
    tensors = dict(create_tensor_dict_fn())
    tensors[InputDataFields.image] = tf.cast(tensors[InputDataFields.image], tf.float32)
    for option in data_augmentation_options:
        if hasattr(option, "WhichOneof"):
            tensors = apply_step(tensors, option)
        else:
            function, arguments = check_augmentation(option)
            tensors = function(tensors, **arguments)
    return BatchQueue(
        tensors,
        batch_size_per_clone,
        batch_queue_capacity,
        num_batch_queue_threads,
        prefetch_queue_capacity,
    )


def get_inputs(input_queue: Any) -> tuple[list[Any], dict[str, list[Any]]]:
    """Takes a batch from each queue, and joins their examples.

    Args:
      input_queue: a queue with a method `dequeue()` that returns a list of dictionaries, one for
        each example; or a list of such queues.

    Returns:
      The images, and name -> list of the tensors `groundtruth_...`, one for each example.

    Raises:
      ConfigError: the inputs have different tensors `groundtruth_...`.
    """
    examples = dequeue_examples(input_queue)
    names, *all_names = (
        sorted(name for name in example if name.startswith(_TRUTH)) for example in examples
    )
    if different := [other_names for other_names in all_names if other_names != names]:
        raise ConfigError(
            f"one input has {listed(names)}, another has {listed(different[0])}; the "
            "inputs of a batch must have the same"
        )
    truth = {name: [example[name] for example in examples] for name in names}
    return [example[InputDataFields.image] for example in examples], truth


def create_losses(input_queue: Any, create_model_fn: Callable[[], Any]) -> None:
    """Builds a model on the joined batches of queues; adds its losses to `tf.GraphKeys.LOSSES`.

    Args:
      input_queue: see `get_inputs`; images of one batch have one size.
      create_model_fn: returns a model with ASTER's methods `provide_groundtruth(lists)`,
        `predict(images)`, which gets the images of the queue and preprocesses them itself, and
        `loss(predictions)`, which returns a dictionary of losses.
    """
    model = create_model_fn()
    images, truth = get_inputs(input_queue)
    model.provide_groundtruth(truth)
    for loss in model.loss(model.predict(tf.stack(images))).values():
        tf.losses.add_loss(loss)


def _scaffold(graph: TrainingGraph, config: Config, train_dir: str) -> Any:
    histograms = [
        tf.summary.histogram(name, values)
        for gradient, variable in graph.grads_and_vars
        for name, values in (
            (f"grad/{variable.op.name}", gradient),
            (variable.op.name, variable),
        )
    ]
    return tf.train.Scaffold(
        init_fn=_init_fn(config, train_dir),
        summary_op=graph.summary_op(histograms),
        saver=tf.train.Saver(keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours),
    )


def _init_fn(config: Config, train_dir: str) -> Callable[[Any, Any], None] | None:
    if tf.train.latest_checkpoint(train_dir):
        return None
    restore = fine_tune_init_fn(config, _find_restored_variables)
    if restore is None:
        return None
    return lambda scaffold, session: restore(session)


def _find_restored_variables() -> dict[str, Any]:
    variables = {
        variable.op.name: variable
        for variable in tf.trainable_variables()
        if variable.op.name.split("/")[:2] == _RESTORED_SCOPE
    }
    if not variables:
        raise ConfigError(
            "the model has no trainable variable FeatureExtractor/Convnet/..., but "
            "fine_tune_checkpoint restores these alone; leave fine_tune_checkpoint out"
        )
    return variables


def _hooks(graph: TrainingGraph, config: Config, is_chief: bool, train_dir: str) -> list[Any]:
    hooks: list[Any] = [ProfileAtStepHook(at_step=_PROFILED_STEP, checkpoint_dir=train_dir)]
    if config.num_steps:
        hooks.insert(0, StopAtStepHook(num_steps=config.num_steps))
    if graph.sync_optimizer:
        hooks.insert(0, graph.sync_optimizer.make_session_run_hook(is_chief))
    return hooks
