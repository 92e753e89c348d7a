"""`RunContext`: the user's observer, the task of this process, hooks and listeners of a script.

`config.yaml` records the `TrainingSetup` of a training; a `RunContext` is made for one call.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tf_frame.cluster import Cluster
from tf_frame.hooks.metrics_log import MetricsLog
from tf_frame.session.interrupts import Interrupts

_LOG = logging.getLogger("tf_frame")


@dataclasses.dataclass(frozen=True)
class RunObserver:
    """Interface to the user of a run: receives reports, and can stop training.

    Attributes:
      report: takes a line for the user; default: the log of tf-frame.
      interrupts: the signals that stop training; default: none.
      shows_progress: whether training shows a bar, or lines of progress.
      regroup_due: called after each save; true ends this session of the job, as a signal does,
        with the exit code that asks to be started again.
      can_resume: False for a run whose folder is removed: nothing is said about its resume.
    """

    report: Callable[[str], None] = _LOG.info
    interrupts: Interrupts = dataclasses.field(default_factory=Interrupts)
    shows_progress: bool = False
    regroup_due: Callable[[], bool] = lambda: False
    can_resume: bool = True


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunContext:
    """Context of one training: the facts that do not belong to its `TrainingSetup`.

    Attributes:
      observer: the user.
      cluster: the task of this process.
      time_is_over: whether training must end by its time (`--max_secs`).
      checkpoint: the checkpoint that training resumes from; None for a new training.
      phase_ended: called with the name of a phase that ended, `graph` or `session`; see
        `PhaseTimes`.
      evaluate_step: evaluates the checkpoint of a step during training and returns
        metric -> value; None: nothing is evaluated.
      hooks: session hooks of a script, called after the model's `chief_hooks` and before the
        model's `hooks`.
      listeners: `CheckpointSaverListener`s of a script.
      saves_checkpoints: whether checkpoints are saved.
      session_config: a `ConfigProto` with fields that override tf-frame's fields, or None.
      warm_start_from: `WarmStartSettings` for a new training, or None.
      metrics: receives the figures of log intervals and evaluations.
      input_restarts_at: global step of a checkpoint after which the input is read from its
        beginning, although the checkpoint has a position in the input.
    """

    observer: RunObserver
    cluster: Cluster
    time_is_over: Callable[[], bool] = lambda: False
    checkpoint: str | None = None
    phase_ended: Callable[[str], None] = lambda phase: None
    evaluate_step: Callable[[int], Mapping[str, float]] | None = None
    hooks: Sequence[Any] = ()
    listeners: Sequence[Any] = ()
    saves_checkpoints: bool = True
    session_config: Any = None
    warm_start_from: Any = None
    metrics: MetricsLog = dataclasses.field(default_factory=MetricsLog)
    input_restarts_at: int | None = None
