import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import DataError
from tf_frame.weights.values import read_values


def values(path):
    return {name: (dtype, value) for name, dtype, value in read_values(str(path))}


def test_arrays_have_floats_of_32_bits(tmp_path):
    kernel = np.linspace(-1, 1, 6).reshape(2, 3)
    np.savez(tmp_path / "a.npz", **{"net/kernel": kernel.astype(np.float16), "step": np.int64(3)})
    found = values(tmp_path / "a.npz")
    assert found["net/kernel"][0] == tf.float32 and found["step"] == (tf.int64, 3)
    np.testing.assert_array_equal(found["net/kernel"][1], kernel.astype(np.float16))


@pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])
def test_the_variables_of_a_frozen_graph(tmp_path, resource):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], "x")
        with tf.variable_scope("net", use_resource=resource):
            kernel = tf.get_variable("kernel", initializer=[[1.0], [2.0]])
            bias = tf.get_variable("bias", initializer=[3.0])
        tf.identity(tf.matmul(x, kernel) * tf.constant(2.0) + bias, "y")
        session.run(tf.global_variables_initializer())
        frozen = tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])
    (tmp_path / "frozen.pb").write_bytes(frozen.SerializeToString())
    found = values(tmp_path / "frozen.pb")
    assert found.keys() == {"net/kernel", "net/bias"}
    np.testing.assert_array_equal(found["net/kernel"][1], [[1.0], [2.0]])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.npz", b"", "is no archive of NumPy arrays"),
        ("a.npz", b"no archive", "is no archive of NumPy arrays"),
        ("a.pb", b"\xff\xff\xff", "is no graph of TensorFlow"),
        ("a.pb", b"", "holds no values of variables"),
    ],
)
def test_damaged_files_are_named(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message) as error:
        values(tmp_path / name)
    assert str(tmp_path / name) in str(error.value)


def test_objects_are_not_read(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.array([{}], dtype=object))
    with pytest.raises(DataError, match=r"is no archive of NumPy arrays: .*allow_pickle"):
        values(tmp_path / "a.npz")
