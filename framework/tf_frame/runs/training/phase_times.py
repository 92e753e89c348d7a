"""`PhaseTimes`: how long each part of a run takes, for `result.json`."""

from __future__ import annotations

import os
import time

from tf_frame.cluster.status import process_began

# From the begin of the process to that of the run: interpreter, plugins, TensorFlow's import.
START = "start"
GRAPH, SESSION, STEPS, EVALUATION = "graph", "session", "steps", "evaluation"


class PhaseTimes:
    """Measures the phases of a run, one after the other, from the begin of the process on.

    Attributes:
      secs: phase -> seconds. `start` is known on Linux only; `session`: variables and the first
        checkpoint; `steps`: all steps, with evaluations and checkpoints between them;
        `evaluation`: the one after the steps.
    """

    def __init__(self) -> None:
        self.secs: dict[str, float] = {}
        if (began := process_began(os.getpid())) is not None:
            self.secs[START] = time.clock_gettime(time.CLOCK_BOOTTIME) - began
        self._ended = time.monotonic()

    def end(self, phase: str) -> None:
        """Ends a phase; the next one begins."""
        began, self._ended = self._ended, time.monotonic()
        self.secs[phase] = self._ended - began
