import os

import ml_dtypes
import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import newest_checkpoint
from tf_frame.checkpoint.find.path import checkpoint_files
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.checkpoint.rewrite.average import average, find_sources
from tf_frame.errors import CheckpointError, ConfigError


def values(number):
    return {
        "w": np.array([number, -number], np.float32),
        "scalar": np.float64(number),
        "brain": np.array([number], ml_dtypes.bfloat16),
        "z": np.array([number * 1j], np.complex64),
        "global_step": np.int64(number),
        "flag": np.array([number > 2]),
        "text": np.array([f"text {number}".encode()], object),
    }


@pytest.fixture
def three(write):
    return [write(f"model.ckpt-{number}", values(number)) for number in (1, 2, 6)]


def test_numbers_are_averaged_and_the_rest_is_that_of_the_last(three, tmp_path):
    path = str(tmp_path / "out" / "averaged")
    assert average(three, path) == (4, 3)
    assert newest_checkpoint(str(tmp_path / "out")) == path
    found = Checkpoint(path)
    last = Checkpoint(three[-1])
    assert found.names == last.names
    assert [found.type_and_shape(n) for n in found.names] == [
        last.type_and_shape(n) for n in last.names
    ]
    assert found.read("w").tolist() == [3.0, -3.0]
    assert found.read("scalar").tolist() == 3.0
    assert found.read("brain").astype(float).tolist() == [3.0]
    assert found.read("z").tolist() == [3j]
    assert found.global_step == 6
    assert found.read("flag").tolist() == [True]
    assert found.read("text").tolist() == [b"text 6"]


def test_sums_are_made_in_64_bits(write, tmp_path):
    # 1 is lost beside 1e8 in 32 bits; 60000 + 60000 is beyond 16.
    numbers = (1e8, 1.0, -1e8)
    paths = [
        write(f"c{i}", {"w": np.float32(x), "h": np.float16(60000)}) for i, x in enumerate(numbers)
    ]
    average(paths, str(tmp_path / "a"))
    assert Checkpoint(str(tmp_path / "a")).read("w") == np.float32(1 / 3)
    assert Checkpoint(str(tmp_path / "a")).read("h") == np.float16(60000)


@pytest.mark.parametrize(
    ("other", "line"),
    [
        ({"w": np.zeros([3], np.float32)}, "  w: float32 [3] and float32 [2]\n"),
        ({"w": np.zeros([2])}, "  w: float64 [2] and float32 [2]\n"),
        ({"w": np.zeros([2], np.float32), "more": [1.0]}, "  more: only in "),
        ({"v": np.zeros([2], np.float32)}, "  w: only in "),
    ],
)
def test_checkpoints_of_different_models_have_no_mean(write, tmp_path, other, line):
    paths = [write("a", other), write("b", {"w": np.zeros([2], np.float32)})]
    with pytest.raises(CheckpointError) as error:
        average(paths, str(tmp_path / "out"))
    assert f"{paths[0]} and {paths[1]} are checkpoints of different models:\n" in str(error.value)
    assert line in str(error.value)
    assert not list(tmp_path.glob("out*"))


def test_a_damaged_checkpoint_is_an_error_that_leaves_nothing(three, tmp_path, corrupt):
    corrupt(three[1])
    with pytest.raises(CheckpointError, match=f"^the checkpoint {three[1]} cannot be read"):
        average(three, str(tmp_path / "out"))
    assert not list(tmp_path.glob("out*"))


def test_what_is_there_is_only_replaced_when_asked(three, tmp_path):
    path = str(tmp_path / "out")
    average(three, path)
    with pytest.raises(ConfigError, match="exists; take another name"):
        average(three[:2], path)
    average(three[:2], path, overwrite=True)
    assert Checkpoint(path).read("scalar") == 1.5
    with pytest.raises(ConfigError, match="is itself read"):
        average(three, three[0], overwrite=True)


def test_a_folder_means_its_checkpoints_and_last_the_newest_of_them(tmp_path, save):
    paths = save(1, 2, 3)
    assert find_sources([str(tmp_path)], last=None, but="x") == paths
    assert find_sources([str(tmp_path)], last=2, but="x") == paths[1:]
    given = [paths[0] + ".index", str(tmp_path)]
    assert find_sources(given, last=None, but="x") == [paths[0], paths[2]]
    # An earlier mean of the same name does not count.
    average(paths, str(tmp_path / "averaged"))
    assert find_sources([str(tmp_path)], last=None, but=f"{tmp_path}/./averaged") == paths


def test_sources_that_have_no_mean_are_refused(tmp_path, three):
    with pytest.raises(ConfigError, match="^--last 2 takes the newest of one folder"):
        find_sources(three, last=2, but="x")
    for path in three[1:]:
        for file in checkpoint_files(path):
            os.remove(file)
    for given in ([three[0]], [str(tmp_path)]):
        with pytest.raises(ConfigError, match=f"^an average .* and there are 1: {three[0]}$"):
            find_sources(given, last=None, but="x")


@pytest.mark.usefixtures("variable_mode")
def test_a_partitioned_variable_is_averaged_as_one(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        partitioner = tf.fixed_size_partitioner(2)
        w = tf.get_variable("w", [4], partitioner=partitioner, initializer=tf.ones_initializer())
        saver = tf.train.Saver()
        session.run(tf.global_variables_initializer())
        first = saver.save(session, str(tmp_path / "a"))
        session.run([part.assign_add([2.0, 2.0]) for part in w])
        second = saver.save(session, str(tmp_path / "b"))
        average([first, second], str(tmp_path / "c"))
        saver.restore(session, str(tmp_path / "c"))
        assert session.run(tf.convert_to_tensor(w)).tolist() == [2.0] * 4
