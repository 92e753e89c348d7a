"""Arrays of this process in a graph, which stays small."""

import gc
import os
import tempfile

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import compute, run_initialized
from tf_frame.errors import DataError
from tf_frame_vision.reading import arrays


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(3, 2) / 7,
        np.arange(-3, 3, dtype=np.int32),
        np.array([True, False]),
        np.zeros([0, 4], np.float32),
    ],
)
def test_arrays_come_back_as_they_were(array):
    fetched = compute(lambda: arrays.array(array))
    assert fetched.dtype == array.dtype
    np.testing.assert_array_equal(fetched, array)


def test_files_go_with_their_graph(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with tf.Graph().as_default():
        arrays.integers([1, 2])
        assert len(os.listdir(tmp_path)) == 1
    gc.collect()
    assert os.listdir(tmp_path) == []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(DataError, match="absent cannot hold 16 bytes.*name another folder by TM"):
        arrays.integers([1, 2])


@pytest.mark.usefixtures("graph")
def test_lists_are_no_part_of_the_graph():
    names = [f"n01440764/n{number}\udcff\u00fc.JPEG" for number in range(20000)]
    strings, integers = arrays.strings(names), arrays.integers(range(7, 20000, 3))
    ragged = arrays.ragged(np.arange(9000, dtype=np.float32), np.array([0, 0, 9000]))
    text = arrays.texts(["", *names])
    some = [text(tf.constant(index)) for index in (0, 1, 20000)]
    assert strings.shape.as_list() == [20000]
    assert tf.get_default_graph().as_graph_def().ByteSize() < 7000
    *values, some = run_initialized([strings, integers, ragged, some])
    assert values[0].tolist() == [name.encode("utf-8", "surrogateescape") for name in names]
    assert values[1].tolist() == list(range(7, 20000, 3))
    assert values[2].to_list() == [[], list(range(9000))]
    assert some == [name.encode("utf-8", "surrogateescape") for name in ("", names[0], names[-1])]
