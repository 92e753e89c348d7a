"""`HeartbeatHook`: writes state and step of training at intervals, for monitoring programs."""

from __future__ import annotations

import json
import os
import socket
import time
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import write_file
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.types import Session


class HeartbeatHook(Hook):
    """Writes `heartbeat.json`, for programs that monitor a run.

        {"state": "training", "step": 120, "time": 1764230400.5, "pid": 4711, "host": "box",
         "task": 0}

    `state` is `starting` when a session has been created, then `training`, and
    `ended` after training without an error. `time` is in seconds since 1970.
    The file is replaced atomically, after a step. So an old `time` means that a step hangs.

    Args:
      model_dir: the folder; it must exist.
      every_secs: seconds after a heartbeat until the next step writes the file.
      task: index of the worker; workers other than 0 write `heartbeat_TASK.json`.
    """

    phase = Phase.LOG
    option = "--hook heartbeat"

    def __init__(self, model_dir: str, *, every_secs: float = 60.0, task: int = 0) -> None:
        name = f"heartbeat_{task}.json" if task else "heartbeat.json"
        self._path = os.path.join(model_dir, name)
        self._task = task
        super().__init__(Cadence(every_secs=every_secs))

    def start(self, session: Session, step: int) -> None:
        super().start(session, step)
        self._write("starting", step)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        self._write("training", step)

    def end(self, session: Session) -> None:
        self._write("ended", int(session.run(tf.train.get_global_step(session.graph))))

    def _write(self, state: str, step: int) -> None:
        content = {
            "state": state,
            "step": step,
            "time": time.time(),
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "task": self._task,
        }
        write_file(self._path, json.dumps(content) + "\n")
