import os
import resource
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import find_damage, listed_checkpoints, newest_checkpoint
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.checkpoint.rewrite import output
from tf_frame.checkpoint.rewrite.output import check_destination, write_checkpoint
from tf_frame.errors import CheckpointError, ConfigError

VALUES = {
    "float": (tf.float32, np.array([[1.5, np.nan], [np.inf, -0.0]], np.float32)),
    "double": (tf.float64, np.array([0.1])),
    "half": (tf.float16, np.array([0.1], np.float16)),
    "brain": (tf.bfloat16, np.array([0.1, 3.0], ml_dtypes.bfloat16)),
    "step": (tf.int64, np.array(2**62 + 1)),
    "byte": (tf.uint8, np.array([255], np.uint8)),
    "flag": (tf.bool, np.array([True, False])),
    "complex": (tf.complex64, np.array([1 - 2j], np.complex64)),
    "text": (tf.string, np.array(b"ends in zero\0", object)),
    "texts": (tf.string, np.array([b"", b"\xff\0"], object)),
    "empty": (tf.float32, np.zeros([0, 3], np.float32)),
}


def tensors(values=VALUES):
    return [(name, dtype, value) for name, (dtype, value) in values.items()]


def tensor(value):
    return [("w", tf.float32, np.array(value, np.float32))]


