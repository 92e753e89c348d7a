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
import csv
import datetime
import io
import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

from tf_frame import file_system
from tf_frame.checkpoint.names import INDEX, step_in_path
from tf_frame.cluster.status import ENDED, FAILED, TaskStatus, run_command
from tf_frame.config.metric_directions import higher_is_better
from tf_frame.config.yaml_file import Settings, read_settings
from tf_frame.errors import ConfigError, DataError
from tf_frame.file_lock import process_name
from tf_frame.runs.setup.folder_claim import find_writer, is_launching
from tf_frame.runs.setup.model_dir import CONFIG_FILE, RESULT_FILE
from tf_frame.shell_text import shell_word
from tf_frame.side_files import as_object, read_side_file
from tf_frame.text import columns, figure, listed, short

_BEST, _EXPORTS, _TABLE = "best", "export", "metrics.csv"
_GONE = "ended without a result: its process is gone"
_GOES_ON = " goes on from the newest checkpoint"
# Columns of metrics.csv that are no metrics of an evaluation.
_NO_METRICS = ("step", "split", "time", "learning_rate", "steps_per_sec")


def end_summary(folder: str, chief: TaskStatus, *, is_gone: bool) -> str:
    """Returns the summary of a run that is over, or that a launcher restarts; else empty.

    Args:
      folder: the folder of the run.
      chief: the status of its chief, or of its only process.
      is_gone: whether that process is known to have ended.
    """
    if (writer := _new_writer(folder, chief)) is not None:
        return f"{folder}: starting; {writer} has begun to run in it"
    result = _result(folder, chief)
    if not (is_gone or result or chief.state == FAILED):
        return ""
    settings = _settings(folder)
    of = "" if chief.max_steps is None else f" of {chief.max_steps}"
    step = result.get("global_step", max(chief.step or 0, *_checkpoint_steps(folder), 0))
    if _how(chief, result) == _GONE and is_launching(folder):
        return f"{folder}: restarting; the launcher is alive, step {step}{of}"
    rows = [
        ("ended", _ended(chief, result)),
        *([("cause", chief.reason)] if chief.state == FAILED and chief.reason else []),
        *_metric_rows(folder, settings, result),
        *_file_rows(folder),
        ("next", _next_command(folder, chief, settings, result)),
    ]
    return f"{folder}: {_how(chief, result)}, step {step}{of}\n{columns(rows)}"


def end_facts(folder: str, chief: TaskStatus, *, is_gone: bool) -> dict[str, Any] | None:
    """Returns the facts of the summary for programs; None while there is no end.

    Arguments: as of `end_summary`.
    """
    result = _result(folder, chief)
    how = _how(chief, result)
    if _new_writer(folder, chief) is not None:
        return None
    is_over = is_gone or result or chief.state == FAILED
    if not is_over or (how == _GONE and is_launching(folder)):
        return None
    evaluations = _evaluations(folder)
    step, metrics = evaluations[-1] if evaluations else (None, {})
    command = _next_command(folder, chief, _settings(folder), result)
    return {
        "how": how,
        "cause": chief.reason,
        "metrics_step": step,
        "metrics": metrics,
        "newest_checkpoint_step": max(_checkpoint_steps(folder), default=None),
        "next": command.removesuffix(_GOES_ON),
    }


def _new_writer(folder: str, chief: TaskStatus) -> str | None:
    """Returns the process that runs in the folder and has not written a status yet; or None."""
    writer = find_writer(folder)
    return None if writer == process_name(chief.pid, chief.host) else writer


def _how(chief: TaskStatus, result: Mapping[str, Any]) -> str:
    if chief.state == FAILED:
        return "failed"
    if chief.state == ENDED and chief.reason:
        return chief.reason
    if not result:
        # SIGKILL, or a machine that went down, leaves no result.
        return _GONE
    if result.get("stopped_by"):
        return f"stopped by {short(result['stopped_by'])}"
    is_done = chief.max_steps is None or result["global_step"] >= chief.max_steps
    return "done" if is_done else "ended early"


def _result(folder: str, chief: TaskStatus) -> Mapping[str, Any]:
    """Returns `result.json`; empty if there is none of the run that wrote the status."""
    result = None
    if chief.state == ENDED:
        with contextlib.suppress(DataError):
            result = read_side_file(os.path.join(folder, RESULT_FILE), as_object)
    # Asynchronous workers may make steps after the last one of the chief.
    is_of_run = result and result.get("global_step", -1) >= (chief.step or 0)
    return result if result and is_of_run and result.get("time", math.inf) >= chief.time else {}


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
    evaluations = _evaluations(folder)
    if not evaluations:
        return
    step, last = evaluations[-1]
    names = [*(name for name in result.get("metrics") or () if name in last), *last]
    main, *_ = names = list(dict.fromkeys(names))
    yield "evaluation", f"step {step}: " + "  ".join(f"{n} {figure(last[n])}" for n in names)
    if settings.values.get("keep_best"):
        main = str(settings.values.get("best_metric", main))
    with contextlib.suppress(ConfigError):  # A name that says no direction.
        rises = higher_is_better(main, settings.values.get("best_mode"), "")
        values = [(e[main] if rises else -e[main], step) for step, e in evaluations if main in e]
        if values:
            best, step = max(values)
            yield "best", f"{main} {figure(best if rises else -best)} at step {step}"


def _evaluations(folder: str) -> list[tuple[int, dict[str, float]]]:
    """Returns step and metrics of each evaluation in `metrics.csv`."""
    path = os.path.join(folder, _TABLE)
    if not file_system.exists(path):
        return []
    rows = []
    for row in csv.DictReader(io.StringIO(file_system.read_text(path))):
        with contextlib.suppress(ValueError, TypeError, KeyError):  # A row that was cut off.
            values = {k: float(v) for k, v in row.items() if v and k not in _NO_METRICS}
            if row["split"] == "eval" and values:
                rows.append((int(row["step"]), values))
    return rows


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


def _next_command(
    folder: str, chief: TaskStatus, settings: Settings, result: Mapping[str, Any]
) -> str:
    if _how(chief, result) == "done":
        # Runs of an earlier version do not say.
        files = " --input FILES" if result.get("predicts_files", True) else ""
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
