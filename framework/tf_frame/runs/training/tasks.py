"""The tasks of a job other than chief and workers: parameter servers, and the evaluator."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Mapping
from typing import Any

from tf_frame import file_system
from tf_frame.atomic_output import write_file
from tf_frame.checkpoint.find.newest import find_damage, newest_checkpoint, read_step
from tf_frame.cluster import Cluster
from tf_frame.cluster.server import serve, start_server
from tf_frame.cluster.status import (
    ENDED,
    EVALUATING,
    SERVING,
    WAITING,
    NewStatuses,
    own_status,
    write_status,
)
from tf_frame.deploy.session_config import make_deployment, server_config
from tf_frame.errors import CheckpointError
from tf_frame.hooks.metrics_log import MetricsLog
from tf_frame.profiling.capture import Capture, unused_path, warn_only
from tf_frame.profiling.process_profiler import CaptureError
from tf_frame.profiling.profile_folders import FAILURE
from tf_frame.run_folders import RESULT_FILE
from tf_frame.runs.error_translation import translated_errors
from tf_frame.runs.evaluation.evaluate import run_evaluator
from tf_frame.runs.setup.log_file import log_file
from tf_frame.runs.setup.run_context import RunObserver
from tf_frame.runs.setup.training_setup import TrainingSetup
from tf_frame.runs.training.evaluations import Evaluations
from tf_frame.side_files import as_object, read_or_set_aside

_LOOK_SECS = 0.5
_HEARTBEAT_SECS = 5.0
# A traced step of a worker, during which its server has the profiler, takes milliseconds.
_BUSY_SECS = 5.0


def hold_variables(setup: TrainingSetup, cluster: Cluster, observer: RunObserver) -> None:
    """Runs a parameter server until the chief ends the job.

    Raises:
      Interrupted: a signal ended the parameter server.
    """
    deployment = make_deployment(setup.config, cluster)
    with log_file(setup.model_dir, task=cluster.task_name):
        server = start_server(cluster, server_config(setup.config, deployment, cluster))
        observer.report(f"{cluster.task_name} holds variables at {cluster.target}")
        heartbeat = _Heartbeat(setup.model_dir, cluster.task_name, SERVING)
        heartbeat.write()
        ended = serve(
            server,
            signalled=lambda: observer.interrupts.received,
            alive=heartbeat.write_if_due,
            obey=_Profiler(cluster.task_id).obey,
        )
        heartbeat.write(ENDED)
    if not ended:
        observer.interrupts.raise_if_received("the parameter server ended")
    observer.report("the chief has ended the job")


class _Profiler:
    """Captures the steps of a parameter server that the chief requests."""

    def __init__(self, task: int) -> None:
        self._task = f"ps_{task}"
        self._capture: Capture | None = None
        self._failure = ""

    def obey(self, command: bytes) -> None:
        """Begins or ends a capture, by a command of the chief's `ProfileHook`."""
        request = json.loads(command)
        with warn_only(f"the profile of {self._task}"):
            try:
                (self._begin if request["begins"] else self._end)(request)
            except CaptureError as error:
                self._failure = str(error)
                raise
            finally:
                if self._failure and not request["begins"]:
                    self._write_failure(request)

    def _begin(self, request: Mapping[str, Any]) -> None:
        self._failure = ""
        capture = Capture(request["folder"], label=request["label"], task=self._task)
        capture.start(wait_secs=_BUSY_SECS)
        self._capture = capture

    def _end(self, request: Mapping[str, Any]) -> None:
        capture, self._capture = self._capture, None
        if capture is not None:
            capture.save(began=request["began"])

    def _write_failure(self, request: Mapping[str, Any]) -> None:
        free = unused_path(
            request["folder"], label=request["label"], task=self._task, began=request["began"]
        )
        file_system.make_folder(os.path.dirname(free))
        write_file(free + FAILURE, self._failure)


def evaluate_job(
    setup: TrainingSetup, source: Any, *, cluster: Cluster, observer: RunObserver
) -> dict[str, Any]:
    """Evaluates each new checkpoint of a job; returns the last metrics, as `result.json` has them.

    Raises:
      Interrupted: a signal ended the evaluator.
    """
    statuses, name = NewStatuses(setup.model_dir), cluster.task_name
    model = setup.make_model(source.info)
    with (
        log_file(setup.model_dir, task=name),
        translated_errors(setup.model_dir, source),
        contextlib.closing(
            run_evaluator(setup, model=model, source=source, report=observer.report)
        ) as evaluator,
    ):
        evaluations = Evaluations(setup, evaluator, observer, MetricsLog(), cluster=cluster)
        evaluations.check_metrics()
        heartbeat = _Heartbeat(setup.model_dir, name, WAITING)
        heartbeat.write()
        last = 0
        while True:
            ended = _chief_has_ended(statuses)
            newest = newest_checkpoint(setup.model_dir)
            if read_step(newest) > last:
                heartbeat.write(EVALUATING, step=read_step(newest))
                last = read_step(newest) if _evaluated(evaluations, newest) else last
            elif ended or last >= setup.config.max_steps:
                break
            observer.interrupts.raise_if_received("the evaluator ended")
            heartbeat.write_if_due()
            time.sleep(_LOOK_SECS)
        heartbeat.write(ENDED, step=last)
    result = evaluations.last()
    _add_to_result(setup.model_dir, result)
    return result


def _evaluated(evaluations: Evaluations, path: str | None) -> bool:
    """Evaluates a checkpoint; returns False if training has removed the checkpoint."""
    try:
        evaluations.evaluate_step(read_step(path))
    except CheckpointError:
        if path is None or not find_damage(path):
            raise
        return False
    return True


def _chief_has_ended(statuses: NewStatuses) -> bool:
    return any(status.task == "chief-0" and status.state == ENDED for status in statuses.read())


def _add_to_result(model_dir: str, result: dict[str, Any]) -> None:
    """Adds the last evaluation to the `result.json` of the chief."""
    path = os.path.join(model_dir, RESULT_FILE)
    written = read_or_set_aside(path, as_object)
    if written is not None:
        write_file(path, json.dumps({**written, **result}, indent=2) + "\n")


class _Heartbeat:
    """Writes the status of a task at intervals; `state` is the default."""

    def __init__(self, model_dir: str, task: str, state: str) -> None:
        self._model_dir, self._task, self._state = model_dir, task, state
        self._written = 0.0

    def write(self, state: str | None = None, *, step: int | None = None) -> None:
        """Writes a state."""
        self._written = time.monotonic()
        status = own_status(self._task, state or self._state, step=step)
        write_status(self._model_dir, status)

    def write_if_due(self) -> None:
        """Writes the state if the last write is long ago."""
        if time.monotonic() > self._written + _HEARTBEAT_SECS:
            self.write()
