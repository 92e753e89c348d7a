import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame.gradient_transforms.clip_by_norm import ClipByNorm, clip_gradients_by_norm

pytestmark = pytest.mark.usefixtures("graph")


def clip(pairs, norm):
    return ClipByNorm(params=ClipByNorm.Params(norm=norm))(pairs)


def test_each_gradient_is_clipped_by_itself(variable, evaluate):
    pairs = [(tf.constant([3.0, 4.0]), variable("a", [2])), (tf.ones([2]), variable("b", [2]))]
    long, short = evaluate([gradient for gradient, _ in clip(pairs, 2.5)])
    np.testing.assert_allclose(long, [1.5, 2.0], rtol=1e-6)
    np.testing.assert_array_equal(short, [1.0, 1.0])


def test_a_gradient_of_zeros_stays_zero(variable, evaluate):
    ((gradient, _),) = clip([(tf.zeros([2]), variable("v", [2]))], 1.0)
    np.testing.assert_array_equal(evaluate(gradient), [0.0, 0.0])


def test_the_norm_of_a_sparse_gradient_is_that_of_its_slices(variable, sparse, evaluate):
    # The slices have norm 13; the dense gradient, their sum (3, 16), would have 16.28.
    ((gradient, _),) = clip([(sparse(), variable("v"))], 6.5)
    np.testing.assert_allclose(evaluate(gradient.values), [[1.5, 2.0], [0.0, 6.0]], rtol=1e-6)


def test_the_function_takes_a_tensor(variable, evaluate):
    pairs = [(tf.constant([3.0, 4.0]), variable("a", [2]))]
    ((gradient, _),) = clip_gradients_by_norm(pairs, tf.constant(10.0) / 2.0)
    np.testing.assert_allclose(evaluate(gradient), [3.0, 4.0], rtol=1e-6)


@pytest.mark.parametrize("norm", [0.0, -1.0])
def test_a_norm_of_nothing_is_refused(norm):
    with pytest.raises(ConfigError, match=f"clip_by_norm: the norm is {norm}; it must be above 0"):
        ClipByNorm(params=ClipByNorm.Params(norm=norm))
