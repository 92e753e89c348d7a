import pytest

from tf_frame.estimator.training.model_dir import (
    completed_step,
    discarded_if_unused,
    write_completed_step,
)


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


def test_the_last_completed_step_counts(tmp_path):
    assert completed_step(str(tmp_path)) is None
    for step in (0, 12):
        write_completed_step(str(tmp_path), step)
        assert completed_step(str(tmp_path)) == step


def test_a_file_without_a_step_counts_as_no_training(tmp_path):
    write_completed_step(str(tmp_path), 3)
    (file,) = tmp_path.iterdir()
    for text in ("", "-3", "three"):
        file.write_text(text)
        assert completed_step(str(tmp_path)) is None
