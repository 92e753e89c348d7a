import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.gradient_transforms.values import gradient_values, on_values

pytestmark = pytest.mark.usefixtures("graph")


def test_a_dense_gradient_is_its_own_values(evaluate):
    gradient = tf.ones([2])
    assert gradient_values(gradient) is gradient
    np.testing.assert_array_equal(evaluate(on_values(gradient, lambda v: v + 1)), [2.0, 2.0])


def test_slices_change_and_stay_where_they_are(sparse, evaluate):
    gradient = sparse()
    changed = on_values(gradient, lambda values: -values)
    assert isinstance(changed, tf.IndexedSlices)
    assert changed.indices is gradient.indices
    np.testing.assert_array_equal(*evaluate([changed.values, -gradient_values(gradient)]))


def test_none_is_not_changed():
    assert on_values(None, lambda values: values + 1) is None
