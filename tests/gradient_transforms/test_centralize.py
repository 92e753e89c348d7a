import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.gradient_transforms.centralize import Centralize

pytestmark = pytest.mark.usefixtures("graph")
centralize = Centralize(params=Centralize.Params())


@pytest.mark.parametrize("shape", [(4, 3), (3, 3, 2, 5)])
def test_the_mean_over_all_axes_but_the_last_is_subtracted(shape, variable, evaluate):
    gradient = np.random.RandomState(0).randn(*shape).astype(np.float32) + 1.0
    ((centred, _),) = centralize([(tf.constant(gradient), variable("weights", shape))])
    columns = gradient.reshape(-1, shape[-1])
    expected = (columns - columns.mean(axis=0)).reshape(shape)
    np.testing.assert_allclose(evaluate(centred), expected, atol=1e-6)


def test_a_gradient_of_unknown_shape_is_centred_by_the_shape_of_its_variable(variable, evaluate):
    gradient = tf.placeholder_with_default([[1.0, 2.0], [3.0, 6.0]], None)
    ((centred, _),) = centralize([(gradient, variable("weights", [2, 2]))])
    np.testing.assert_array_equal(evaluate(centred), [[-1.0, -2.0], [1.0, 2.0]])


def test_vectors_scalars_sparse_gradients_and_variables_of_unknown_rank_pass(variable, sparse):
    value = tf.placeholder_with_default([[1.0]], None)
    pairs = [
        (tf.ones([4]), variable("biases", [4])),
        (tf.ones([]), variable("scale", [])),
        (sparse(), variable("embedding")),
        (value, tf.Variable(value, validate_shape=False)),
    ]
    assert centralize(pairs) == pairs
