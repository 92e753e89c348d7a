import os

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.atomic_output import atomic_output, staging_folder, write_file


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_has_its_name_only_when_it_is_whole(tmp_path):
    with atomic_output(str(tmp_path / "a")) as temporary, open(temporary, "w") as file:
        file.write("text")
        assert names_in(tmp_path) == [".a.partial"]
    assert names_in(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "text"


@pytest.mark.parametrize("name", ["a", ".a.partial"])
def test_an_old_file_and_what_a_killed_process_left_are_replaced(tmp_path, name):
    (tmp_path / name).write_text("much more than is written now")
    write_file(str(tmp_path / "a"), "new")
    assert names_in(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "new"


def test_after_an_error_nothing_is_left_and_the_file_of_before_stays(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(OSError, match="No space"), atomic_output(str(tmp_path / "a")) as temporary:
        with open(temporary, "w") as file:
            file.write("half")
        raise OSError("No space left on device")
    assert names_in(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_a_file_that_cannot_have_its_name_leaves_nothing(tmp_path):
    (tmp_path / "result.json").mkdir()
    with pytest.raises(tf.errors.OpError):
        write_file(str(tmp_path / "result.json"), "text")
    assert names_in(tmp_path) == ["result.json"]


def test_the_error_of_a_file_that_was_never_made_is_raised(tmp_path):
    missing = str(tmp_path / "missing" / "a")
    with pytest.raises(FileNotFoundError), atomic_output(missing) as temporary:
        open(temporary, "w").close()


def test_a_staging_folder_and_what_is_left_in_it_go_at_the_end(tmp_path):
    with staging_folder(str(tmp_path / "a" / "b.staging")) as staging:
        write_file(f"{staging}/whole", "1")
        write_file(f"{staging}/scratch", "2")
        os.rename(f"{staging}/whole", tmp_path / "a" / "whole")
    assert names_in(tmp_path / "a") == ["whole"]


def test_a_staging_folder_begins_empty_and_may_become_the_target(tmp_path):
    (tmp_path / "b.staging").mkdir()
    (tmp_path / "b.staging" / "half").write_text("")
    with staging_folder(str(tmp_path / "b.staging")) as staging:
        assert os.listdir(staging) == []
        os.rename(staging, tmp_path / "b")
    assert names_in(tmp_path) == ["b"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_after_an_error_the_folders_that_were_made_are_removed(tmp_path, error):
    with pytest.raises(error), staging_folder(str(tmp_path / "a" / "b" / "c.staging")) as staging:
        write_file(f"{staging}/half", "1")
        raise error
    assert names_in(tmp_path) == []


def test_after_an_error_folders_that_hold_something_else_stay(tmp_path):
    with pytest.raises(KeyError), staging_folder(str(tmp_path / "a" / "b" / "c.staging")):
        (tmp_path / "a" / "mine").write_text("")
        raise KeyError
    assert names_in(tmp_path) == ["a"]
    assert names_in(tmp_path / "a") == ["mine"]
