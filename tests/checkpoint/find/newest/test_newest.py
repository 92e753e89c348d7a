import logging
import os
from pathlib import Path

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import (
    find_damage,
    listed_checkpoints,
    newest_checkpoint,
    read_step,
)
from tf_frame.errors import CheckpointError

DATA = ".data-00000-of-00001"


@pytest.fixture
def save_in_shards(tmp_path):
    """Saves a checkpoint of a step in two data files; returns its path prefix."""

    def save(step):
        path = str(tmp_path / f"model.ckpt-{step}")
        with tf.Graph().as_default(), tf.Session() as session:
            parts = []
            for index in range(2):
                parts.append(f"{path}_temp/part-{index}")
                session.run(
                    tf.raw_ops.SaveV2(
                        prefix=parts[-1],
                        tensor_names=[f"weights_{index}"],
                        shape_and_slices=[""],
                        tensors=[tf.range(9.0)],
                    )
                )
            session.run(
                tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=path)
            )
        known = [*listed_checkpoints(str(tmp_path))]
        paths = known if path in known else [*known, path]
        tf.train.update_checkpoint_state(str(tmp_path), path, all_model_checkpoint_paths=paths)
        return path

    return save


def truncate(path):
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) // 2)


def flip_a_byte(path):
    content = bytearray(Path(path).read_bytes())
    content[len(content) // 4] ^= 0xFF
    Path(path).write_bytes(content)


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_that_is_empty_or_does_not_exist_has_no_checkpoint(tmp_path):
    assert newest_checkpoint(str(tmp_path)) is None
    assert newest_checkpoint(str(tmp_path / "none")) is None
    assert listed_checkpoints(str(tmp_path)) == []


def test_the_newest_checkpoint_is_found(tmp_path, save):
    paths = save(3, 20, 100)
    assert newest_checkpoint(str(tmp_path)) == paths[-1] == str(tmp_path / "model.ckpt-100")
    assert listed_checkpoints(str(tmp_path)) == paths
    (path,) = save(105, sharded=True)
    assert newest_checkpoint(str(tmp_path)) == path


@pytest.mark.parametrize("suffix", [DATA, ".index"])
@pytest.mark.parametrize("damage", [truncate, os.remove, flip_a_byte])
def test_a_damaged_checkpoint_is_passed_over_with_a_warning(tmp_path, save, caplog, suffix, damage):
    good, bad = save(10, 20)
    damage(bad + suffix)
    before = files(tmp_path)
    with caplog.at_level(logging.WARNING, logger="tf_frame"):
        assert newest_checkpoint(str(tmp_path)) == good
    assert f"passing over a damaged checkpoint: {bad}: " in caplog.text
    assert files(tmp_path) == before


def remove_a_shard(path):
    os.remove(path + ".data-00001-of-00002")


def empty(path):
    Path(path + ".index").write_bytes(b"")


def full_disk(path):
    """Leaves the files of a save on a full disk: a complete index, and data that end early."""
    os.truncate(path + ".data-00001-of-00002", 3)


@pytest.mark.parametrize("damage", [remove_a_shard, empty, full_disk])
def test_damage_to_one_file_of_several_is_found(tmp_path, save_in_shards, damage):
    good, bad = save_in_shards(10), save_in_shards(20)
    assert newest_checkpoint(str(tmp_path)) == bad
    damage(bad)
    assert newest_checkpoint(str(tmp_path)) == good


def test_what_is_passed_over_and_what_is_used_is_told(tmp_path, save):
    good, bad, worse = save(10, 20, 30)
    truncate(bad + DATA)
    os.remove(worse + ".index")
    told = []
    assert newest_checkpoint(str(tmp_path), told.append) == good
    assert [line.partition(": ")[0] for line in told[:2]] == [
        "passing over a damaged checkpoint"
    ] * 2
    assert told[0].startswith(f"passing over a damaged checkpoint: {worse}: ")
    assert told[1].startswith(f"passing over a damaged checkpoint: {bad}: ")
    assert told[2:] == [f"the newest checkpoint that can be read is {good}"]


def test_without_damage_nothing_is_told(tmp_path, save):
    save(10, 20)
    told = []
    newest_checkpoint(str(tmp_path), told.append)
    newest_checkpoint(str(tmp_path / "none"), told.append)
    assert told == []


def test_where_all_that_are_listed_are_damaged_others_that_are_there_count(tmp_path, save):
    unlisted, bad = save(10, 20)
    tf.train.update_checkpoint_state(str(tmp_path), bad, all_model_checkpoint_paths=[bad])
    assert newest_checkpoint(str(tmp_path)) == bad
    truncate(bad + DATA)
    assert newest_checkpoint(str(tmp_path)) == unlisted


@pytest.fixture
def reads(monkeypatch):
    """Notes which checkpoints are opened."""
    opened, load = [], tf.train.NewCheckpointReader

    def count(path):
        opened.append(path)
        return load(path)

    monkeypatch.setattr(tf.train, "NewCheckpointReader", count)
    return opened


def test_a_checkpoint_that_was_read_before_is_not_read_again(tmp_path, save, reads):
    good, bad = save(10, 20)
    truncate(bad + DATA)
    for readable in (None, good):
        assert newest_checkpoint(str(tmp_path), readable=readable) == good
    assert reads == [bad, good, bad]


@pytest.mark.parametrize("suffix", [DATA, ".index"])
def test_later_damage_is_found_and_told_in_one_line(tmp_path, save, suffix):
    (path,) = save(10)
    assert find_damage(path) == ""
    stat, content = os.stat(path + suffix), Path(path + suffix).read_bytes()
    flip_a_byte(path + suffix)
    os.utime(path + suffix, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert find_damage(path).strip()
    assert "\n" not in find_damage(path)
    # A file that comes back is read again.
    os.remove(path + suffix)
    assert find_damage(path) != ""
    Path(path + suffix).write_bytes(content)
    assert find_damage(path) == ""


def test_without_a_readable_checkpoint_the_error_lists_them_and_keeps_the_files(tmp_path, save):
    paths = save(10, 20)
    for path in paths:
        truncate(path + DATA)
    before = files(tmp_path)
    with pytest.raises(CheckpointError) as error:
        newest_checkpoint(str(tmp_path))
    message = str(error.value)
    assert message.startswith(f"no checkpoint in {tmp_path} can be read:\n  {paths[1]}: ")
    assert f"\n  {paths[0]}: " in message
    assert message.endswith("start over in another --model_dir")
    assert files(tmp_path) == before


def test_a_moved_folder_keeps_its_checkpoints(tmp_path, save):
    save(10)
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in [name for name in files(tmp_path) if name != "moved"]:
        (tmp_path / name).rename(moved / name)
    assert newest_checkpoint(str(moved)) == str(moved / "model.ckpt-10")


def overwrite(content):
    return lambda path: Path(path).write_bytes(content)


@pytest.mark.parametrize("spoil", [os.remove, *map(overwrite, [b"garbage {", b"", b"\xff\x00"])])
def test_without_the_list_the_checkpoints_that_are_there_count(tmp_path, save, spoil):
    paths = save(3, 20, 100)
    (tmp_path / "model.ckpt-best.index").write_text("no checkpoint of a step")
    spoil(tmp_path / "checkpoint")
    assert listed_checkpoints(str(tmp_path)) == paths
    assert newest_checkpoint(str(tmp_path)) == paths[-1]


def test_the_step_is_that_in_the_checkpoint_and_not_in_its_name(tmp_path, save):
    (path,) = save(7)
    for file in tmp_path.glob("model.ckpt-7.*"):
        file.rename(str(file).replace("ckpt-7", "ckpt-8"))
    assert read_step(path.replace("ckpt-7", "ckpt-8")) == 7


def test_without_a_checkpoint_or_a_global_step_the_step_is_zero(write):
    assert read_step(None) == 0
    assert read_step(write("pretrained", {"weights": [1.0, 2.0]})) == 0


def test_a_checkpoint_of_the_first_format_is_one_file(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.get_variable("weights", initializer=tf.range(64.0)).initializer)
        saver = tf.train.Saver(write_version=tf.train.SaverDef.V1)
        path = saver.save(session, str(tmp_path / "pretrained.ckpt"), write_meta_graph=False)
    assert find_damage(path) == ""
    truncate(path)
    assert find_damage(path) != ""
