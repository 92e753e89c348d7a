import subprocess
import sys
import time

import pytest

from tf_frame import process_start
from tf_frame.process_start import process_secs

PROGRAM = "from tf_frame.process_start import process_secs; print(process_secs())"


@pytest.mark.parametrize("system", ["this one", "no Linux"])
def test_time_counts_from_the_begin_of_the_process(system):
    program = PROGRAM
    if system == "no Linux":
        program = f"from tf_frame import process_start as p; p._STAT = '/none'; {PROGRAM}"
    began = time.monotonic()
    secs = float(subprocess.check_output([sys.executable, "-c", program], text=True))
    tick = 0.02
    assert -tick < secs < time.monotonic() - began + tick


def test_it_goes_on_with_the_clock(monkeypatch):
    ahead = time.monotonic() - process_secs()
    assert time.monotonic() - process_secs() == pytest.approx(ahead, abs=0.01)
    monkeypatch.setattr(process_start, "_STAT", "/none")
    monkeypatch.setattr(process_start, "_IMPORTED", time.monotonic() - 100)
    assert process_secs() == pytest.approx(100, abs=1)
