"""`train_and_evaluate`: trains, evaluates and exports, alone or as one task of a cluster.

The same script runs alone and on every machine of a cluster, where TF_CONFIG names the task.

    train_spec = TrainSpec(train_input_fn, max_steps=1000)
    eval_spec = EvalSpec(eval_input_fn, exporters=[FinalExporter("last", receiver_fn)])
    metrics, exports = train_and_evaluate(estimator, train_spec, eval_spec)

The tasks do the following:

    chief, worker   start a server and train
    master          is a chief that evaluates as well
    ps              holds variables until the chief has ended the job
    evaluator       evaluates new checkpoints; it is not part of the cluster
    local           trains and evaluates, alone

Order, delays and error texts are taken from `_TrainingExecutor` and `_start_std_server` of
tensorflow_estimator, training.py.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import read_step
from tf_frame.cluster.cluster import cluster_from_tf_config
from tf_frame.cluster.server import LEAVE, bypass_proxy, confined_server, send_to_ps, serve
from tf_frame.cluster.tf_config import read_tf_config
from tf_frame.estimator.estimator import Estimator
from tf_frame.estimator.train_and_eval.checkpoint_evaluator import CheckpointEvaluator
from tf_frame.estimator.train_and_eval.evaluation_loops import (
    EvaluationListener,
    evaluate_continuously,
)
from tf_frame.estimator.train_and_eval.specs import EvalSpec, TrainSpec

_LOG = logging.getLogger("tf_frame")
_MAX_DELAY_SECS = 60
_DELAY_SECS_PER_WORKER = 5
_TASKS = ("chief", "evaluator", "master", "ps", "worker")
_TRAINERS = ("chief", "master", "worker")


def train_and_evaluate(
    estimator: Any, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[Any, Any] | None:
    """Trains up to `train_spec.max_steps`, and evaluates checkpoints as they are saved.

    Alone, evaluations interrupt training in the same process; the training session stays open.
    In a cluster, as the environment variable TF_CONFIG describes it, a separate task evaluates.

    Args:
      estimator: the `Estimator`.
      train_spec: training data and last step.
      eval_spec: evaluation data, intervals and exporters.

    Returns:
      In a cluster: None. Alone: the metrics of the last evaluation, and the list of the
      exporters' return values. After an earlier run that trained all steps but did not finish
      the last evaluation or export, these are done now; after a complete run the result is
      `(None, None)`.

    Raises:
      TypeError: an argument has the wrong type.
      ValueError: TF_CONFIG names no task, or one that does not exist.
      RuntimeError: the server of this task cannot be started.
    """
    executor = Executor(estimator, train_spec, eval_spec)
    config = estimator.config
    if config.task_type == "evaluator" and config.task_id > 0:
        raise ValueError(
            "For distributed training, there can only be one `evaluator` task (with task id 0).  "
            f"Given task id {config.task_id}"
        )
    return executor.run()


@dataclasses.dataclass(frozen=True)
class Executor:
    """The role of this process in `train_and_evaluate`.

    Args:
      estimator, train_spec, eval_spec: see `train_and_evaluate`.
      clock: returns seconds.
      sleep: sleeps for some seconds.

    Raises:
      TypeError: an argument has the wrong type.
    """

    estimator: Any
    train_spec: TrainSpec
    eval_spec: EvalSpec
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        _check_type("eval_spec", self.eval_spec, EvalSpec)
        _check_type("estimator", self.estimator, Estimator)
        _check_type("train_spec", self.train_spec, TrainSpec)

    def run(self) -> tuple[Any, Any] | None:
        """Runs the part of the task that `estimator.config` names.

        Returns:
          Metrics and export results if this process is alone; else None.

        Raises:
          ValueError: the configuration names no task, or one that does not exist.
        """
        config = self.estimator.config
        if not config.cluster_spec and config.task_type != "evaluator":
            _LOG.info("Running training and evaluation locally (non-distributed).")
            return self.run_local()
        if not config.task_type:
            raise ValueError(
                "`estimator.config` must have task_type set. This usually means TF_CONFIG "
                "environment is not set correctly."
            )
        if config.task_type == "local":
            raise ValueError(
                "`task.type` in TF_CONFIG cannot be `local`. Leaving `cluster` and `task` "
                "properties in TF_CONFIG absent triggers train and evaluate `Estimator` locally "
                "(non-distributed)."
            )
        if config.task_type not in _TASKS:
            raise ValueError(
                f"Task type {config.task_type} is not supported. Supported task types are "
                f"{list(_TASKS)}"
            )
        getattr(self, f"run_{config.task_type}")()
        return None

    def run_chief(self) -> None:
        """Trains, initialises and saves."""
        self._train_in_cluster(self.train_spec.saving_listeners)

    def run_worker(self) -> None:
        """Trains, and begins a little after the chief."""
        self._train_in_cluster(())

    def run_master(self) -> None:
        """Trains like a chief, and evaluates the checkpoints that it saves."""
        listener = EvaluationListener(self._checkpoint_evaluator())
        self._train_in_cluster((*self.train_spec.saving_listeners, listener))

    def run_ps(self) -> None:
        """Holds variables until the chief has ended the job."""
        serve(start_server(self.estimator.config))

    def run_local(self) -> tuple[Any, Any]:
        """Trains, and evaluates every checkpoint that is saved; see `train_and_evaluate`."""
        config = self.estimator.config
        _LOG.info(
            "Start train and evaluate loop. The evaluate will happen after every checkpoint. "
            "Checkpoint frequency is determined based on RunConfig arguments: "
            "save_checkpoints_steps %s or save_checkpoints_secs %s.",
            config.save_checkpoints_steps,
            config.save_checkpoints_secs,
        )
        listener = EvaluationListener(self._checkpoint_evaluator())
        self._train((*self.train_spec.saving_listeners, listener))
        if listener.eval_result is not None:
            return listener.eval_result.metrics, listener.export_results
        evaluator = self._checkpoint_evaluator()
        if not evaluator.has_work_left(read_step(self.estimator.latest_checkpoint())):
            return None, None
        result, exported = evaluator.evaluate_and_export()
        return result.metrics, exported

    def run_evaluator(self) -> None:
        """Evaluates checkpoints as they come, up to the one of `max_steps`."""
        evaluate_continuously(self._checkpoint_evaluator(), sleep=self.sleep)

    def _checkpoint_evaluator(self) -> CheckpointEvaluator:
        max_steps = self.train_spec.max_steps
        return CheckpointEvaluator(self.estimator, self.eval_spec, max_steps, clock=self.clock)

    def _train(self, saving_listeners: Sequence[Any]) -> None:
        self.estimator.train(
            input_fn=self.train_spec.input_fn,
            max_steps=self.train_spec.max_steps,
            hooks=self.train_spec.hooks,
            saving_listeners=saving_listeners,
        )

    def _train_in_cluster(self, saving_listeners: Sequence[Any]) -> None:
        # The server comes first: other tasks connect to it while this task waits.
        if not platform_starts_servers():
            start_server(self.estimator.config)
        delay = self._delay_secs()
        if delay > 0:
            _LOG.info("Waiting %d secs before starting training.", delay)
            self.sleep(delay)
        self._train(saving_listeners)
        if self.estimator.config.task_type != "worker":
            end_job(self.estimator.config)

    def _delay_secs(self) -> float:
        """Returns the head start of the chief before this task in seconds."""
        config = self.estimator.config
        if config.task_type != "worker":
            return 0
        most = config.experimental_max_worker_delay_secs
        most = _MAX_DELAY_SECS if most is None else int(most)
        return float(min(most, (config.task_id + 1) * _DELAY_SECS_PER_WORKER))


def start_server(config: Any) -> Any:
    """Starts the TensorFlow server of the task and cluster of a `RunConfig`.

    Returns:
      A `tf.train.Server`; None if this task is the whole cluster and trains.

    Raises:
      RuntimeError: the configuration is incomplete.
    """
    spec = config.cluster_spec
    if not spec or not config.task_type or config.task_id is None:
        raise _incomplete("cluster_spec, task_type, and task")
    if not config.master:
        if config.task_type in _TRAINERS and sum(map(spec.num_tasks, spec.jobs)) == 1:
            _LOG.info("Skip starting Tensorflow server as there is only one node in the cluster.")
            return None
        raise _incomplete("master")
    _LOG.info("Start Tensorflow server.")
    # The options of GPUs are the only part of the session configuration that a server uses.
    proto = tf.ConfigProto()
    if config.session_config is not None:
        proto.gpu_options.CopyFrom(config.session_config.gpu_options)
    if "ps" not in spec.jobs:
        leader = next(job for job in _TRAINERS if job in spec.jobs)
        proto.experimental.collective_group_leader = f"/job:{leader}/replica:0/task:0"
    bypass_proxy(address for job in spec.jobs for address in spec.job_tasks(job))
    return confined_server(spec, config.task_type, config.task_id, proto, config.protocol)


def end_job(config: Any) -> None:
    """Ends the parameter servers; called by the chief after the training."""
    send_to_ps(cluster_from_tf_config(config.cluster), LEAVE)


def _incomplete(missing: str) -> RuntimeError:
    return RuntimeError(
        f"Could not start server; be sure to specify {missing} in RunConfig or set the TF_CONFIG "
        "environment variable."
    )


def platform_starts_servers() -> bool:
    """Returns whether the platform has started the servers of the cluster; TF_CONFIG says so."""
    tf_config = read_tf_config(os.environ)
    if not tf_config:
        _LOG.warning("TF_CONFIG should not be empty in distributed environment.")
    return bool(tf_config.get("environment") == "google")


def _check_type(name: str, argument: Any, kind: type) -> None:
    if not isinstance(argument, kind):
        raise TypeError(
            f"`{name}` must have type `tf.estimator.{kind.__name__}`. Got: {type(argument)}"
        )
