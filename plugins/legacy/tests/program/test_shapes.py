"""Dimensions that are floating-point numbers."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.framework.tensor_shape import Dimension

from tf_frame_legacy.program.shapes import take_whole_numbers

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
