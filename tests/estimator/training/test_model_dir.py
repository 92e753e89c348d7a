import pytest

from tf_frame.estimator.training.model_dir import discarded_if_unused


def test_a_new_folder_goes_with_a_run_that_fails_at_once(tmp_path):
    folder = tmp_path / "a" / "b"
    with pytest.raises(ValueError), discarded_if_unused(str(folder)):
        (folder / "train.log").write_text("")
        raise ValueError
    assert not folder.exists()


@pytest.mark.parametrize("begun", [True, False])
def test_what_was_there_or_has_begun_stays(tmp_path, begun):
    folder = tmp_path / "run"
    if not begun:
        folder.mkdir()
    with pytest.raises(ValueError), discarded_if_unused(str(folder)):
        if begun:
            (folder / "config.yaml").write_text("plugin: x")
        raise ValueError
    assert folder.exists()


def test_a_run_that_ends_well_keeps_its_folder(tmp_path):
    with discarded_if_unused(str(tmp_path / "run")):
        pass
    assert (tmp_path / "run").exists()


def test_only_the_chief_removes_a_folder(tmp_path):
    folder = tmp_path / "run"
    with pytest.raises(ValueError), discarded_if_unused(str(folder), is_chief=False):
        raise ValueError
    assert folder.exists()
