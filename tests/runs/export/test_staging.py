import functools
import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError, TfFrameError
from tf_frame.runs.export.staging import (
    check_extra,
    check_output,
    copy_extra,
    list_exports,
    put_in_place,
    staged_export,
    staged_files,
)

FIRST, SECOND = "1700000000", "1700000001"


both_stages = pytest.mark.parametrize(
    "stage", [staged_export, functools.partial(staged_files, overwrite=False)]
)


def export(base, content="x"):
    with staged_export(str(base)) as folder:
        write_files(folder, file=content)
        return put_in_place(folder)


def write_files(folder, **files):
    for name, text in files.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)


def read(folder):
    with open(os.path.join(folder, "file")) as file:
        return file.read()


@pytest.fixture
def at_one_second(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 1700000000.5)


def test_an_export_is_named_by_the_time_when_it_ends_and_by_no_number_before(tmp_path):
    before, base = int(time.time()), tmp_path / "a" / "b"
    with staged_export(str(base)) as folder:
        assert os.listdir(base) == [os.path.basename(folder)]
        assert os.path.basename(folder).startswith("temp-")
        write_files(folder, file="x")
        final = put_in_place(folder)
    assert before <= int(os.path.basename(final)) <= time.time()
    assert os.listdir(base) == [os.path.basename(final)]
    assert os.listdir(final) == ["file"]


def test_exports_in_one_second_get_rising_numbers(tmp_path, at_one_second):
    finals = [os.path.basename(export(tmp_path)) for _ in range(3)]
    assert finals == [FIRST, SECOND, "1700000002"]
    # Above the exports there, also where lower numbers are free.
    (tmp_path / "1700000004").mkdir()
    (tmp_path / "not-a-number").mkdir()
    assert export(tmp_path) == str(tmp_path / "1700000005")


def test_exports_at_once_never_share_a_folder(tmp_path, at_one_second):
    with ThreadPoolExecutor(8) as threads:
        finals = list(threads.map(lambda i: export(tmp_path, str(i)), range(40)))
    numbers = {str(1700000000 + i) for i in range(40)}
    assert {os.path.basename(final) for final in finals} == numbers == set(os.listdir(tmp_path))
    assert [read(final) for final in finals] == [str(i) for i in range(40)]


def test_an_export_that_ends_in_between_is_not_replaced(tmp_path, at_one_second, monkeypatch):
    """Another process takes the number after it was seen to be free."""
    exists, export_of_another = tf.io.gfile.exists, tmp_path / FIRST

    def rename(source, destination, overwrite=False):
        if not exists(str(export_of_another)):
            export_of_another.mkdir()
            write_files(export_of_another, file="another")
        return real(source, destination, overwrite=True)  # As if it had looked before.

    real = tf.io.gfile.rename
    monkeypatch.setattr(tf.io.gfile, "rename", rename)
    assert export(tmp_path, "mine").endswith(f"/{SECOND}")
    assert sorted(os.listdir(tmp_path)) == [FIRST, SECOND]
    assert [read(tmp_path / name) for name in (FIRST, SECOND)] == ["another", "mine"]


def test_exports_are_the_folders_named_after_a_time_oldest_first(tmp_path):
    for name in ["1000000003", "1000000001", "temp-1000000004", "100000001", "10000000xx"]:
        (tmp_path / name).mkdir()
    (tmp_path / ".best.json").touch()
    assert list_exports(str(tmp_path)) == ["1000000001", "1000000003"]
    assert list_exports(str(tmp_path / "none")) == []


class Stop(BaseException):
    pass


@both_stages
@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, Stop])
def test_after_an_error_nothing_is_left_behind(tmp_path, stage, kind):
    with pytest.raises(kind), stage(str(tmp_path / "a" / "b")) as folder:
        os.mkdir(os.path.join(folder, "variables"))
        write_files(folder, one="1")
        raise kind
    assert os.listdir(tmp_path) == []


@both_stages
def test_after_an_error_earlier_exports_and_files_of_others_stay(tmp_path, stage):
    final = export(tmp_path / "a")
    with pytest.raises(ValueError), stage(str(tmp_path / "a")):
        write_files(tmp_path, mine="")
        raise ValueError
    assert os.listdir(tmp_path / "a") == [os.path.basename(final)]
    assert sorted(os.listdir(tmp_path)) == ["a", "mine"]


def test_a_file_in_the_place_of_the_folder_is_one_clear_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(TfFrameError, match=r"SavedModel could not be written to .*/file/a: "):
        export(tmp_path / "file" / "a")
    assert os.listdir(tmp_path) == ["file"]


@both_stages
@pytest.mark.parametrize(
    "error", [OSError("no"), tf.errors.NotFoundError(None, None, "/data/image.png; No such file")]
)
def test_an_error_that_is_not_about_the_disk_stays_what_it_is(tmp_path, stage, error):
    with pytest.raises(type(error)) as raised, stage(str(tmp_path)):
        raise error
    assert raised.value is error and os.listdir(tmp_path) == []


