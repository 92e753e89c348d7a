"""The folder of a run, and the files in it beside checkpoints and events.

| file | content |
|---|---|
| `config.yaml` | the resolved configuration, to resume, evaluate and export by |
| `train.log` | the log of tf-frame |
| `result.json` | the result of the last run, for programs |
| `run.lock` | locked while a run writes to the folder, so that a second one is refused |
| `training_ended_at` | the last step of the last completed `Estimator.train`: see `completed_step`|
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from tf_frame.atomic_output import write_file
from tf_frame.errors import ConfigError

CONFIG_FILE = "config.yaml"
_RESULT_FILE = "result.json"
_COMPLETED_FILE = "training_ended_at"
_LOG = logging.getLogger("tf_frame")


def default_model_dir(plugin: str) -> str:
    """Returns the path of a new folder under `./runs`, named after plugin and time."""
    start = os.path.join("runs", f"{plugin.split(':')[-1]}-{time.strftime('%Y%m%d-%H%M%S')}")
    path, count = start, 1
    while os.path.exists(path):
        count += 1
        path = f"{start}-{count}"
    return path


@contextlib.contextmanager
def discarded_if_unused(path: str, *, is_chief: bool = True) -> Iterator[None]:
    """Creates the folder, and removes it again if the run fails before it begins to train.

    Only the chief removes the folder, and only a folder that did not exist before:
    another worker may just have been the first to create it.

    Raises:
      ConfigError: the folder cannot be written.
    """
    existed = os.path.exists(path)
    _create(path)
    try:
        yield
    except BaseException:
        # The configuration is written as soon as there is a session.
        if is_chief and not existed and not os.path.exists(os.path.join(path, CONFIG_FILE)):
            shutil.rmtree(path)
        raise


def _create(path: str) -> None:
    if "://" in path:
        raise ConfigError(f"--model_dir {path}: only folders of this machine can be written")
    if any(character in path for character in "*?["):
        raise ConfigError(
            f"--model_dir {path}: TensorFlow's savers take *, ? and [ in a path for a pattern; "
            "choose a folder without them"
        )
    try:
        os.makedirs(path, exist_ok=True)
        with tempfile.TemporaryFile(dir=path) as probe:
            probe.write(b"tf-frame")
    except OSError as error:
        raise ConfigError(
            f"--model_dir {path} cannot be written: {error.strerror}; choose another folder"
        ) from None


@contextlib.contextmanager
def locked(path: str) -> Iterator[None]:
    """Locks the folder for this process; the lock ends with the process, even if it is killed.

    Raises:
      ConfigError: another run holds the lock.
    """
    with open(os.path.join(path, "run.lock"), "a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                f"another run is writing to --model_dir {path}; wait for it, or choose another"
            ) from None
        yield


def write_result(model_dir: str, result: dict[str, Any]) -> None:
    """Writes `result.json`.

    A run that trained nothing, because the last step had been reached, keeps
    loss and throughput of the run that did.
    """
    before = _read_result(model_dir)
    if result["steps_per_sec"] is None and before.get("global_step") == result["global_step"]:
        for name in ("loss", "steps_per_sec", "examples_per_sec"):
            result = {**result, name: before.get(name)}
    write_file(os.path.join(model_dir, _RESULT_FILE), json.dumps(result, indent=2) + "\n")


def _read_result(model_dir: str) -> dict[str, Any]:
    try:
        with open(os.path.join(model_dir, _RESULT_FILE), encoding="utf-8") as file:
            result = json.load(file)
    except (FileNotFoundError, ValueError):  # ValueError: not JSON, or not even text.
        return {}
    return result if isinstance(result, dict) else {}


def completed_step(model_dir: str) -> int | None:
    """Returns the step at which `Estimator.train` last ended in order; None for never.

    tf.estimator's `train` reads its input from the beginning at each call, and
    scripts train epoch by epoch in this way. After a training that was killed, the
    next one resumes the input at the position in the checkpoint instead.
    """
    try:
        with open(os.path.join(model_dir, _COMPLETED_FILE), encoding="utf-8") as file:
            text = file.read().strip()
    except FileNotFoundError:
        return None
    return int(text) if text.isdigit() else None


def write_completed_step(model_dir: str, step: int) -> None:
    """Records the global step at which `Estimator.train` ended in order."""
    write_file(os.path.join(model_dir, _COMPLETED_FILE), f"{step}\n")


class _LogFile(logging.FileHandler):
    """A log file that never ends a run.

    On a full disk the checkpoint or summary that cannot be written is the
    error to report; a lost log line must not hide it.
    """

    def handleError(self, record: logging.LogRecord) -> None:
        pass

    def close(self) -> None:
        with contextlib.suppress(OSError):
            super().close()


@contextlib.contextmanager
def log_file(model_dir: str) -> Iterator[None]:
    """Appends the log of tf-frame to `train.log` inside the block."""
    handler = _LogFile(os.path.join(model_dir, "train.log"), encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    level = _LOG.level
    _LOG.addHandler(handler)
    _LOG.setLevel(logging.INFO)
    try:
        yield
    finally:
        _LOG.setLevel(level)
        _LOG.removeHandler(handler)
        handler.close()
