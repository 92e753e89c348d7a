"""What each task of `train_and_evaluate` does.

    chief, worker   start a server and train
    master          is a chief that evaluates as well
    ps              holds variables
    evaluator       evaluates checkpoints as they come; it has no part in the cluster
    local           trains and evaluates, alone

Order, delays and error texts are those of `_TrainingExecutor` of
tensorflow_estimator, training.py.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tf_frame.checkpoint.find.newest import step_of
from tf_frame.estimator.estimator import Estimator
from tf_frame.estimator.train_and_eval.checkpoint_evaluation import CheckpointEvaluator
from tf_frame.estimator.train_and_eval.continuous_evaluation import evaluate_continuously
from tf_frame.estimator.train_and_eval.evaluation_listener import (
    ContinuousEvalListener,
    EvaluationListener,
)
from tf_frame.estimator.train_and_eval.specs import EvalSpec, TrainSpec, spec_hooks
from tf_frame.estimator.train_and_eval.task_server import platform_starts_servers, start_server

_LOG = logging.getLogger("tf_frame")
_MAX_DELAY_SECS = 60
_DELAY_SECS_PER_WORKER = 5
_TASKS = ("chief", "evaluator", "master", "ps", "worker")


class Executor:
    """Runs this process's part of `train_and_evaluate`.

    Args:
      estimator: the `Estimator`.
      train_spec, eval_spec: see `train_and_evaluate`; a task that does not
        evaluate may do without `eval_spec`.
      train_hooks: more session hooks for training.
      continuous_eval_listener: asked before and after each evaluation whether to go on.
      clock, sleep: where the time comes from.

    Raises:
      TypeError: an argument is of another kind.
    """

    def __init__(
        self,
        estimator: Any,
        train_spec: TrainSpec,
        eval_spec: EvalSpec | None,
        train_hooks: Iterable[Any] | None = None,
        continuous_eval_listener: ContinuousEvalListener | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        _check_type("estimator", estimator, Estimator)
        _check_type("train_spec", train_spec, TrainSpec)
        if eval_spec is not None and not isinstance(eval_spec, EvalSpec):
            raise TypeError(
                "`eval_spec` must be either `None` or have type `tf.estimator.EvalSpec`. Got: "
                f"{type(eval_spec)}"
            )
        listener = continuous_eval_listener or ContinuousEvalListener()
        if not isinstance(listener, ContinuousEvalListener):
            raise TypeError(
                "`continuous_eval_listener` must have type `_ContinuousEvalListener`. Got: "
                f"{type(listener)}"
            )
        self._estimator = estimator
        self._train_spec = train_spec
        self._given_eval_spec = eval_spec
        self._hooks = [*train_spec.hooks, *spec_hooks(train_hooks)]
        self._listener = listener
        self._clock = clock
        self._sleep = sleep

    @property
    def estimator(self) -> Any:
        """The `Estimator`."""
        return self._estimator

    def run(self) -> tuple[Any, Any] | None:
        """Does what the task of `estimator.config` does.

        Returns:
          Metrics and export results where this process is alone; else None.

        Raises:
          ValueError: the configuration names no task, or one that does not exist.
        """
        config = self._estimator.config
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
        self._train_in_cluster(self._train_spec.saving_listeners)

    def run_worker(self) -> None:
        """Trains, a little after the chief."""
        self._train_in_cluster(())

    def run_master(self) -> None:
        """Does what the chief does, and evaluates what it saves."""
        listener = self._evaluation_listener(ContinuousEvalListener())
        self._train_in_cluster((*self._train_spec.saving_listeners, listener))

    def run_ps(self) -> None:
        """Holds variables; does not return."""
        start_server(self._estimator.config).join()

    def run_local(self) -> tuple[Any, Any]:
        """Trains, and evaluates every checkpoint that is saved.

        Returns:
          The metrics of the last evaluation and what the exporters returned then.
          Both are None where training, evaluation and export were finished already.
        """
        config = self._estimator.config
        _LOG.info(
            "Start train and evaluate loop. The evaluate will happen after every checkpoint. "
            "Checkpoint frequency is determined based on RunConfig arguments: "
            "save_checkpoints_steps %s or save_checkpoints_secs %s.",
            config.save_checkpoints_steps,
            config.save_checkpoints_secs,
        )
        listener = self._evaluation_listener(self._listener)
        self._train((*self._train_spec.saving_listeners, listener))
        if listener.eval_result is None:
            return self._make_up()
        return listener.eval_result.metrics, listener.export_results

    def run_evaluator(self) -> None:
        """Evaluates checkpoints as they come, until one of `max_steps` is there."""
        evaluate_continuously(
            self._checkpoint_evaluator(),
            self._eval_spec,
            self._train_spec.max_steps,
            self._listener,
            clock=self._clock,
            sleep=self._sleep,
        )

    def _make_up(self) -> tuple[Any, Any]:
        """Does what a run that had trained everything was stopped before doing."""
        evaluator, newest = self._checkpoint_evaluator(), self._estimator.latest_checkpoint()
        if not evaluator.has_work_left(step_of(newest)):
            return None, None
        result, exported = evaluator.evaluate_and_export()
        return result.metrics, exported

    @property
    def _eval_spec(self) -> EvalSpec:
        check_eval_spec(self._given_eval_spec)
        assert self._given_eval_spec is not None
        return self._given_eval_spec

    def _checkpoint_evaluator(self) -> CheckpointEvaluator:
        max_steps = self._train_spec.max_steps
        return CheckpointEvaluator(self._estimator, self._eval_spec, max_steps, clock=self._clock)

    def _evaluation_listener(self, listener: ContinuousEvalListener) -> EvaluationListener:
        return EvaluationListener(
            self._checkpoint_evaluator(),
            self._estimator.latest_checkpoint,
            self._eval_spec.throttle_secs,
            listener,
            clock=self._clock,
        )

    def _train(self, saving_listeners: Sequence[Any]) -> None:
        self._estimator.train(
            input_fn=self._train_spec.input_fn,
            max_steps=self._train_spec.max_steps,
            hooks=self._hooks,
            saving_listeners=saving_listeners,
        )

    def _train_in_cluster(self, saving_listeners: Sequence[Any]) -> None:
        # The server comes first: while this task waits, the others connect to it.
        if not platform_starts_servers():
            start_server(self._estimator.config)
        delay = self._delay_secs()
        if delay > 0:
            _LOG.info("Waiting %d secs before starting training.", delay)
            self._sleep(delay)
        self._train(saving_listeners)

    def _delay_secs(self) -> float:
        """Seconds that a worker lets the chief go ahead."""
        config = self._estimator.config
        if config.task_type != "worker":
            return 0
        most = config.experimental_max_worker_delay_secs
        most = _MAX_DELAY_SECS if most is None else int(most)
        return float(min(most, (config.task_id + 1) * _DELAY_SECS_PER_WORKER))


def check_eval_spec(eval_spec: Any) -> None:
    """Checks what is needed to evaluate.

    Raises:
      TypeError: it is no `EvalSpec`.
    """
    _check_type("eval_spec", eval_spec, EvalSpec)


def _check_type(name: str, given: Any, kind: type) -> None:
    if not isinstance(given, kind):
        raise TypeError(
            f"`{name}` must have type `tf.estimator.{kind.__name__}`. Got: {type(given)}"
        )