def files(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_type_comes_back_byte_by_byte(tmp_path):
    prefix = str(tmp_path / "model.ckpt-7")
    write_checkpoint(prefix, tensors())
    checkpoint = Checkpoint(prefix)
    assert checkpoint.names == sorted(VALUES)
    for name, (dtype, value) in VALUES.items():
        assert checkpoint.dtype(name) == dtype
        read = checkpoint.read(name)
        assert read.shape == value.shape
        is_text = dtype == tf.string
        assert read.tolist() == value.tolist() if is_text else read.tobytes() == value.tobytes()


def test_a_saver_restores_what_was_written(tmp_path):
    write_checkpoint(str(tmp_path / "model.ckpt-0"), tensor([1.0, 2.0]))
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.get_variable("w", [2])
        tf.train.Saver().restore(session, tf.train.latest_checkpoint(str(tmp_path)))
        assert session.run(w).tolist() == [1.0, 2.0]
    # Nothing but the checkpoint remains.
    names = ["checkpoint", "model.ckpt-0.data-00000-of-00001", "model.ckpt-0.index"]
    assert sorted(files(tmp_path)) == names
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


def test_several_data_files_are_written_where_memory_is_short(tmp_path, monkeypatch):
    monkeypatch.setattr(output, "_SHARD_BYTES", 16)
    write_checkpoint(str(tmp_path / "a"), tensors())
    data = [name for name in files(tmp_path) if ".data-" in name]
    assert len(data) > 2
    assert find_damage(str(tmp_path / "a")) == ""
    assert Checkpoint(str(tmp_path / "a")).names == sorted(VALUES)


def test_a_variable_is_taken_once_those_before_it_are_written(tmp_path, monkeypatch):
    monkeypatch.setattr(output, "_SHARD_BYTES", 8)
    written = []

    def made():
        for number in range(4):
            written.append(len(list(tmp_path.rglob("part-*.index"))))
            yield f"v{number}", tf.float32, np.zeros([2], np.float32)

    write_checkpoint(str(tmp_path / "a"), made())
    assert written == [0, 1, 2, 3]


def test_the_newest_checkpoint_of_the_folder_is_the_one_written(tmp_path, save):
    (older,) = save(5)
    prefix = str(tmp_path / "averaged")
    write_checkpoint(prefix, tensor([1.0]))
    assert newest_checkpoint(str(tmp_path)) == prefix
    assert listed_checkpoints(str(tmp_path)) == [older, prefix]
    write_checkpoint(prefix, tensor([2.0]))
    assert listed_checkpoints(str(tmp_path)) == [older, prefix]


def test_a_folder_is_made_and_may_be_moved(tmp_path):
    write_checkpoint(str(tmp_path / "new" / "deep" / "model.ckpt-1"), tensor([1.0]))
    (tmp_path / "new" / "deep").rename(tmp_path / "moved")
    assert newest_checkpoint(str(tmp_path / "moved")) == str(tmp_path / "moved" / "model.ckpt-1")


def test_relative_paths_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("here", "below/there"):
        prefix = check_destination(path, [], overwrite=False)
        write_checkpoint(prefix, tensor([1.0]))
        assert newest_checkpoint(str((tmp_path / path).parent)) == str(tmp_path / path)


def test_what_was_there_is_replaced_with_all_its_files(tmp_path, save):
    (path,) = save(5, w=np.zeros([2], np.float32))
    Path(path + ".data-00001-of-00002").write_bytes(b"of an older shape")
    write_checkpoint(path, tensor([1.0]))
    names = ["checkpoint", "model.ckpt-5.data-00000-of-00001", "model.ckpt-5.index"]
    assert sorted(files(tmp_path)) == names
    assert Checkpoint(path).read("w").tolist() == [1.0]


@pytest.fixture
def full_disk():
    """Lets no file grow beyond 64 KiB, as a disk without space would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_leaves_everything_as_it_was(tmp_path, save):
    (path,) = save(5, w=np.zeros([2], np.float32))
    before = files(tmp_path)
    big = np.arange(10**5, dtype=np.float32)
    for prefix in (path, str(tmp_path / "x"), str(tmp_path / "new" / "deep" / "x")):
        with pytest.raises(CheckpointError) as error:
            write_checkpoint(prefix, tensor(big))
        assert str(error.value).startswith(f"the checkpoint {prefix} could not be written: ")
        assert "\nnothing of it was left behind; free space in " in str(error.value)
    assert files(tmp_path) == before
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


def test_an_unreadable_source_leaves_everything_as_it_was(tmp_path, save):
    (path,) = save(5)
    before = files(tmp_path)

    def broken():
        yield from tensor([1.0])
        raise CheckpointError("the source cannot be read")

    with pytest.raises(CheckpointError, match="^the source cannot be read$"):
        write_checkpoint(path, broken())
    assert files(tmp_path) == before


# Index, data and meta graph go, data and index come.
@pytest.mark.parametrize("failing", range(5))
def test_a_rename_that_fails_brings_the_old_checkpoint_back(tmp_path, save, monkeypatch, failing):
    (path,) = save(5)
    before = files(tmp_path)
    rename, calls = tf.io.gfile.rename, []

    def sometimes(source, target, overwrite=False):
        calls.append(source)
        if len(calls) == failing + 1:
            raise tf.errors.PermissionDeniedError(None, None, "no")
        rename(source, target, overwrite)

    monkeypatch.setattr(tf.io.gfile, "rename", sometimes)
    with pytest.raises(CheckpointError, match="could not be written: no\n"):
        write_checkpoint(path, tensor([1.0]))
    assert files(tmp_path) == before


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="could not be written"):
        write_checkpoint(str(tmp_path / "file" / "x"), tensor([1.0]))


def test_a_destination_that_cannot_be_written_is_refused(save, tmp_path):
    (path,) = save(5)
    detour = f"{tmp_path}/../{tmp_path.name}/model.ckpt-5"
    rows = [
        (path, (), False, f"{path} exists; take another name, or replace it with --overwrite"),
        (path + ".index", (), False, "--overwrite"),
        (tmp_path, (), False, f"is a folder; name the checkpoint, such as {tmp_path}/model.ckpt-0"),
        (f"{tmp_path}/new/", (), False, "is a folder"),
        (detour, [path], True, "is itself read"),
        (tmp_path / "checkpoint", (), True, "lists checkpoints"),
    ]
    for destination, sources, overwrite, message in rows:
        with pytest.raises(ConfigError) as error:
            check_destination(str(destination), sources, overwrite=overwrite)
        assert message in str(error.value)
    assert check_destination(path, [], overwrite=True) == path
    os.remove(path + ".index")
    with pytest.raises(ConfigError, match="exists"):
        check_destination(path, (), overwrite=False)
