"""Says in a file that training is alive, and how far it is."""

from __future__ import annotations

import json
import os
import socket
import time
from typing import Any

import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import write_text
from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence


class HeartbeatHook(Hook):
    """Writes `heartbeat.json`, for programs that look after a run.

        {"state": "training", "step": 120, "time": 1764230400.5, "pid": 4711, "host": "box",
         "task": 0}

    `state` is `starting` once there is a session, `training`, and `ended` when
    training has ended well. `time` is in seconds since 1970. A reader never
    sees half a file. A heart that beats at steps stops with them: a long
    interval means a step that hangs.

    Args:
      model_dir: the folder; it must exist.
      every_secs: seconds from one beat to the next, at the first step after them.
      task: number of the worker; others than 0 write `heartbeat_TASK.json`.

    Raises:
      ValueError: `every_secs` is not positive.
    """

    phase = Phase.LOG

    def __init__(self, model_dir: str, *, every_secs: float = 60.0, task: int = 0) -> None:
        name = f"heartbeat_{task}.json" if task else "heartbeat.json"
        self._path = os.path.join(model_dir, name)
        self._task = task
        super().__init__(Cadence(every_secs=every_secs))

    def start(self, session: Any, step: int) -> None:
        super().start(session, step)
        self._beat("starting", step)

    def after_step(self, run_context: Any, run_values: Any, step: int) -> None:
        self._beat("training", step)

    def end(self, session: Any) -> None:
        self._beat("ended", int(session.run(tf.train.get_global_step(session.graph))))

    def _beat(self, state: str, step: int) -> None:
        beat = {
            "state": state,
            "step": step,
            "time": time.time(),
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "task": self._task,
        }
        write_text(self._path, json.dumps(beat) + "\n")
