import os
from pathlib import Path

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.contents import list_checkpoints
from tf_frame.checkpoint.find.path import (
    checkpoint_exists,
    checkpoint_files,
    find_checkpoints,
    resolve_checkpoint,
)
from tf_frame.errors import CheckpointError, ConfigError


def problem(path):
    with pytest.raises((CheckpointError, ConfigError)) as error:
        resolve_checkpoint(str(path))
    return str(error.value)


@pytest.mark.parametrize("suffix", ["", ".index", ".data-00000-of-00001", ".meta"])
def test_a_prefix_and_each_of_its_files_mean_the_checkpoint(save, suffix):
    (path,) = save(5)
    assert resolve_checkpoint(path + suffix) == path


def test_a_relative_path_works(tmp_path, save, monkeypatch):
    save(5)
    monkeypatch.chdir(tmp_path)
    assert resolve_checkpoint("model.ckpt-5") == "model.ckpt-5"
    assert "checkpoints in .: model.ckpt-5" in problem("none")


def test_a_folder_means_its_newest_checkpoint_that_can_be_read(tmp_path, save, corrupt):
    good, bad = save(5, 10)
    assert resolve_checkpoint(str(tmp_path)) == bad
    corrupt(bad)
    assert resolve_checkpoint(str(tmp_path)) == good


def test_a_prefix_beside_a_folder_of_its_name_means_the_prefix(tmp_path, save):
    (path,) = save(5)
    os.mkdir(path)
    assert resolve_checkpoint(path) == path


def test_a_folder_without_a_readable_checkpoint_is_an_error_that_says_why(tmp_path, save, corrupt):
    (path,) = save(5)
    corrupt(path)
    assert problem(tmp_path).startswith(f"no checkpoint in {tmp_path} can be read:\n  {path}: ")


def test_a_downloaded_folder_may_list_the_paths_of_another_machine(tmp_path, save):
    paths = save(5, 10)
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "/cns/elsewhere/model.ckpt-10"\n')
    assert resolve_checkpoint(str(tmp_path)) == paths[1]


def test_a_folder_with_one_checkpoint_of_any_name_means_that_and_of_several_one_is_named(
    tmp_path, write
):
    path = write("mobilenet_v2_1.4_224.ckpt", {"a": [1.0]})
    assert resolve_checkpoint(str(tmp_path)) == path
    write("a", {"a": [1.0]})
    assert f"{tmp_path} holds several checkpoints; name one: " in problem(tmp_path)


def test_a_saved_model_means_its_variables(tmp_path, write):
    (tmp_path / "saved_model.pb").write_bytes(b"")
    (tmp_path / "variables").mkdir()
    path = write("variables/variables", {"a": [1.0]})
    assert resolve_checkpoint(str(tmp_path)) == path == str(tmp_path / "variables" / "variables")


@pytest.mark.usefixtures("reference_variables")
def test_a_checkpoint_in_one_file_as_before_tensorflow_1_is_found(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("weights", [2])
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver(write_version=tf.train.SaverDef.V1)
        saver.save(session, str(tmp_path / "inception_v3.ckpt"), write_meta_graph=False)
    path = str(tmp_path / "inception_v3.ckpt")
    assert os.listdir(tmp_path).count("inception_v3.ckpt") == 1
    assert checkpoint_exists(path)
    assert resolve_checkpoint(path) == path


def test_a_missing_checkpoint_is_answered_with_those_that_are_there(tmp_path, save):
    save(100, 200)
    message = problem(tmp_path / "model.ckpt-20")
    assert message == (
        f"there is no checkpoint {tmp_path}/model.ckpt-20; did you mean "
        f"{tmp_path}/model.ckpt-200? checkpoints in {tmp_path}: model.ckpt-100, model.ckpt-200"
    )


def test_a_path_that_tensorflow_cannot_read_is_refused(tmp_path, save):
    """TensorFlow finds the files by a pattern, and then calls the checkpoint damaged."""
    save(100)
    folder = tmp_path.rename(f"{tmp_path}[1]")
    for path in (folder, folder / "model.ckpt-100"):
        assert problem(path).startswith(f"the checkpoint {path}: TensorFlow's savers read *, ? and")
    with pytest.raises(ConfigError, match="choose a folder without them"):
        list_checkpoints(str(folder))


def test_what_a_folder_without_checkpoints_holds_is_told(tmp_path):
    assert problem(tmp_path).endswith("it holds nothing")
    missing = tmp_path / "none"
    assert problem(missing / "model.ckpt").endswith(f"there is no folder {missing}")
    for number in range(10):
        (tmp_path / f"file{number}").write_text("")
    files = ", ".join(f"file{number}" for number in range(8))
    assert problem(tmp_path) == (
        f"there is no checkpoint in the folder {tmp_path}; it holds {files} and 2 more"
    )
    assert problem(tmp_path / "x").endswith(f"the folder {tmp_path} holds {files} and 2 more")


def test_the_listed_checkpoints_come_after_the_others_which_are_ordered_by_their_time(
    tmp_path, save, write
):
    paths = [write(name, {"a": [1.0]}) for name in ("b", "c", "a")]
    for secs, path in enumerate(paths, start=2**31 - 9):
        os.utime(path + ".index", (secs, secs))
    listed = save(5, 10)
    assert find_checkpoints(str(tmp_path)) == [*paths, *listed]


def test_a_folder_called_like_an_index_is_no_checkpoint(tmp_path):
    Path(tmp_path / "x.index").mkdir()
    assert find_checkpoints(str(tmp_path)) == []
    assert not checkpoint_exists(str(tmp_path / "x"))


def test_the_files_of_a_checkpoint_are_only_its_own(tmp_path, save):
    path, _ = save(3, 30)
    assert [os.path.basename(file) for file in checkpoint_files(path)] == [
        "model.ckpt-3.data-00000-of-00001",
        "model.ckpt-3.index",
        "model.ckpt-3.meta",
    ]
    assert checkpoint_files(str(tmp_path / "none" / "x")) == []
