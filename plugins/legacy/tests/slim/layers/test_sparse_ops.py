import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy import slim
from tf_frame_legacy.slim.layers import sparse_ops


def evaluated(build):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build())


def test_indicators_become_the_indices_of_the_classes():
    indicators = [[[0, 0, 1, 0], [0, 0, 0, 0]], [[1, 0, 1, 1], [0, 0, 1, 0]]]
    ids = evaluated(lambda: slim.layers.indicators_to_sparse_ids(indicators))
    assert ids.indices.tolist() == [[0, 0, 0], [1, 0, 0], [1, 0, 1], [1, 0, 2], [1, 1, 0]]
    assert ids.values.tolist() == [2, 0, 2, 3, 2]
    assert ids.values.dtype == np.int64
    assert ids.dense_shape.tolist() == [2, 2, 3]


@pytest.mark.parametrize(
    ("indicators", "ignore_value"), [([["", "x"]], None), ([[-1, 0]], -1), ([[False, True]], None)]
)
def test_the_value_in_place_of_0(indicators, ignore_value):
    ids = evaluated(
        lambda: slim.layers.indicators_to_sparse_ids(indicators, ignore_value, tf.int32)
    )
    assert ids.values.tolist() == [1]
    assert ids.values.dtype == np.int32


def test_examples_without_classes():
    ids = evaluated(lambda: slim.layers.indicators_to_sparse_ids(tf.zeros([2, 3])))
    assert ids.values.size == 0
    assert ids.dense_shape.tolist() == [2, 0]
    with pytest.raises(ValueError, match="not integer"):
        slim.layers.indicators_to_sparse_ids([[1]], dtype=tf.float32)


def test_lengths_of_rows():
    def sparse():
        return tf.SparseTensor([[0, 0], [2, 0], [2, 1], [2, 3]], [1, 1, 1, 1], [4, 5])

    assert evaluated(lambda: slim.layers.sparse_row_envelope(sparse())).tolist() == [1, 0, 4, 0]
    lengths = evaluated(lambda: slim.layers.sparse_row_envelope(sparse(), row_axis=1, col_axis=0))
    assert lengths.tolist() == [3, 3, 0, 3, 0]
    for axes, error in (((1, 1), "same axis"), ((0, 1.0), "integers")):
        with pytest.raises(ValueError, match=error):
            slim.layers.sparse_row_envelope(None, *axes)


def test_a_dense_tensor_becomes_sparse():
    sparse = evaluated(lambda: sparse_ops.dense_to_sparse_tensor([[0, 3], [4, 0]]))
    assert sparse.indices.tolist() == [[0, 1], [1, 0]]
    assert sparse.values.tolist() == [3, 4]
    assert sparse.dense_shape.tolist() == [2, 2]
