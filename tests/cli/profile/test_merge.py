import gzip

import pytest

from chrome_traces import checked, rows
from step_profiles import make_profile, write_profile
from tf_frame.cli.profile.merge import main
from tf_frame.errors import ConfigError, DataError

RUN = "2026_01_31_12_00_00_step_100"
DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


@pytest.fixture
def model_dir(tmp_path):
    """The folder of a run with a single task."""
    write_profile(tmp_path, RUN, make_profile("worker_0", [(DEVICE, "a", "Add", 0, 10)]))
    return tmp_path


def test_the_trace_is_written_beside_the_captures(model_dir, capsys):
    assert main([str(model_dir)]) == 0
    path = model_dir / "plugins" / "profile" / RUN / "merged.json.gz"
    events = checked(gzip.decompress(path.read_bytes()).decode())
    assert list(rows(events)) == ["worker_0 Python", "worker_0 CPU:0"]
    printed = capsys.readouterr().out
    assert f"wrote {path}: 4 events of {RUN} on 2 rows\n  worker_0 Python\n" in printed


def test_run_step_and_output_are_taken(model_dir):
    other = make_profile("worker_0", [], number=7)
    write_profile(model_dir, "2025_01_01_00_00_00", other)
    path = model_dir / "new" / "a.json"
    words = ["--run", "2025_01_01_00_00_00", "--step", "7", "--output", str(path)]
    assert main([str(model_dir), *words]) == 0
    assert "step 7" in {event["name"] for event in checked(path.read_text())}
    with pytest.raises(ConfigError, match="no task recorded step 8"):
        main([str(model_dir), *words, "--step", "8"])


def test_threadpool_events_are_kept_if_they_are_wanted(model_dir, monkeypatch):
    from tf_frame.profiling import xplane

    asked = []
    capture = model_dir / "plugins" / "profile" / RUN / "host_ps_0.xplane.pb"
    capture.touch()
    monkeypatch.setattr(
        xplane, "read_lines", lambda path, keep_threadpool: asked.append(keep_threadpool) or []
    )
    for words in ([], ["--keep_threadpool"]):
        main([str(model_dir), *words])
    assert asked == [False, True]


def test_a_file_that_cannot_be_written_is_told(model_dir):
    (model_dir / "file").touch()
    with pytest.raises(ConfigError, match="cannot be written"):
        main([str(model_dir), "--output", str(model_dir / "file" / "a.json")])


def test_a_profile_without_events_is_an_error(tmp_path):
    run = tmp_path / "plugins" / "profile" / RUN
    run.mkdir(parents=True)
    (run / "here_worker_0.xplane.pb").touch()
    with pytest.raises(DataError, match=f"{RUN} has no events"):
        main([str(tmp_path)])
    assert len(list(run.iterdir())) == 1
