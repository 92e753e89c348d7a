import os

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError, TfFrameError
from tf_frame.estimator.export.atomic_output import check_output, written_whole


def write(folder, **files):
    for name, text in files.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)


def test_files_appear_at_the_end(tmp_path):
    with written_whole(str(tmp_path / "a" / "b"), overwrite=False) as workshop:
        write(workshop, one="1", two="2")
        assert os.listdir(tmp_path / "a" / "b") == [os.path.basename(workshop)]
    assert sorted(os.listdir(tmp_path / "a" / "b")) == ["one", "two"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_after_a_failure_nothing_is_left(tmp_path, error):
    with (
        pytest.raises(error),
        written_whole(str(tmp_path / "a" / "b"), overwrite=False) as workshop,
    ):
        write(workshop, one="1")
        raise error
    assert os.listdir(tmp_path) == []


def test_folders_that_hold_something_else_stay(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(ZeroDivisionError), written_whole(str(tmp_path / "a"), overwrite=False):
        write(tmp_path, mine="")
        raise ZeroDivisionError
    assert sorted(os.listdir(tmp_path)) == ["a", "mine"]


def test_of_several_files_none_is_moved_where_one_is_in_the_way(tmp_path):
    write(tmp_path, two="mine")
    refused = pytest.raises(ConfigError, match="two exists; take another --output")
    with refused, written_whole(str(tmp_path), overwrite=False) as workshop:
        write(workshop, one="1", two="2")
    assert os.listdir(tmp_path) == ["two"]
    assert (tmp_path / "two").read_text() == "mine"
    with written_whole(str(tmp_path), overwrite=True) as workshop:
        write(workshop, one="1", two="2")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"one": "1", "two": "2"}


def test_the_index_of_a_checkpoint_comes_after_its_data(tmp_path, monkeypatch):
    moved, rename = [], tf.io.gfile.rename

    def noted(source, target, overwrite=False):
        moved.append(os.path.basename(target))
        rename(source, target, overwrite)

    monkeypatch.setattr(tf.io.gfile, "rename", noted)
    with written_whole(str(tmp_path), overwrite=False) as workshop:
        names = ["a.data-00000-of-00001", "a.index", "checkpoint"]
        write(workshop, **dict.fromkeys(names, ""))
    assert moved == names


def test_what_a_killed_process_of_the_same_number_left_is_not_taken(tmp_path):
    left = tmp_path / f"exporting.tmp-{os.getpid()}"
    left.mkdir()
    write(left, old="")
    with written_whole(str(tmp_path), overwrite=False) as workshop:
        write(workshop, new="")
    assert os.listdir(tmp_path) == ["new"]


@pytest.mark.parametrize(
    "error",
    [
        tf.errors.ResourceExhaustedError(None, None, "OUT/x; No space left on device"),
        OSError(28, "No space left on device"),
        RuntimeError("No space left on device"),
        tf.errors.PermissionDeniedError(None, None, "WORKSHOP/x; Permission denied"),
    ],
)
def test_errors_of_writing_are_explained(tmp_path, error):
    output = str(tmp_path / "out")
    message = f"export to {output} could not be written: .*\nnothing of it was left behind"
    with pytest.raises(TfFrameError, match=message), written_whole(output, overwrite=False) as work:
        if "WORKSHOP" in str(error):
            error = type(error)(None, None, error.message.replace("WORKSHOP", work))
        raise error
    assert not os.listdir(tmp_path)


def test_other_errors_of_tensorflow_pass(tmp_path):
    with pytest.raises(tf.errors.NotFoundError), written_whole(str(tmp_path), overwrite=False):
        raise tf.errors.NotFoundError(None, None, "/data/image.png; No such file")


def test_an_output_below_a_file_is_refused(tmp_path):
    write(tmp_path, file="")
    for folder in (tmp_path / "file", tmp_path / "file" / "a" / "b"):
        with pytest.raises(ConfigError, match=f"{tmp_path}/file is a file"):
            check_output(str(folder))
    check_output(str(tmp_path))
    check_output(str(tmp_path / "new" / "folder"))
    check_output("relative/and/new")
