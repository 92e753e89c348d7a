import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import known_checkpoints, newest_checkpoint
from tf_frame.checkpoint.write.retention import write_list
from tf_frame.checkpoint.write.saving import (
    ArrayWriter,
    Background,
    GraphWriter,
    remove_checkpoint,
    remove_leftovers,
    write_whole,
)
from tf_frame.checkpoint.write.snapshot import shards_of, with_extras
from tf_frame.testing import forked

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
    write_whole(
        prefix, writer(), count=lambda: seen.append(tf.train.load_variable(prefix, "weights"))
    )
    np.testing.assert_array_equal(seen, [[1, 2]])
    assert files(tmp_path) == ["model.ckpt-7.data-00000-of-00001", "model.ckpt-7.index"]


def test_one_of_the_same_name_is_replaced_with_all_its_files(tmp_path, prefix):
    for suffix in (".data-00000-of-00002", ".data-00001-of-00002", ".index", ".meta"):
        (tmp_path / f"model.ckpt-7{suffix}").write_text("damaged")
    write_whole(prefix, writer(), count=nothing)
    assert files(tmp_path) == ["model.ckpt-7.data-00000-of-00001", "model.ckpt-7.index"]


def test_a_write_that_fails_leaves_what_was_there(tmp_path, prefix):
    write_whole(prefix, writer(), count=nothing)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        write_whole(prefix, raising(FULL), count=nothing)
    np.testing.assert_array_equal(tf.train.load_variable(prefix, "weights"), [1, 2])
    assert len(files(tmp_path)) == 2


def test_one_that_cannot_be_counted_is_removed(tmp_path, prefix):
    with pytest.raises(tf.errors.ResourceExhaustedError):
        write_whole(prefix, writer(), count=raising(FULL))
    assert files(tmp_path) == []


def test_a_file_that_was_cut_is_seen_before_it_counts(tmp_path, prefix):
    def cut(to):
        writer([0.0] * 100)(to)
        os.truncate(to + ".data-00000-of-00001", 399)

    with pytest.raises(tf.errors.DataLossError, match="399 of at least 400 bytes were written"):
        write_whole(prefix, cut, count=nothing)
    assert files(tmp_path) == []


def test_a_file_in_the_place_of_the_folder_is_an_error_and_stays(tmp_path, prefix):
    (tmp_path / "model.ckpt-7.index").mkdir()
    with pytest.raises(tf.errors.OpError):
        write_whole(prefix, writer(), count=nothing)
    assert files(tmp_path) == ["model.ckpt-7.index"]


KILLED = """
import os, signal, sys
import tensorflow.compat.v1 as tf
from tf_frame.checkpoint.write.retention import write_list
from tf_frame.checkpoint.write.saving import write_whole
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
def counted(*names):
    rename(*names)
    renames.append(names)
    if when == f"renamed {len(renames)}":
        kill()
tf.io.gfile.rename = counted
def count():
    if when == "counted":
        write_list(folder, [folder + "/model.ckpt-7", folder + "/model.ckpt-8"])
        kill()
write_whole(folder + "/model.ckpt-8", write, count=count)
"""


@pytest.mark.process
@pytest.mark.parametrize("when", ["written", "renamed 1", "renamed 2", "counted"])
def test_killed_at_any_point_the_newest_is_whole_and_leftovers_are_removed_later(
    tmp_path, prefix, when
):
    write_whole(prefix, writer(), count=lambda: write_list(str(tmp_path), [prefix]))
    killed = forked.run(
        [sys.executable, "-c", KILLED, str(tmp_path), when], stderr=subprocess.DEVNULL
    )
    assert killed.returncode == -signal.SIGKILL
    newest = prefix if when != "counted" else str(tmp_path / "model.ckpt-8")
    assert newest_checkpoint(str(tmp_path)) == newest
    assert (tmp_path / "model.ckpt-8.saving").is_dir()
    remove_leftovers(str(tmp_path))
    whole = {"checkpoint", *(os.path.basename(p) for p in known_checkpoints(str(tmp_path)))}
    assert {name.split(".data")[0].removesuffix(".index") for name in files(tmp_path)} == whole
    assert newest_checkpoint(str(tmp_path)) == newest


def test_only_leftovers_of_saves_are_removed(tmp_path):
    (tmp_path / "model.ckpt-40.index").write_text("of another run")
    (tmp_path / "notes.saving").mkdir()
    remove_leftovers(str(tmp_path))
    assert files(tmp_path) == ["model.ckpt-40.index", "notes.saving"]
    remove_leftovers(str(tmp_path / "none"))


