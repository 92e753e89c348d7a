"""The profiles that the chief lets a parameter server make."""

import json

import pytest
from tensorflow.python.profiler.internal import _pywrap_profiler

from tf_frame.runs.training import tasks
from tf_frame.runs.training.tasks import _Profiler


@pytest.fixture
def obey(tmp_path):
    """Gives a parameter server a command of the chief; returns the files of its profile."""
    profiler = _Profiler(0)

    def obey(*, begins):
        command = {"folder": str(tmp_path), "label": "attach_1", "began": 1e9, "begins": begins}
        profiler.obey(json.dumps(command).encode())
        return list((tmp_path / "plugins" / "profile").glob("*_attach_1/*_ps_0.*"))

    return obey


def test_a_capture_is_written_at_its_end(obey):
    assert obey(begins=True) == []
    (file,) = obey(begins=False)
    assert file.name.endswith(".xplane.pb")


def test_a_capture_that_another_one_prevents_leaves_the_reason(obey, monkeypatch):
    monkeypatch.setattr(tasks, "_BUSY_SECS", 0.0)
    other = _pywrap_profiler.ProfilerSession()
    other.start("", {})
    assert obey(begins=True) == []
    other.stop()
    (file,) = obey(begins=False)
    assert file.name.endswith(".failure.txt") and "a profiler server is" in file.read_text()
    assert obey(begins=True) == [file]
    assert len(obey(begins=False)) == 2
