import os

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import find_damage, read_step
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.errors import CheckpointError


def test_names_shapes_types_and_values_are_read(write):
    checkpoint = Checkpoint(write("a", {"w": np.ones([2, 3], np.float32), "n": np.int64(7)}))
    assert checkpoint.names == ["n", "w"]
    assert checkpoint.shape("w") == [2, 3]
    assert checkpoint.dtype("n") == tf.int64
    assert checkpoint.size("w") == 6
    assert checkpoint.num_bytes("w") == 24
    assert checkpoint.parameters == 7
    assert checkpoint.type_and_shape("w") == "float32 [2, 3]"
    assert "w" in checkpoint
    assert "x" not in checkpoint
    np.testing.assert_array_equal(checkpoint.read("w"), np.ones([2, 3]))


def test_texts_keep_the_zero_bytes_at_their_end(write):
    path = write("a", {"one": np.array(b"x\0", object), "two": np.array([b"y\0", b""], object)})
    checkpoint = Checkpoint(path)
    assert checkpoint.read("one")[()] == b"x\0"
    assert checkpoint.read("two").tolist() == [b"y\0", b""]
    assert checkpoint.num_bytes("two") is None


def test_the_global_step_is_that_of_the_checkpoint(write):
    assert Checkpoint(write("a", {"global_step": np.int64(12)})).global_step == 12
    assert Checkpoint(write("b", {"w": [1.0]})).global_step is None


@pytest.mark.parametrize("suffix", [".index", ".data-00000-of-00001"])
def test_damage_is_an_error_that_names_the_checkpoint(write, corrupt, suffix):
    path = write("a", {"w": np.ones([64], np.float32)})
    corrupt(path, suffix)
    with pytest.raises(CheckpointError, match=f"^the checkpoint {path} cannot be read: ."):
        Checkpoint(path).read("w")


def test_a_folder_of_the_same_name_does_not_matter(write):
    path = write("model", {"w": [1.0], "global_step": np.int64(3)})
    os.mkdir(path)
    assert Checkpoint(path).read("w") == [1.0]
    assert read_step(path) == 3
    assert find_damage(path) == ""
