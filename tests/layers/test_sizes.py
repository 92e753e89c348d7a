import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers


def test_one_number_stands_for_all():
    assert layers.n_positive_integers(3, 2) == (2, 2, 2)
    assert layers.n_positive_integers(2, np.int64(5)) == (5, 5)
    assert layers.n_positive_integers(3, tf.TensorShape([1, 2, 3])) == (1, 2, 3)
    assert layers.n_positive_integers(2, np.array([1, 2])) == (1, 2)
    assert layers.n_positive_integers(2, tf.Dimension(5)) == (5, 5)
    assert layers.two_element_tuple(tf.Dimension(3)) == (3, 3)
    assert layers.two_element_tuple(3) == (3, 3)
    assert layers.two_element_tuple([3, 4]) == (3, 4)
    assert layers.two_element_tuple(tf.TensorShape([3, 4])) == (3, 4)


@pytest.mark.parametrize("value", [[1], [1, 2, 3], "ab", 0, [1, 0], None, [1, None]])
def test_what_is_no_pair_of_positive_integers_is_refused(value):
    with pytest.raises(ValueError, match="positive integer"):
        layers.n_positive_integers(2, value)


@pytest.mark.parametrize("value", [[1], [1, 2, 3], None, 1.5])
def test_what_is_no_pair_is_refused(value):
    with pytest.raises(ValueError, match="Must be an int, a list with 2 elements"):
        layers.two_element_tuple(value)


def test_channels_are_first_or_last():
    shape = tf.TensorShape([None, 3, None, 5])
    assert layers.channel_dimension(shape, "channels_first") == 3
    assert layers.channel_dimension(shape, "channels_last") == 5
    assert layers.last_dimension(shape, min_rank=4) == 5


def test_unknown_or_too_few_sizes_are_refused():
    with pytest.raises(ValueError, match="dims of shape must be known but is None"):
        layers.last_dimension(tf.TensorShape(None))
    with pytest.raises(ValueError, match="rank of shape must be at least 3 not: 2"):
        layers.last_dimension(tf.TensorShape([1, 2]), min_rank=3)
    with pytest.raises(ValueError, match="dimension -1 of shape must be known but is None"):
        layers.last_dimension(tf.TensorShape([1, None]))
