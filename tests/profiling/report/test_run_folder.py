import re

import pytest

from hand_made_steps import Recording
from tf_frame.errors import ConfigError, DataError
from tf_frame.profiling.report.run_folder import find
from tf_frame.profiling.step_profile import to_bytes

OLD, NEW = "2026_01_31_12_00_00_step_100", "2026_01_31_12_05_00_step_20"


@pytest.fixture
def model_dir(tmp_path):
    """Two runs with recorded steps, the newer one of two tasks, and a newest one without."""
    for run, task in [(OLD, "worker_0"), (NEW, "worker_0"), (NEW, "worker_1")]:
        folder = tmp_path / "plugins" / "profile" / run
        folder.mkdir(parents=True, exist_ok=True)
        content = to_bytes(Recording(task=task).step(1).profile())
        (folder / f"here_{task}.steps.json.gz").write_bytes(content)
        (folder / f"here_{task}.xplane.pb").write_bytes(b"")
    (tmp_path / "plugins" / "profile" / "2027_01_01_00_00_00").mkdir()
    return tmp_path


def test_the_newest_run_with_recorded_steps_is_read_with_all_tasks(model_dir):
    run = find(str(model_dir))
    assert run.name == NEW
    assert [profile.task for profile in run.profiles] == ["worker_0", "worker_1"]


def test_a_run_is_read_by_its_name(model_dir):
    assert find(str(model_dir), OLD).name == OLD


def test_a_name_that_is_not_there_is_refused(model_dir):
    with pytest.raises(ConfigError, match=f"--run {OLD[:-1]}: .*did you mean {OLD}"):
        find(str(model_dir), OLD[:-1])
    with pytest.raises(ConfigError, match=f"it has {OLD}, {NEW}"):
        find(str(model_dir), "x")


def test_a_folder_without_profile_or_no_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"has no recorded steps .*; record some with"):
        find(str(tmp_path))
    with pytest.raises(ConfigError, match="there is no such folder"):
        find(str(tmp_path / "x"))


@pytest.mark.parametrize("rest", [b"", b"\xff" * 40], ids=["truncated", "overwritten"])
def test_a_damaged_file_is_named_and_the_others_are_read(model_dir, rest, caplog):
    fault = "here_worker_1.steps.json.gz is no profile .* damaged"
    for number in (1, 0):
        path = model_dir / "plugins" / "profile" / NEW / f"here_worker_{number}.steps.json.gz"
        path.write_bytes(path.read_bytes()[:10] + rest)
        if number:
            assert [profile.task for profile in find(str(model_dir)).profiles] == ["worker_0"]
            assert re.search(f"left out: .*{fault}", caplog.text)
    with pytest.raises(DataError, match=fault.replace("1", "0")):
        find(str(model_dir))


def test_a_newer_profile_without_recorded_steps_is_told(model_dir, caplog):
    newest = model_dir / "plugins" / "profile" / "2027_02_01_00_00_00"
    newest.mkdir()
    (newest / "here.xplane.pb").touch()
    assert find(str(model_dir)).name == NEW
    assert "2027_02_01_00_00_00 is newer, but has no recorded steps" in caplog.text
