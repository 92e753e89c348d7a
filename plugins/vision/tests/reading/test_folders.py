import errno

import pytest

from tf_frame.errors import DataError
from tf_frame_vision.reading.folders import (
    divide_names,
    existing_folder,
    first_existing,
    held_out,
    naming_unreadable,
    visible,
)
from tf_frame_vision.reading.shards import find_shards


@pytest.fixture
def folder(tmp_path):
    for name in ("train-00000-of-00002", "train-00001-of-00002", "labels.txt", ".hidden"):
        (tmp_path / name).touch()
    (tmp_path / "inner").mkdir()
    return tmp_path


def shards(folder, *patterns):
    return [path.name for path in find_shards(folder, patterns, "--input.pattern")]


def test_the_first_pattern_that_fits_counts_and_names_are_sorted(folder):
    train = ["train-00000-of-00002", "train-00001-of-00002"]
    assert shards(folder, "x-*", "train-*", "labels*") == train
    assert shards(folder, "labels*", "train-*") == ["labels.txt"]
    with pytest.raises(DataError, match=r"called x-\* or y, but labels.txt, .*--input.pattern PAT"):
        shards(folder, "x-*", "y")
    assert visible(folder, folders=True) == ["inner"]
    assert visible(folder, folders=False)[0] == "labels.txt"
    assert first_existing(folder, ["no", "inner", "labels.txt"]) == folder / "inner"
    assert first_existing(folder, ["no"]) is None


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [("a.txt", DataError, "^a.txt cannot be read: Permission"), (None, PermissionError, "Errno")],
)
def test_a_file_that_cannot_be_opened_is_named(name, error, message):
    with pytest.raises(error, match=message), naming_unreadable():
        raise PermissionError(errno.EACCES, "Permission denied", name)


def test_missing_and_other_shards_and_folders_are_refused(folder):
    (folder / "train-00001-of-00002").unlink()
    with pytest.raises(DataError, match=r"has 1 of 2 shards; train-00001-of-00002 is missing"):
        shards(folder, "train-*")
    (folder / "train-00001-of-00002").touch()
    (folder / "train-00000-of-00002").rename(folder / "train-00000-of-00003")
    with pytest.raises(DataError, match="has shards of 2 and of 3, such as train-00000-of-00003"):
        shards(folder, "train-*")
    # A folder that is none is refused.
    assert existing_folder(folder, "--input.data_dir", "Give one") == folder
    with pytest.raises(DataError, match=r"--input.data_dir is not given. Give one\."):
        existing_folder("", "--input.data_dir", "Give one")
    with pytest.raises(DataError, match=r"/no \(--input.data_dir\) does not exist, .* Give one\."):
        existing_folder("/no", "--input.data_dir", "Give one")
    (folder / "Data.ZIP").touch()
    with pytest.raises(DataError, match=r"Data.ZIP \(--input.data_dir\) is no folder; unpack it"):
        existing_folder(folder / "Data.ZIP", "--input.data_dir", "Give one")
    with pytest.raises(DataError, match=r"labels.txt cannot be read: Not a directory"):
        visible(folder / "labels.txt", folders=False)


def test_names_are_divided_or_all_are_evaluated():
    names = [f"image_{number}" for number in range(10)]
    division = divide_names(names, 0.3)
    assert division.evaluation == held_out(names, 0.3) and len(division.evaluation) == 3
    assert division.training == set(names) - division.evaluation
    assert divide_names(names, 1.0) == (set(names), set(names))
    assert divide_names(names, 0.0) == (set(names), set())
