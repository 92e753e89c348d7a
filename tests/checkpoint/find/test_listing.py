import os

import pytest

from tf_frame.checkpoint.find.listing import files_of, list_checkpoints
from tf_frame.errors import ConfigError

DATA = ".data-00000-of-00001"


def test_every_checkpoint_of_a_folder_is_described(tmp_path, save):
    paths = save(3, 20)
    for secs, path in enumerate(paths):
        for file in files_of(path):
            os.utime(file, (1000 + secs, 1000 + secs))
    first, second = list_checkpoints(str(tmp_path))
    assert (first.path, first.step, first.damage) == (paths[0], 3, "")
    assert (second.path, second.step, second.saved_at_secs) == (paths[1], 20, 1001.0)
    assert (first.variables, first.parameters) == (2, 65)
    files = list(tmp_path.glob("model.ckpt-3.*"))
    assert first.size_bytes == sum(file.stat().st_size for file in files)


def test_a_damaged_checkpoint_is_described_with_its_damage(tmp_path, save, corrupt):
    good, bad = save(3, 20)
    corrupt(bad)
    first, second = list_checkpoints(str(tmp_path))
    assert first.path == good
    assert (second.path, second.step, second.variables) == (bad, None, None)
    assert "\n" not in second.damage
    assert second.damage
    assert second.size_bytes > 0


def test_a_listed_checkpoint_that_is_gone_is_damaged(tmp_path, save):
    gone, there = save(3, 20)
    for file in files_of(gone):
        os.remove(file)
    first, second = list_checkpoints(str(tmp_path))
    assert (first.path, first.saved_at_secs, first.size_bytes) == (gone, None, 0)
    assert first.damage
    assert (second.path, second.damage) == (there, "")


def test_a_checkpoint_that_is_not_listed_is_there_too(tmp_path, save, write):
    save(3)
    other = write("pretrained", {"w": [1.0, 2.0]})
    entry = list_checkpoints(str(tmp_path))[0]
    assert (entry.path, entry.step, entry.parameters) == (other, None, 2)


def test_an_empty_folder_has_none(tmp_path):
    assert list_checkpoints(str(tmp_path)) == []


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match=f"^there is no folder {tmp_path}/none$"):
        list_checkpoints(str(tmp_path / "none"))


def test_a_checkpoint_instead_of_a_folder_is_an_error_with_a_hint(tmp_path, save):
    (path,) = save(3)
    with pytest.raises(ConfigError, match=f"checkpoint show {path} describes one"):
        list_checkpoints(path)


def test_the_files_of_a_checkpoint_are_only_its_own(tmp_path, save):
    path, _ = save(3, 30)
    assert [os.path.basename(file) for file in files_of(path)] == [
        f"model.ckpt-3{DATA}",
        "model.ckpt-3.index",
        "model.ckpt-3.meta",
    ]
    assert files_of(str(tmp_path / "none" / "x")) == []
