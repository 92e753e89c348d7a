"""One run of the command line: train or resume, evaluate, write `result.json`.

The same call starts a new run or resumes a stopped run: after a crash, a scheduler can start the
same command with the same folder again, and training goes on from the newest checkpoint.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import newest_checkpoint, read_step
from tf_frame.cluster import Cluster
from tf_frame.cluster.server import LEAVE, STOPPED, send_to_ps, start_server
from tf_frame.cluster.status import ENDED, STARTING, note_failure, own_status, write_status
from tf_frame.deploy.session_config import device_report, make_deployment, server_config
from tf_frame.errors import PeerLostError, TfFrameError
from tf_frame.hooks.by_name.resource_use import resource_use
from tf_frame.hooks.metrics_log import EVAL, MetricsCsv, MetricsLog
from tf_frame.plugin.contracts import predicts_files
from tf_frame.plugin.origin import empty_split_error, owner_suffix
from tf_frame.runs.error_translation import translated_errors
from tf_frame.runs.evaluation.evaluate import run_evaluator
from tf_frame.runs.setup.log_file import log_file
from tf_frame.runs.setup.model_dir import write_result
from tf_frame.runs.setup.run_context import RunContext, RunObserver
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.runs.training.evaluations import (
    EvaluationGraphHook,
    Evaluations,
    how_to_resume,
)
from tf_frame.runs.training.phase_times import EVALUATION, START, STEPS, PhaseTimes
from tf_frame.runs.training.training import Trained, Training
from tf_frame.session.interrupts import Interrupted


def run(
    setup: TrainingSetup,
    source: Any,
    *,
    cluster: Cluster,
    observer: RunObserver,
    session_config: Any = None,
) -> dict[str, Any]:
    """Trains from the newest checkpoint to `max_steps`, evaluates, writes `result.json`.

    The folder of the setup exists, and is claimed for the chief: `model_dir.claimed`. For
    `session_config` see `RunContext`.

    Returns:
      The result, as `result.json` has it.

    Raises:
      Interrupted: a signal stopped the run; a step that was trained is saved, and
        `result.json` says what stopped the run.
    """
    log = log_file(setup.model_dir, task=None if cluster.is_chief else cluster.task_name)
    noted = _failure_noted(setup.model_dir, cluster.task_name)
    with noted, log, translated_errors(setup.model_dir, source, resumes=True):
        return _Run(setup, source, cluster, observer, session_config).run()


@contextlib.contextmanager
def _failure_noted(model_dir: str, task: str) -> Iterator[None]:
    """Notes an error of the block in the status of a task, for `tf-frame status`."""
    try:
        yield
    except (Interrupted, PeerLostError):
        raise
    except Exception as error:
        # On a broken disk, say, the user is to read the error of the run.
        with contextlib.suppress(TfFrameError, OSError, tf.errors.OpError):
            note_failure(model_dir, task, error)
        raise


class _Run:
    """One run of the command line; `run` has the order."""

    def __init__(
        self,
        setup: TrainingSetup,
        source: Any,
        cluster: Cluster,
        observer: RunObserver,
        session_config: Any,
    ) -> None:
        self._started, self._phases = time.monotonic(), PhaseTimes()
        self._setup, self._source = setup, source
        self._cluster, self._observer = cluster, observer
        self._session_config = session_config
        began = self._started - self._phases.secs.get(START, 0.0)
        self._end_time = began + (setup.config.max_secs or math.inf)
        self._time_is_over = False
        _start_devices(setup, cluster, observer)
        self._model = setup.make_model(source.info)
        self._evaluator = run_evaluator(
            setup, model=self._model, source=source, report=observer.report
        )
        self._checkpoint = newest_checkpoint(setup.model_dir, observer.report)
        # Read now, for training may remove the checkpoint.
        self._first_step = read_step(self._checkpoint)
        self._metrics = MetricsLog(report=observer.report)
        self._evaluations = Evaluations(
            setup, self._evaluator, observer, self._metrics, cluster=cluster
        )
        if cluster.is_chief:
            path = os.path.join(setup.model_dir, "metrics.csv")
            table = MetricsCsv(path, last_step=self._first_step, report=observer.report)
            self._metrics.add(table)
            is_recorded = functools.partial(table.has, EVAL)
            self._evaluations = dataclasses.replace(self._evaluations, is_recorded=is_recorded)

    def run(self) -> dict[str, Any]:
        """Runs; arguments and results are those of the function `run`."""
        self._evaluates_at_end = _evaluates_at_end(self._setup, self._source, self._observer)
        stopped: Interrupted | None = None
        if self._first_step < self._setup.config.max_steps:
            # `StatusHook` writes from the start of the session, which may be much later.
            self._write_status(STARTING, self._first_step)
        with contextlib.closing(self._metrics), contextlib.closing(self._evaluator):
            if self._cluster.is_chief:
                self._evaluations.check_metrics()
            self._trained = self._train()
            self._phases.end(STEPS)
            self._release_ps()
            try:
                self._raise_if_interrupted()
                if self._first_step < self._setup.config.max_steps:
                    self._trained = self._explain(self._trained)
                if self._cluster.is_chief and self._evaluates_at_end:
                    self._evaluations.evaluate_newest()
            except Interrupted as error:
                stopped = error
            self._phases.end(EVALUATION)
        result = self._result(stopped)
        if self._cluster.is_chief:
            write_result(self._setup.model_dir, result)
        if stopped:
            raise stopped
        return result

    def _train(self) -> Trained:
        """Trains the steps that are missing up to `max_steps`."""
        report, step = self._observer.report, self._first_step
        max_steps, checkpoint = self._setup.config.max_steps, self._checkpoint
        if step >= max_steps:
            report(f"{checkpoint} has reached step {step} of {max_steps}: nothing to train")
            trained = Trained(step, None, None, None)
        else:
            if self._cluster.is_chief:
                self._evaluations.make_up(step)
            report(f"resuming from {checkpoint}" if checkpoint else "building the graph ...")
            trained = Training(
                self._setup, self._context(), model=self._model, source=self._source
            ).run()
        step = trained.global_step
        if trained.loss is None and step >= max_steps:
            # `StatusHook` writes in a session only; an earlier attempt may have failed.
            self._write_status(ENDED, step)
        return trained

    def _write_status(self, state: str, step: int) -> None:
        status = own_status(
            self._cluster.task_name,
            state,
            step=step,
            max_steps=self._setup.config.max_steps,
            num_workers=self._cluster.num_workers,
            num_ps=self._cluster.num_ps_tasks,
        )
        write_status(self._setup.model_dir, status)

    def _context(self) -> RunContext:
        return RunContext(
            observer=self._observer,
            cluster=self._cluster,
            time_is_over=self._is_time_over,
            checkpoint=self._checkpoint,
            phase_ended=self._phases.end,
            hooks=list(self._hooks()),
            evaluate_step=self._evaluations.evaluate_step,
            metrics=self._metrics,
            session_config=self._session_config,
        )

    def _hooks(self) -> Iterator[Any]:
        evaluates = self._evaluates_at_end or self._setup.config.evaluates_in_training
        if self._cluster.is_chief and evaluates:
            yield EvaluationGraphHook(self._evaluator, self._first_step + 1)

    def _release_ps(self) -> None:
        """Ends the parameter servers before the last evaluation, which needs none."""
        if self._cluster.is_chief and self._cluster.has_several_tasks:
            send_to_ps(self._cluster, STOPPED if self._observer.interrupts.received else LEAVE)

    def _raise_if_interrupted(self) -> None:
        step = max(self._first_step, self._trained.global_step)
        self._observer.interrupts.raise_if_received(how_to_resume(self._setup, step, self._cluster))
        last_step = self._setup.config.max_steps
        if self._cluster.meeting and not self._cluster.is_chief and step < last_step:
            raise PeerLostError(
                f"the chief ended this session at step {step} of {last_step}; this worker meets "
                "the others again when it is started again"
            )

    def _explain(self, trained: Trained) -> Trained:
        """Reports why training ended before its last step, if it did.

        Raises:
          DataError: the training data is empty.
        """
        report, last_step = self._observer.report, self._setup.config.max_steps
        step = trained.global_step
        if trained.loss is None and step >= last_step:
            # A worker that comes when the others are done has nothing to do.
            report(f"the other workers have reached step {step}: nothing to train")
        elif trained.loss is None and not trained.stopped:
            raise empty_split_error("training split", self._source)
        elif trained.loss is not None and not math.isfinite(trained.loss):
            # Only with `--on_nan stop`. Evaluation then uses the last good checkpoint.
            saved = newest_checkpoint(self._setup.model_dir)
            report(
                f"training was stopped at step {step} of {last_step}: "
                f"the loss is {trained.loss}; the last good checkpoint is {saved}"
            )
            return dataclasses.replace(trained, global_step=read_step(saved), loss=None)
        elif step < last_step and self._time_is_over:
            how = how_to_resume(self._setup, step, self._cluster)
            report(f"--max_secs {self._setup.config.max_secs:g}: {how}")
        elif step < last_step:
            place = f"at step {step} of {last_step}"
            by = f" by {trained.stopped_by}" if trained.stopped_by else ""
            report(
                f"training was stopped {place}{by}"
                if trained.stopped
                else f"warning: the training data ended {place}; dataset()"
                f"{owner_suffix(self._source)} must repeat it in Mode.TRAIN: dataset.repeat()"
            )
        return trained

    def _result(self, stopped: Interrupted | None) -> dict[str, Any]:
        return {
            "plugin": self._setup.model.name if self._setup.model else None,
            "predicts_files": predicts_files(type(self._source)),
            "global_step": self._trained.global_step,
            "total_loss": self._trained.loss,
            **self._evaluations.last(),
            "steps_per_sec": self._trained.steps_per_sec,
            "examples_per_sec": self._trained.examples_per_sec,
            "gflops_per_sec": _giga(self._trained.flops_per_sec),
            "peak_gflops": _giga(self._trained.peak_flops),
            "input_share": self._trained.input_share,
            "step_times": self._trained.step_times,
            "phase_secs": self._phases.secs,
            "peak_memory_bytes": resource_use().peak_memory_bytes,
            "duration_secs": time.monotonic() - self._started,
            "time": time.time(),
            "stopped_by": self._stopped_by(stopped),
            "ended_by": self._ended_by(),
        }

    def _is_time_over(self) -> bool:
        self._time_is_over = self._time_is_over or time.monotonic() >= self._end_time
        return self._time_is_over

    def _stopped_by(self, stopped: Interrupted | None) -> str | None:
        if stopped:
            return signal.Signals(stopped.signum).name
        return "--max_secs" if self._time_is_over else None

    def _ended_by(self) -> str | None:
        is_early = self._trained.global_step < self._setup.config.max_steps
        return self._trained.stopped_by if is_early else None


def _giga(value: float | None) -> float | None:
    return None if value is None else value / 1e9


def _start_devices(setup: TrainingSetup, cluster: Cluster, observer: RunObserver) -> None:
    """Reports the devices of this task, and starts its server if its job has one."""
    deployment = make_deployment(setup.config, cluster)
    elsewhere = "" if cluster.jobs else cluster.target
    observer.report(device_report(setup.config, deployment, server=elsewhere))
    if cluster.jobs and cluster.target:
        start_server(cluster, server_config(setup.config, deployment, cluster))


def _evaluates_at_end(setup: TrainingSetup, source: Any, observer: RunObserver) -> bool:
    """Returns whether the run evaluates at its end; reports it if the run evaluates nothing."""
    config, has_split = setup.config, setup.has_evaluation_data(source.info)
    if config.dedicated_evaluator:
        return False
    reason = "the input has no evaluation examples" if config.evaluate else "--noevaluate"
    if not (config.evaluate and has_split) and not config.evaluates_in_training:
        observer.report(f"note: nothing is evaluated: {reason}")
    return config.evaluate and has_split
