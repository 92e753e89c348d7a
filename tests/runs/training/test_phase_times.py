import subprocess
import sys
import time

import pytest

from tf_frame.runs.training import phase_times
from tf_frame.runs.training.phase_times import GRAPH, SESSION, START, PhaseTimes

PROGRAM = (
    "from tf_frame.runs.training.phase_times import PhaseTimes; print(PhaseTimes().secs['start'])"
)


def test_the_first_phase_counts_from_the_begin_of_the_process():
    began = time.monotonic()
    secs = float(subprocess.check_output([sys.executable, "-c", PROGRAM], text=True))
    tick = 0.02
    assert 0 < secs < time.monotonic() - began + tick


@pytest.mark.parametrize(("began", "known"), [(None, []), (0.0, [START])])
def test_phases_follow_one_another(monkeypatch, began, known):
    now = iter([10.0, 12.5, 13.0])
    monkeypatch.setattr(phase_times, "process_began", lambda pid: began)
    monkeypatch.setattr(phase_times.time, "monotonic", lambda: next(now))
    phases = PhaseTimes()
    phases.end(GRAPH)
    phases.end(SESSION)
    assert list(phases.secs) == [*known, GRAPH, SESSION]
    assert (phases.secs[GRAPH], phases.secs[SESSION]) == (2.5, 0.5)
