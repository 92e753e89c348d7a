"""`Experiment`: an estimator with the data of its training and evaluation."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from tf_frame.estimator.argument_checks import argument_names
from tf_frame.estimator.estimator import Estimator as CoreEstimator
from tf_frame.estimator.exporters import Exporter
from tf_frame.estimator.train_and_eval.executor import Executor
from tf_frame.estimator.train_and_eval.specs import EvalSpec, TrainSpec
from tf_frame_legacy.contrib.learn.estimator import Estimator
from tf_frame_legacy.contrib.learn.export_strategy import ExportStrategy

_LOG = logging.getLogger("tf_frame")
_SECS_PER_TASK, _MAX_SECS = 5, 60


class Experiment:
    """Trains and evaluates an estimator by the methods that `learn_runner` calls by name.

    Subclasses of old programs read the attributes that begin with an underscore, and call
    `_maybe_export`.

    Args:
      estimator: an `Estimator` of tf.estimator or tf.contrib.learn.
      train_input_fn, eval_input_fn: input functions.
      eval_metrics: name -> `MetricSpec`, for an estimator of tf.contrib.learn.
      train_steps: global step at the end; None: no end.
      eval_steps: largest number of batches of an evaluation; None: all data.
      train_monitors, eval_hooks: session hooks.
      local_eval_frequency: for `local_run`, as `min_eval_frequency`; None: only at the end.
      eval_delay_secs: seconds to wait before an evaluation in a task of its own.
      continuous_eval_throttle_secs: least seconds between evaluations in such a task.
      min_eval_frequency: 0: `train_and_evaluate` evaluates only at the end; any other number:
        every checkpoint that is saved.
      delay_workers_by_global_step: without effect; workers wait for some seconds.
      export_strategies: an `ExportStrategy`, or several.
      train_steps_per_iteration: steps between evaluations in `continuous_train_and_eval`.
      checkpoint_and_export: whether `train_and_evaluate` exports after each evaluation.
      saving_listeners: see `tf.estimator.Estimator.train`.
      check_interval_secs: without effect.

    Raises:
      ValueError: an argument has the wrong type, or does not fit the estimator.
    """

    def __init__(
        self,
        estimator: Any,
        train_input_fn: Any,
        eval_input_fn: Any,
        eval_metrics: Any = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Sequence[Any] | None = None,
        eval_hooks: Sequence[Any] | None = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: Any = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Sequence[Any] | None = None,
        check_interval_secs: float = 5,
    ) -> None:
        del delay_workers_by_global_step, check_interval_secs
        if isinstance(estimator, CoreEstimator):
            if eval_metrics is not None:
                raise ValueError(
                    "`eval_metrics` must be `None` with `tf.estimator.Estimator`. Use "
                    "`eval_metric_ops` in `tf.estimator.EstimatorSpec` instead."
                )
        elif not isinstance(estimator, Estimator):
            raise ValueError(
                "`estimator` must implement `tf.contrib.learn.Evaluable` or "
                "`tf.estimator.Estimator`."
            )
        elif saving_listeners is not None:
            raise ValueError("`saving_listeners` must be `None` with `tf.contrib.learn.Estimator`.")
        if not isinstance(train_steps_per_iteration, (int, type(None))):
            raise ValueError("`train_steps_per_iteration` must be an integer.")
        self._estimator = estimator
        self._eval_metrics = eval_metrics
        self._train_steps = train_steps
        self._eval_steps = eval_steps
        self._train_input_fn, self._eval_input_fn = train_input_fn, eval_input_fn
        self._train_monitors, self._eval_hooks = list(train_monitors or ()), list(eval_hooks or ())
        self._local_eval_frequency = local_eval_frequency
        self._eval_delay_secs = eval_delay_secs
        self._throttle_secs = continuous_eval_throttle_secs
        self._min_eval_frequency = 1 if min_eval_frequency is None else min_eval_frequency
        self._train_steps_per_iteration = train_steps_per_iteration
        self._checkpoint_and_export = checkpoint_and_export
        self._listeners = saving_listeners
        self._strategies = _checked_strategies(export_strategies)

    @property
    def estimator(self) -> Any:
        """The estimator."""
        return self._estimator

    @property
    def eval_metrics(self) -> Any:
        """Name -> `MetricSpec`; None for an estimator of tf.estimator."""
        return self._eval_metrics

    @property
    def train_steps(self) -> int | None:
        """Global step at the end; None: no end."""
        return self._train_steps

    @property
    def eval_steps(self) -> int | None:
        """Largest number of batches of an evaluation; None: all data."""
        return self._eval_steps

    def extend_train_hooks(self, additional_hooks: Sequence[Any]) -> None:
        """Adds session hooks of the training."""
        self._train_monitors.extend(additional_hooks)

    def reset_export_strategies(self, new_export_strategies: Any = None) -> Any:
        """Replaces the strategies, and returns the former ones."""
        former, self._strategies = self._strategies, _checked_strategies(new_export_strategies)
        return former

    def train(self, delay_secs: float | None = None) -> Any:
        """Trains up to `train_steps`; in a cluster as a task of it. Returns the estimator."""
        config = self.estimator.config
        if config.cluster_spec:
            executor = self._executor()
            if config.is_chief:
                executor.run_chief()
            else:
                executor.run_worker()
            return self.estimator
        if delay_secs is None:
            delay_secs = min(_MAX_SECS, _SECS_PER_TASK * config.task_id)
        _wait(delay_secs, "training")
        return self._train(max_steps=self.train_steps)

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> Any:
        """Evaluates the newest checkpoint, after a delay; returns the metrics."""
        _wait(self._eval_delay_secs if delay_secs is None else delay_secs, "eval")
        return self._evaluate(name or "one_pass")

    def local_run(self) -> tuple[Any, list[Any]]:
        """Trains and evaluates, with `local_eval_frequency`."""
        return self._train_and_evaluate(bool(self._local_eval_frequency))

    def train_and_evaluate(self) -> tuple[Any, list[Any]]:
        """Trains and evaluates; returns the last metrics and the results of the exports."""
        return self._train_and_evaluate(bool(self._min_eval_frequency))

    def continuous_eval(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Any = None,
        name: str = "continuous",
    ) -> None:
        """Evaluates the checkpoints of another process, up to `train_steps`.

        Args:
          delay_secs, throttle_delay_secs: replace the arguments of the constructor.
          evaluate_checkpoint_only_once: whether to wait for a new checkpoint.
          continuous_eval_predicate_fn: a function of the last metrics, None at first, and perhaps
            `checkpoint_path`; false ends the evaluations.
          name: name of the evaluation.
        """
        self._continuous_eval(
            self._eval_input_fn,
            name,
            delay_secs,
            throttle_delay_secs,
            _predicate(continuous_eval_predicate_fn),
            once=evaluate_checkpoint_only_once,
            exports=True,
        )

    def continuous_eval_on_train_data(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        continuous_eval_predicate_fn: Any = None,
        name: str = "continuous_on_train_data",
    ) -> None:
        """Evaluates the training data without exports; see `continuous_eval`."""
        self._continuous_eval(
            self._train_input_fn,
            name,
            delay_secs,
            throttle_delay_secs,
            _predicate(continuous_eval_predicate_fn),
            once=True,
            exports=False,
        )

    def continuous_train_and_eval(
        self, continuous_eval_predicate_fn: Any = None
    ) -> tuple[Any, list[Any] | None]:
        """Trains some steps and evaluates, in turns, up to `train_steps`."""
        keep_on = _predicate(continuous_eval_predicate_fn)
        steps = self._train_steps_per_iteration
        if steps is None:
            steps = 1000 if self.train_steps is None else max(1, int(self.train_steps / 10))
        result, exports, checkpoint = None, None, None
        while keep_on(result, checkpoint) and not self._reached_end(result):
            self._train(steps=steps)
            checkpoint = self._core.latest_checkpoint()
            result = self._evaluate("one_pass", checkpoint_path=checkpoint)
            exports = self._maybe_export(result)
        return result, exports

    def run_std_server(self) -> None:
        """Serves as a parameter server until the chief has ended the job."""
        self._executor().run_ps()

    def test(self) -> Any:
        """Trains and evaluates a single step, and exports; returns the metrics."""
        self._train(steps=1)
        result = self._evaluate("one_pass", steps=1)
        self._maybe_export(result)
        return result

    @property
    def _core(self) -> Any:
        is_core = isinstance(self.estimator, CoreEstimator)
        return self.estimator if is_core else self.estimator.core

    def _executor(self, exporters: Sequence[Exporter] = ()) -> Executor:
        estimator = self._core
        if self.eval_metrics:
            estimator = self.estimator.with_metrics(self.eval_metrics)
        train_spec = TrainSpec(
            self._train_input_fn, self.train_steps, self._train_monitors, self._listeners
        )
        eval_spec = EvalSpec(
            self._eval_input_fn,
            self.eval_steps,
            hooks=self._eval_hooks,
            exporters=exporters,
            start_delay_secs=0,
            throttle_secs=0,
        )
        return Executor(estimator, train_spec, eval_spec)

    def _train(self, **steps: Any) -> Any:
        self._core.train(
            self._train_input_fn, self._train_monitors, saving_listeners=self._listeners, **steps
        )
        return self.estimator

    def _evaluate(
        self,
        name: str | None,
        *,
        input_fn: Any = None,
        steps: int | None = None,
        checkpoint_path: str | None = None,
    ) -> Any:
        metrics = {} if self.eval_metrics is None else {"metrics": self.eval_metrics}
        return self.estimator.evaluate(
            input_fn=input_fn or self._eval_input_fn,
            steps=steps or self.eval_steps,
            name=name,
            checkpoint_path=checkpoint_path,
            hooks=self._eval_hooks,
            **metrics,
        )

    def _train_and_evaluate(self, while_training: bool) -> tuple[Any, list[Any]]:
        result, exported = None, None
        if self._checkpoint_and_export or while_training:
            each_time = [_StrategyExporter(s) for s in self._strategies]
            executor = self._executor(each_time if self._checkpoint_and_export else ())
            if self.estimator.config.cluster_spec:
                executor.run_master()
            else:
                result, exported = executor.run_local()
        else:
            self.train(delay_secs=0)
        if result is None:
            result, exported = self._evaluate(None), None
        if not self._checkpoint_and_export or exported is None:
            exported = self._maybe_export(result)
        return result, list(exported)

    def _continuous_eval(
        self,
        input_fn: Any,
        name: str,
        delay_secs: float | None,
        throttle_secs: float | None,
        keep_on: Callable[[Any, Any], bool],
        *,
        once: bool,
        exports: bool,
    ) -> None:
        throttle_secs = self._throttle_secs if throttle_secs is None else throttle_secs
        _wait(self._eval_delay_secs if delay_secs is None else delay_secs, "eval")
        result, evaluated = None, None
        while keep_on(result, evaluated) and not self._reached_end(result):
            started = time.monotonic()
            newest = self._core.latest_checkpoint()
            if newest is None or (once and newest == evaluated):
                result = {}
            else:
                result = self._evaluate(name, input_fn=input_fn, checkpoint_path=newest)
                evaluated = newest
                if exports:
                    self._maybe_export(result, newest)
            if not self._reached_end(result):
                time.sleep(max(0, throttle_secs - (time.monotonic() - started)))

    def _reached_end(self, result: Any) -> bool:
        step = (result or {}).get("global_step")
        return bool(step and self.train_steps and step >= self.train_steps)

    def _maybe_export(self, result: Any, checkpoint_path: str | None = None) -> list[Any]:
        base = os.path.join(self.estimator.model_dir, "export")
        return [
            strategy.export(
                self.estimator,
                os.path.join(base, strategy.name),
                checkpoint_path=checkpoint_path,
                eval_result=result,
            )
            for strategy in self._strategies
        ]


class _StrategyExporter(Exporter):
    """An exporter of tf.estimator that calls an `ExportStrategy`."""

    def __init__(self, strategy: ExportStrategy) -> None:
        self._strategy = strategy

    @property
    def name(self) -> str:
        return str(self._strategy.name)

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Any,
        is_the_final_export: bool,
    ) -> Any:
        return self._strategy.export(estimator, export_path, checkpoint_path, eval_result)


def _checked_strategies(strategies: Any) -> tuple[ExportStrategy, ...]:
    """Returns one strategy, several or None as a tuple."""
    several = [strategies] if isinstance(strategies, ExportStrategy) else list(strategies or ())
    for strategy in several:
        if not isinstance(strategy, ExportStrategy):
            raise ValueError(
                "`export_strategies` must be an ExportStrategy, an iterable of ExportStrategy, or "
                f"`None`, found {strategy}."
            )
    return tuple(several)


def _predicate(function: Any) -> Callable[[Any, Any], bool]:
    """Returns a function of the last metrics and their checkpoint."""
    if function is None:
        return lambda result, checkpoint: True
    if not callable(function):
        raise ValueError("`continuous_eval_predicate_fn` must be a callable, or None.")
    takes_path = "checkpoint_path" in argument_names(function)
    return lambda result, checkpoint: bool(
        function(result, checkpoint_path=checkpoint) if takes_path else function(result)
    )


def _wait(secs: float, before: str) -> None:
    if secs:
        _LOG.info("Waiting %d secs before starting %s.", secs, before)
        time.sleep(secs)
