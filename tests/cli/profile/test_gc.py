import pytest

from step_profiles import make_profile, write_profile
from tf_frame.cli.profile.gc import main
from tf_frame.errors import ConfigError


@pytest.fixture
def model_dir(tmp_path):
    for run in ("2026_01_01_00_00_00", "2026_01_02_00_00_00"):
        write_profile(tmp_path, run, make_profile("worker_0", []))
    return tmp_path


def runs(model_dir):
    return sorted(path.name for path in (model_dir / "plugins" / "profile").iterdir())


def test_old_profiles_are_removed_and_named(model_dir, capsys):
    path = model_dir / "plugins" / "profile" / "2026_01_01_00_00_00"
    size = (path / "host_worker_0.steps.json.gz").stat().st_size
    assert main([str(model_dir), "--keep", "1"]) == 0
    assert runs(model_dir) == ["2026_01_02_00_00_00"]
    expected = f"removed {path}, {size} bytes\n1 profiles, {size} bytes\n"
    assert capsys.readouterr().out == expected


def test_a_dry_run_only_names_them(model_dir, capsys):
    assert main([str(model_dir), "--keep=0", "--dry_run"]) == 0
    assert len(runs(model_dir)) == 2
    assert capsys.readouterr().out.count("would remove") == 2


def test_nothing_to_remove_is_told(model_dir, capsys):
    assert main([str(model_dir), "--keep", "2"]) == 0
    assert capsys.readouterr().out == "nothing to remove\n"


def test_missing_words_and_folders_are_told(model_dir):
    with pytest.raises(ConfigError, match="takes --keep N"):
        main([str(model_dir)])
    with pytest.raises(ConfigError, match="there is no such folder"):
        main([str(model_dir / "x"), "--keep", "1"])
    with pytest.raises(ConfigError, match="keep"):
        main([str(model_dir), "--keep", "-1"])