def test_what_is_listed_is_no_leftover(tmp_path, prefix):
    write_whole(prefix, writer(), count=nothing)
    (tmp_path / "model.ckpt-7.saving").mkdir()
    remove_leftovers(str(tmp_path), ["model.ckpt-7"])
    assert len(files(tmp_path)) == 2
    (tmp_path / "model.ckpt-7.saving").mkdir()
    remove_leftovers(str(tmp_path), [])
    assert files(tmp_path) == []


def test_the_index_is_removed_first(tmp_path, prefix, monkeypatch):
    removed = []
    write_whole(prefix, writer(), count=nothing)
    monkeypatch.setattr(tf.io.gfile, "remove", removed.append)
    remove_checkpoint(prefix)
    assert [path.removeprefix(prefix) for path in removed] == [".index", ".data-00000-of-00001"]


def variables():
    """Variables of several kinds, one of them in parts."""
    tf.get_variable("weights", initializer=tf.constant([[1.5, 2.5], [3.5, 4.5]]))
    tf.get_variable("count", initializer=tf.constant(9, tf.int64))
    tf.get_variable("half", initializer=tf.constant([0.5], tf.bfloat16))
    tf.get_variable(
        "parts",
        [5, 2],
        partitioner=tf.fixed_size_partitioner(2),
        initializer=tf.random_uniform_initializer(),
    )


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("kind", ["graph", "arrays"])
def test_what_is_written_is_what_the_saver_would_write_and_can_restore(tmp_path, kind, sharded):
    path, stock = str(tmp_path / "model.ckpt-1"), str(tmp_path / "stock")
    with tf.Graph().as_default(), tf.Session() as session:
        variables()
        saver = tf.train.Saver(sharded=sharded)
        shards = shards_of(saver)
        write = GraphWriter(shards).write if kind == "graph" else None
        session.run(tf.global_variables_initializer())
        if write:
            write(session, path)
        else:
            ArrayWriter(shards[0]).write(session.run(list(shards[0].tensors)), path)
        values = session.run(tf.global_variables())
        saver.save(session, stock, write_state=False)
        session.run([v.assign(tf.zeros_like(v)) for v in tf.global_variables()])
        saver.restore(session, path)
        for restored, value in zip(session.run(tf.global_variables()), values, strict=True):
            np.testing.assert_array_equal(restored, value)
    assert tf.train.list_variables(path) == tf.train.list_variables(stock)
    assert ("parts", [5, 2]) in tf.train.list_variables(path)


@pytest.mark.process
def test_the_shards_of_several_devices_become_one_checkpoint(tmp_path):
    config = tf.ConfigProto(device_count={"CPU": 2})
    path = str(tmp_path / "model.ckpt-1")
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        for index in range(2):
            with tf.device(f"/device:CPU:{index}"):
                tf.get_variable(f"weights_{index}", initializer=tf.constant([float(index)]))
        saver = tf.train.Saver(sharded=True)
        extras = {"input_position/state": tf.constant(b"here")}
        shards = with_extras(shards_of(saver), extras)
        writer = GraphWriter(shards)
        session.run(tf.global_variables_initializer())
        writer.write(session, path)
        saver.restore(session, path)
    assert len(shards) == len(list(tmp_path.glob("*.data-*"))) == 3
    assert tf.train.load_variable(path, "weights_1") == [1.0]
    assert tf.train.load_variable(path, "input_position/state") == b"here"
    assert not list(tmp_path.glob("*_temp"))


def test_arrays_of_text_are_written(tmp_path):
    path = str(tmp_path / "model.ckpt-1")
    with tf.Graph().as_default(), tf.Session() as session:
        variables()
        extras = {"one": tf.constant(b"\x00\xff"), "two": tf.constant([b"a", b"bc"])}
        (shard,) = with_extras(shards_of(tf.train.Saver()), extras)
        session.run(tf.global_variables_initializer())
        ArrayWriter(shard).write(session.run(list(shard.tensors)), path)
    assert tf.train.load_variable(path, "one") == b"\x00\xff"
    assert list(tf.train.load_variable(path, "two")) == [b"a", b"bc"]


def test_work_in_the_background_ends_before_wait_returns():
    done = []
    work = Background(lambda: done.append(1))
    work.wait()
    assert done == [1]
    assert work.done()
    assert work.error is None


def test_an_error_in_the_background_is_kept():
    work = Background(raising(FULL))
    work.wait()
    assert work.error is FULL
