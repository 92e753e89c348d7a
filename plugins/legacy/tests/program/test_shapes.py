"""Dimensions that are floating-point numbers."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.framework.tensor_shape import Dimension

from tf_frame_legacy.program.old_packages import dimensions
from tf_frame_legacy.program.shapes import mix_with_tensors, take_whole_numbers

pytestmark = pytest.mark.usefixtures("graph")


def test_whole_numbers_are_dimensions(monkeypatch):
    # The process of the tests gets back what it had.
    monkeypatch.setattr(Dimension, "__init__", Dimension.__init__)
    take_whole_numbers()
    variable = tf.get_variable("kernel", [3, 6 / 2, np.float32(4)])
    assert variable.shape.as_list() == [3, 3, 4]
    assert tf.placeholder(tf.float32, [None, 2.0]).shape.as_list() == [None, 2]
    for value in (2.5, float("inf"), float("nan"), "2"):
        with pytest.raises(TypeError, match="Dimension value must be integer"):
            tf.TensorShape([value])
    with pytest.raises(ValueError, match="must be >= 0"):
        tf.TensorShape([-2.0])


def test_restored_methods_divide_sizes(monkeypatch):
    for name in ("__init__", "__truediv__", "__rtruediv__"):
        monkeypatch.setattr(Dimension, name, getattr(Dimension, name))
    dimensions.restore_methods()
    variable = tf.get_variable("kernel", [Dimension(7) / 2, 6 / 2, 4])
    assert variable.shape.as_list() == [3, 3, 4]


def test_floating_point_tensors_are_divided_by_dimensions():
    size = tf.placeholder(tf.float32, [8, None]).shape[0]
    mix_with_tensors()
    quotient = tf.constant(4.0) / size
    product = Dimension(3) * tf.constant(0.5, tf.float64)
    assert (quotient.dtype, product.dtype) == (tf.float32, tf.float64)
    assert tf.convert_to_tensor(Dimension(8)).dtype == tf.int32
    with tf.Session() as session:
        assert session.run([quotient, product]) == [0.5, 1.5]
    with pytest.raises(ValueError, match="unknown Dimension"):
        tf.convert_to_tensor(Dimension(None))
