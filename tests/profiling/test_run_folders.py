import pytest

from tf_frame.errors import ConfigError
from tf_frame.profiling.run_folders import find, run_folders, task_of


@pytest.fixture
def model_dir(tmp_path):
    for name, files in {
        "2026_01_31_12_00_00_step_100": ["h_worker_0.xplane.pb", "h_worker_0.steps.json.gz"],
        "2026_02_01_00_00_00": ["h_2222.xplane.pb", "cache_version.txt"],
        "before_the_fix": ["h_worker_0.steps.json.gz"],
        "2026_03_01_00_00_00_notes": ["notes.txt"],
    }.items():
        folder = tmp_path / "plugins" / "profile" / name
        folder.mkdir(parents=True)
        for file in files:
            (folder / file).touch()
    (tmp_path / "plugins" / "profile" / "a.xplane.pb").touch()
    return str(tmp_path)


def test_folders_with_captures_are_found_oldest_first(model_dir):
    names = [each.name for each in run_folders(model_dir)]
    assert names == ["before_the_fix", "2026_01_31_12_00_00_step_100", "2026_02_01_00_00_00"]


def test_a_folder_has_its_files(model_dir):
    folder = find(model_dir, "2026_01_31_12_00_00_step_100")
    assert folder.steps == [f"{folder.path}/h_worker_0.steps.json.gz"]
    assert folder.xplanes == [f"{folder.path}/h_worker_0.xplane.pb"]


def test_the_newest_is_found_without_a_name(model_dir):
    assert find(model_dir).name == "2026_02_01_00_00_00"


def test_a_wrong_name_is_told_with_those_there_are(model_dir):
    with pytest.raises(ConfigError, match="no profile 'x'; it has before_the_fix, 2026_01"):
        find(model_dir, "x")


def test_a_folder_without_profiles_is_told(tmp_path):
    with pytest.raises(ConfigError, match="has no profile, which would be in"):
        find(str(tmp_path))
    with pytest.raises(ConfigError, match="x: there is no such folder"):
        find(str(tmp_path / "x"))


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("my_host_worker_12.steps.json.gz", "worker_12"),
        ("h_ps_0.xplane.pb", "ps_0"),
        ("localhost_2222.xplane.pb", "localhost_2222"),
        ("h0.xplane.pb", "h0"),
    ],
)
def test_a_file_names_its_task(name, task):
    assert task_of(f"/runs/{name}") == task
