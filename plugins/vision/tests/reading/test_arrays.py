"""Arrays of this process in a graph, which stays small."""

import gc
import os
import tempfile

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
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
@pytest.mark.usefixtures("graph")
def test_arrays_come_back_as_they_were(array):
    rows = arrays.Rows(array)
    assert (rows.dtype, rows.shape.as_list()) == (array.dtype, list(array.shape))
    fetched, each = run_initialized([rows.all(), [rows[index] for index in range(len(array))]])
    assert fetched.dtype == array.dtype
    np.testing.assert_array_equal(fetched, array)
    for one, expected in zip(each, array, strict=True):
        np.testing.assert_array_equal(one, expected)


@pytest.mark.usefixtures("graph")
def test_a_data_set_holds_no_copy_of_rows():
    rows, ends = arrays.Rows(np.arange(4)), arrays.Rows([0, 0, 3])
    groups = arrays.Ragged(np.array([[1], [2], [3]], np.float32), ends)
    data_set = tf.data.Dataset.range(2).map(lambda index: (rows[index], groups[index]))
    (function,) = data_set._functions()
    assert not function.function.captured_inputs
    batch = tf.data.make_one_shot_iterator(data_set).get_next()
    with tf.Session() as session:
        first, second = session.run(batch), session.run(batch)
    assert (first[0], first[1].tolist()) == (0, [])
    assert (second[0], second[1].tolist()) == (1, [[1], [2], [3]])


def test_files_go_with_their_graph(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with tf.Graph().as_default():
        arrays.Rows([1, 2])
        assert len(os.listdir(tmp_path)) == 1
    gc.collect()
    assert os.listdir(tmp_path) == []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(DataError, match="absent cannot hold 16 bytes.*name another folder by TM"):
        arrays.Rows([1, 2])


@pytest.mark.usefixtures("graph")
def test_lists_are_no_part_of_the_graph():
    names = [f"n01440764/n{number}\udcff\u00fc.JPEG" for number in range(20000)]
    strings, integers = arrays.strings(names), arrays.Rows(range(7, 20000, 3))
    ragged = arrays.Ragged(np.arange(9000, dtype=np.float32), arrays.Rows([0, 0, 9000]))
    texts = arrays.Texts(["", *names])
    some = [texts[tf.constant(index)] for index in (0, 1, 20000)]
    assert strings.shape.as_list() == [20000]
    fetches = [strings, integers.all(), ragged[0], ragged[1], some]
    assert tf.get_default_graph().as_graph_def().ByteSize() < 10_000
    *values, some = run_initialized(fetches)
    assert values[0].tolist() == [name.encode("utf-8", "surrogateescape") for name in names]
    assert values[1].tolist() == list(range(7, 20000, 3))
    assert [values[2].tolist(), values[3].tolist()] == [[], list(range(9000))]
    assert some == [name.encode("utf-8", "surrogateescape") for name in ("", names[0], names[-1])]
