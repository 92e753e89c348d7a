import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

import forked
from tf_frame.checkpoint.find.newest import listed_checkpoints, newest_checkpoint
from tf_frame.checkpoint.write.folder import (
    atomic_checkpoint,
    remove_checkpoint,
    remove_leftovers,
    write_list,
)

FULL = tf.errors.ResourceExhaustedError(None, None, "No space left on device")


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def writer(values=(1.0, 2.0)):
    """Writes one tensor to a path prefix."""

    def write(prefix):
        with tf.Graph().as_default(), tf.Session() as session:
            session.run(
                tf.raw_ops.SaveV2(
                    prefix=prefix,
                    tensor_names=["weights"],
                    shape_and_slices=[""],
                    tensors=[tf.constant(values)],
                )
            )

    return write


def nothing():
    return None


def raising(error):
    def fail(*_):
        raise error

    return fail


@pytest.fixture
def prefix(tmp_path):
    return str(tmp_path / "model.ckpt-7")


def test_a_checkpoint_is_there_when_it_is_counted_and_nothing_else_is_left(tmp_path, prefix):
    seen = []
    atomic_checkpoint(
        prefix, writer(), publish=lambda: seen.append(tf.train.load_variable(prefix, "weights"))
    )
    np.testing.assert_array_equal(seen, [[1, 2]])
    assert files(tmp_path) == ["model.ckpt-7.data-00000-of-00001", "model.ckpt-7.index"]


def test_one_of_the_same_name_is_replaced_with_all_its_files(tmp_path, prefix):
    for suffix in (".data-00000-of-00002", ".data-00001-of-00002", ".index", ".meta"):
        (tmp_path / f"model.ckpt-7{suffix}").write_text("damaged")
    atomic_checkpoint(prefix, writer(), publish=nothing)
    assert files(tmp_path) == ["model.ckpt-7.data-00000-of-00001", "model.ckpt-7.index"]


def test_a_write_or_a_list_that_fails_leaves_what_was_there(tmp_path, prefix):
    atomic_checkpoint(prefix, writer(), publish=nothing)
    for write, publish in ((raising(FULL), nothing), (writer([3.0, 4.0]), raising(FULL))):
        with pytest.raises(tf.errors.ResourceExhaustedError):
            atomic_checkpoint(prefix, write, publish=publish)
    np.testing.assert_array_equal(tf.train.load_variable(prefix, "weights"), [1, 2])
    assert len(files(tmp_path)) == 2


def test_a_file_that_was_cut_is_seen_before_it_counts(tmp_path, prefix):
    def cut(to):
        writer([0.0] * 100)(to)
        os.truncate(to + ".data-00000-of-00001", 399)

    with pytest.raises(tf.errors.DataLossError, match="399 of at least 400 bytes were written"):
        atomic_checkpoint(prefix, cut, publish=nothing)
    assert files(tmp_path) == []


def test_a_file_in_the_place_of_the_folder_is_an_error_and_stays(tmp_path, prefix):
    (tmp_path / "model.ckpt-7.index").mkdir()
    with pytest.raises(tf.errors.OpError):
        atomic_checkpoint(prefix, writer(), publish=nothing)
    assert files(tmp_path) == ["model.ckpt-7.index"]


KILLED = """
import os, signal, sys
import tensorflow.compat.v1 as tf
from tf_frame.checkpoint.write.folder import atomic_checkpoint, write_list
folder, when = sys.argv[1], sys.argv[2]
def kill():
    os.kill(os.getpid(), signal.SIGKILL)
def write(prefix):
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.raw_ops.SaveV2(prefix=prefix, tensor_names=["weights"],
            shape_and_slices=[""], tensors=[tf.constant([3.0, 4.0])]))
    if when == "written":
        kill()
rename, renames = tf.io.gfile.rename, []
def counted(*names, **options):
    rename(*names, **options)
    renames.append(names)
    if when == f"renamed {len(renames)}":
        kill()
tf.io.gfile.rename = counted
def count():
    if when == "counted":
        write_list(folder, [folder + "/model.ckpt-7", folder + "/model.ckpt-8"])
        kill()
atomic_checkpoint(folder + "/model.ckpt-8", write, publish=count)
"""


@pytest.mark.process
@pytest.mark.parametrize("when", ["written", "renamed 1", "renamed 2", "counted"])
def test_killed_at_any_point_the_newest_is_whole_and_leftovers_are_removed_later(
    tmp_path, prefix, when
):
    atomic_checkpoint(prefix, writer(), publish=lambda: write_list(str(tmp_path), [prefix]))
    killed = forked.run(
        [sys.executable, "-c", KILLED, str(tmp_path), when], stderr=subprocess.DEVNULL
    )
    assert killed.returncode == -signal.SIGKILL
    newest = prefix if when != "counted" else str(tmp_path / "model.ckpt-8")
    assert newest_checkpoint(str(tmp_path)) == newest
    assert (tmp_path / "model.ckpt-8.saving").is_dir()
    remove_leftovers(str(tmp_path))
    whole = {"checkpoint", *(os.path.basename(p) for p in listed_checkpoints(str(tmp_path)))}
    assert {name.split(".data")[0].removesuffix(".index") for name in files(tmp_path)} == whole
    assert newest_checkpoint(str(tmp_path)) == newest


def test_only_leftovers_of_saves_are_removed(tmp_path):
    (tmp_path / "model.ckpt-40.index").write_text("of another run")
    (tmp_path / "notes.saving").mkdir()
    remove_leftovers(str(tmp_path))
    assert files(tmp_path) == ["model.ckpt-40.index", "notes.saving"]
    remove_leftovers(str(tmp_path / "none"))


def test_what_is_listed_is_no_leftover(tmp_path, prefix):
    atomic_checkpoint(prefix, writer(), publish=nothing)
    (tmp_path / "model.ckpt-7.saving").mkdir()
    remove_leftovers(str(tmp_path), ["model.ckpt-7"])
    assert len(files(tmp_path)) == 2
    (tmp_path / "model.ckpt-7.saving").mkdir()
    remove_leftovers(str(tmp_path), [])
    assert files(tmp_path) == []


def test_the_index_is_removed_first(tmp_path, prefix, monkeypatch):
    removed = []
    atomic_checkpoint(prefix, writer(), publish=nothing)
    monkeypatch.setattr(tf.io.gfile, "remove", removed.append)
    remove_checkpoint(prefix)
    assert [path.removeprefix(prefix) for path in removed] == [".index", ".data-00000-of-00001"]
