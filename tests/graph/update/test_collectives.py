import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.graph.update.collectives import buckets, pack, unpack

TYPES = (tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int32)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shapes", [[()], [(3,)], [(0,)], [(2, 3), (), (1, 5, 1), (0, 4), (7,)]])
@pytest.mark.parametrize("min_elements", [0, 1, 1000])
def test_tensors_come_out_as_they_went_in(dtype, shapes, min_elements):
    arrays = [np.arange(np.prod(shape)).reshape(shape) + i for i, shape in enumerate(shapes)]
    with tf.Graph().as_default(), tf.Session() as session:
        tensors = [tf.cast(tf.constant(array), dtype) for array in arrays]
        buffer = pack(tensors, min_elements=min_elements)
        assert buffer.dtype == dtype
        assert buffer.shape.num_elements() == max(min_elements, sum(a.size for a in arrays))
        found = session.run(unpack(buffer, tensors))
    for array, value in zip(arrays, found, strict=True):
        assert value.shape == array.shape
        np.testing.assert_array_equal(value.astype(np.float64), array)


def test_buckets_have_one_type_a_limit_and_known_sizes():
    sizes = [(3, tf.float32), (2, tf.float64), (90, tf.float32), (6, tf.float32), (1, tf.float64)]
    with tf.Graph().as_default():
        tensors = [tf.zeros([size], dtype) for size, dtype in sizes]
    assert buckets(tensors, 40) == [[0], [1, 4], [2], [3]]
    assert buckets(tensors, 36 + 360) == [[0, 2, 3], [1, 4]]
    assert buckets([], 40) == []
    with (
        tf.Graph().as_default(),
        pytest.raises(ConfigError, match=r"of_batch:0 has the shape .* not known before a run"),
    ):
        buckets([tf.placeholder(tf.float32, [None, 3], name="of_batch")])
