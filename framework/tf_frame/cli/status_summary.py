"""The end of a run, for `tf-frame status`: how it ended, its metrics, its files, the next command.

runs/first: done, step 320 of 320
  ended        2026-11-23 10:48:13, after 43 s, 9.47 steps/s
  evaluation   step 320: mean_iou 0.9130  loss 0.0772
  best         mean_iou 0.9130 at step 320
  checkpoints  3, the newest is PREFIX-320
  next         tf-frame predict runs/first --input FILES
"""

from __future__ import annotations

import contextlib
import datetime
import os
from collections.abc import Iterator, Mapping
from typing import Any

from tf_frame import file_system
from tf_frame.checkpoint.names import INDEX, step_in_path
from tf_frame.cluster.status import FAILED, TaskStatus, run_command
from tf_frame.config.yaml_file import Settings, read_settings
from tf_frame.errors import ConfigError
from tf_frame.runs.records.evaluations import best_evaluation, read_evaluations
from tf_frame.runs.records.state import DIVERGED, DONE, GONE, RESTARTING, RunState, find_state
from tf_frame.runs.setup.model_dir import CONFIG_FILE
from tf_frame.shell_text import shell_word
from tf_frame.text import columns, figure, listed

_BEST, _EXPORTS = "best", "export"
_GONE = "ended without a result: its process is gone"
_GOES_ON = " goes on from the newest checkpoint"


def end_summary(folder: str, chief: TaskStatus, *, is_gone: bool) -> str:
    """Returns the summary of a run that is over, or that a launcher restarts; else empty.

    Args:
      folder: the folder of the run.
      chief: the status of its chief, or of its only process.
      is_gone: whether that process is known to have ended.
    """
    state = find_state(folder, chief, is_gone=is_gone)
    if state.writer is not None:
        return f"{folder}: starting; {state.writer} has begun to run in it"
    of = "" if chief.max_steps is None else f" of {chief.max_steps}"
    step = state.result.get("global_step", max(chief.step or 0, *_checkpoint_steps(folder), 0))
    if state.name == RESTARTING:
        return f"{folder}: restarting; the launcher is alive, step {step}{of}"
    if not state.is_over:
        return ""
    settings = _settings(folder)
    rows = [
        ("ended", _ended(chief, state.result)),
        *([("cause", chief.reason)] if chief.state == FAILED and chief.reason else []),
        *_metric_rows(folder, settings, state.result),
        *_file_rows(folder),
        ("next", _next_command(folder, chief, settings, state)),
    ]
    return f"{folder}: {_how(state)}, step {step}{of}\n{columns(rows)}"


def end_facts(folder: str, chief: TaskStatus, *, is_gone: bool) -> dict[str, Any] | None:
    """Returns the facts of the summary for programs; None while there is no end.

    Arguments: as of `end_summary`.
    """
    state = find_state(folder, chief, is_gone=is_gone)
    if not state.is_over:
        return None
    evaluations = read_evaluations(folder)
    step, metrics = evaluations[-1] if evaluations else (None, {})
    command = _next_command(folder, chief, _settings(folder), state)
    return {
        "how": _how(state),
        "cause": chief.reason,
        "metrics_step": step,
        "metrics": metrics,
        "newest_checkpoint_step": max(_checkpoint_steps(folder), default=None),
        "next": command.removesuffix(_GOES_ON),
    }


def _how(state: RunState) -> str:
    return {GONE: _GONE, DIVERGED: FAILED}.get(state.name, state.name)


def _settings(folder: str) -> Settings:
    with contextlib.suppress(ConfigError):
        return read_settings(os.path.join(folder, CONFIG_FILE))
    return Settings()


def _ended(chief: TaskStatus, result: Mapping[str, Any]) -> str:
    # The status is of the end of training, and the result of the end of its evaluation.
    ended = result.get("time", chief.time)
    when = datetime.datetime.fromtimestamp(ended).strftime("%Y-%m-%d %H:%M:%S")
    secs, rate = result.get("duration_secs"), result.get("steps_per_sec")
    took = f", after {datetime.timedelta(seconds=round(secs))}" if secs is not None else ""
    return when + took + (f", {rate:.2f} steps/s" if rate else "")


def _metric_rows(
    folder: str, settings: Settings, result: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    evaluations = read_evaluations(folder)
    if not evaluations:
        return
    step, last = evaluations[-1]
    names = [*(name for name in result.get("metrics") or () if name in last), *last]
    main, *_ = names = list(dict.fromkeys(names))
    yield "evaluation", f"step {step}: " + "  ".join(f"{n} {figure(last[n])}" for n in names)
    if settings.values.get("keep_best"):
        main = str(settings.values.get("best_metric", main))
    if best := best_evaluation(evaluations, main, settings.values.get("best_mode")):
        yield "best", f"{main} {figure(best.metrics[main])} at step {best.step}"


def _file_rows(folder: str) -> Iterator[tuple[str, str]]:
    if steps := _checkpoint_steps(folder):
        best = _checkpoint_steps(os.path.join(folder, _BEST))
        of_best = f"; {_BEST}: step {listed(sorted(best))}" if best else ""
        yield "checkpoints", f"{len(steps)}, the newest of step {max(steps)}{of_best}"
    if exports := file_system.files_in(os.path.join(folder, _EXPORTS)):
        yield "exports", listed(os.path.relpath(path, folder) for path in exports)


def _checkpoint_steps(folder: str) -> list[int]:
    paths = file_system.files_in(folder)
    steps = (step_in_path(p.removesuffix(INDEX)) for p in paths if p.endswith(INDEX))
    return [step for step in steps if step is not None]


def _next_command(folder: str, chief: TaskStatus, settings: Settings, state: RunState) -> str:
    if state.name == DONE:
        # Runs of an earlier version do not say.
        files = " --input FILES" if state.result.get("predicts_files", True) else ""
        return f"tf-frame predict {shell_word(folder)}{files}"
    if chief.diverged:
        # The newest checkpoint would diverge again.
        words = ["--config", os.path.join(folder, CONFIG_FILE), "--learning_rate"]
        return run_command(folder, [*words, _lower_rate(settings)])
    if chief.state == FAILED and chief.remedy:
        return chief.remedy  # The same command would fail again.
    command = run_command(folder, ["--model_dir", folder])
    return command + _GOES_ON


def _lower_rate(settings: Settings) -> str:
    rate = settings.values.get("learning_rate")
    return f"{rate / 10:g}" if isinstance(rate, int | float) else "RATE"