@pytest.mark.process
@pytest.mark.parametrize("writer", ["python", "tensorflow"])
def test_a_full_disk_is_one_clear_error_and_nothing_is_left_behind(small_disk, writer):
    disk = small_disk(64)
    message = r"^the SavedModel could not be written to .*No space left on device"
    with pytest.raises(TfFrameError, match=message), staged_export(str(disk)) as folder:
        path = os.path.join(folder, "file")
        with tf.io.gfile.GFile(path, "wb") if writer == "tensorflow" else open(path, "wb") as file:
            file.write(b"x" * 200_000)
    assert os.listdir(disk) == []


def test_extra_files_are_copied_below_assets_extra(tmp_path):
    source = tmp_path / "vocabulary.txt"
    source.write_text("cat")
    extra = check_extra({"v.txt": str(source), b"deep/er/v.txt": os.fsencode(source)})
    copy_extra(extra, str(tmp_path / "export"))
    for name in ("v.txt", "deep/er/v.txt"):
        assert (tmp_path / "export" / "assets.extra" / name).read_text() == "cat"
    assert check_extra(None) == {}


@pytest.mark.parametrize(
    ("to", "source", "message"),
    [
        ("a", "none", r"no file .*/none, which 'a' should be"),
        ("a", "", "there is no file"),
        *(
            (to, "file", "is not below assets.extra; give a relative path such")
            for to in ("/abs/olute", "../up", "a/../../up", ".", "")
        ),
    ],
)
def test_an_extra_file_exists_and_stays_below_assets_extra(tmp_path, to, source, message):
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=message):
        check_extra({to: str(tmp_path / source)})


def test_files_appear_at_the_end(tmp_path):
    with staged_files(str(tmp_path / "a" / "b"), overwrite=False) as staging:
        write_files(staging, one="1", two="2")
        assert os.listdir(tmp_path / "a" / "b") == [os.path.basename(staging)]
    assert sorted(os.listdir(tmp_path / "a" / "b")) == ["one", "two"]


def test_of_several_files_none_is_moved_where_one_is_in_the_way(tmp_path):
    write_files(tmp_path, two="mine")
    refused = pytest.raises(ConfigError, match="two exists; take another --output")
    with refused, staged_files(str(tmp_path), overwrite=False) as staging:
        write_files(staging, one="1", two="2")
    assert os.listdir(tmp_path) == ["two"]
    assert (tmp_path / "two").read_text() == "mine"
    with staged_files(str(tmp_path), overwrite=True) as staging:
        write_files(staging, one="1", two="2")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"one": "1", "two": "2"}


def test_the_index_of_a_checkpoint_comes_after_its_data(tmp_path, monkeypatch):
    moved, rename = [], tf.io.gfile.rename

    def noted(source, target, overwrite=False):
        moved.append(os.path.basename(target))
        rename(source, target, overwrite)

    monkeypatch.setattr(tf.io.gfile, "rename", noted)
    with staged_files(str(tmp_path), overwrite=False) as staging:
        names = ["a.data-00000-of-00001", "a.index", "checkpoint"]
        write_files(staging, **dict.fromkeys(names, ""))
    assert moved == names


def test_what_a_killed_process_of_the_same_number_left_is_not_taken(tmp_path):
    left = tmp_path / f"exporting.tmp-{os.getpid()}"
    left.mkdir()
    write_files(left, old="")
    with staged_files(str(tmp_path), overwrite=False) as staging:
        write_files(staging, new="")
    assert os.listdir(tmp_path) == ["new"]


@pytest.mark.parametrize(
    "error",
    [
        tf.errors.ResourceExhaustedError(None, None, "OUT/x; No space left on device"),
        OSError(28, "No space left on device"),
        RuntimeError("No space left on device"),
        tf.errors.PermissionDeniedError(None, None, "STAGING/x; Permission denied"),
    ],
)
def test_errors_of_writing_are_explained(tmp_path, error):
    output = str(tmp_path / "out")
    message = f"export to {output} could not be written: .*\nnothing of it was left behind"
    with pytest.raises(TfFrameError, match=message), staged_files(output, overwrite=False) as work:
        if "STAGING" in str(error):
            error = type(error)(None, None, error.message.replace("STAGING", work))
        raise error
    assert not os.listdir(tmp_path)


def test_an_output_below_a_file_is_refused(tmp_path):
    write_files(tmp_path, file="")
    for folder in (tmp_path / "file", tmp_path / "file" / "a" / "b"):
        with pytest.raises(ConfigError, match=f"{tmp_path}/file is a file"):
            check_output(str(folder))
    check_output(str(tmp_path))
    check_output(str(tmp_path / "new" / "folder"))
    check_output("relative/and/new")
