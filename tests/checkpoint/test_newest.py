import logging
import os
from pathlib import Path

import pytest

from tf_frame.checkpoint.newest import (
    damage_of,
    known_checkpoints,
    newest_checkpoint,
    step_of,
)
from tf_frame.errors import CheckpointError

DATA = ".data-00000-of-00001"


def truncate(path):
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) // 2)


def flip_a_byte(path):
    content = bytearray(Path(path).read_bytes())
    content[len(content) // 4] ^= 0xFF
    Path(path).write_bytes(content)


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_an_empty_folder_has_no_checkpoint(tmp_path):
    assert newest_checkpoint(str(tmp_path)) is None
    assert known_checkpoints(str(tmp_path)) == []


def test_a_folder_that_does_not_exist_has_no_checkpoint(tmp_path):
    assert newest_checkpoint(str(tmp_path / "none")) is None


def test_the_newest_checkpoint_is_found(tmp_path, save):
    paths = save(3, 20, 100)
    assert newest_checkpoint(str(tmp_path)) == paths[-1] == str(tmp_path / "model.ckpt-100")
    assert known_checkpoints(str(tmp_path)) == paths


def test_a_sharded_checkpoint_is_found(tmp_path, save):
    (path,) = save(5, sharded=True)
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


def test_several_damaged_checkpoints_are_passed_over(tmp_path, save):
    good, *bad = save(10, 20, 30)
    for path in bad:
        truncate(path + DATA)
    assert newest_checkpoint(str(tmp_path)) == good


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


def write(content):
    return lambda path: Path(path).write_bytes(content)


@pytest.mark.parametrize("spoil", [os.remove, write(b"garbage {"), write(b""), write(b"\xff\x00")])
def test_without_the_list_the_checkpoints_that_are_there_count(tmp_path, save, spoil):
    paths = save(3, 20, 100)
    (tmp_path / "model.ckpt-best.index").write_text("no checkpoint of a step")
    spoil(tmp_path / "checkpoint")
    assert known_checkpoints(str(tmp_path)) == paths
    assert newest_checkpoint(str(tmp_path)) == paths[-1]


def test_a_sound_checkpoint_has_no_damage(save):
    assert damage_of(save(10)[0]) == ""


def test_damage_is_told_in_one_line(save):
    (path,) = save(10)
    truncate(path + DATA)
    assert damage_of(path).strip()
    assert "\n" not in damage_of(path)


def test_the_step_is_that_in_the_checkpoint_and_not_in_its_name(tmp_path, save):
    (path,) = save(7)
    for file in tmp_path.glob("model.ckpt-7.*"):
        file.rename(str(file).replace("ckpt-7", "ckpt-8"))
    assert step_of(path.replace("ckpt-7", "ckpt-8")) == 7


def test_without_a_checkpoint_the_step_is_zero():
    assert step_of(None) == 0


def test_a_checkpoint_without_global_step_is_at_step_zero(tmp_path):
    import tensorflow.compat.v1 as tf

    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("weights", [2])
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "pretrained"))
    assert step_of(path) == 0
