import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers

RANDOM = np.random.RandomState(0)
IMAGES = RANDOM.normal(size=[2, 3, 4, 2])
VOLUME = RANDOM.normal(size=[1, 2, 3, 2, 2])


def spread(inputs, weights, stride, padding):
    """Adds every input, times the kernel, to the outputs that it reaches."""
    dims = inputs.ndim - 2
    kernel, sizes = weights.shape[:dims], inputs.shape[1:-1]
    whole = [(n - 1) * stride + max(k, stride) for n, k in zip(sizes, kernel, strict=True)]
    outputs = np.zeros([len(inputs), *whole, weights.shape[dims]])
    for index in np.ndindex(*sizes):
        taps = tuple(slice(i * stride, i * stride + k) for i, k in zip(index, kernel, strict=True))
        part = np.tensordot(inputs[(slice(None), *index)], weights, axes=([1], [dims + 1]))
        outputs[(slice(None), *taps)] += part
    if padding == "SAME":
        begins = [max(k - stride, 0) // 2 for k in kernel]
        ends = [b + n * stride for b, n in zip(begins, sizes, strict=True)]
        cut = tuple(slice(b, e) for b, e in zip(begins, ends, strict=True))
        outputs = outputs[(slice(None), *cut)]
    return outputs


@pytest.mark.parametrize(
    ("function", "inputs", "scope"),
    [
        (layers.conv2d_transpose, IMAGES, "Conv2d_transpose"),
        (layers.conv3d_transpose, VOLUME, "Conv3d_transpose"),
    ],
)
@pytest.mark.parametrize("kernel", [1, 2, 3])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_outputs_equal_numpy(evaluate, function, inputs, scope, kernel, padding):
    outputs = function(inputs, 5, kernel, stride=2, padding=padding, activation_fn=None)
    weights, biases = tf.global_variables()
    assert [weights.op.name, biases.op.name] == [f"{scope}/weights", f"{scope}/biases"]
    weights, values = evaluate(weights, outputs)
    assert weights.shape == (*[kernel] * (inputs.ndim - 2), 5, 2)
    np.testing.assert_allclose(values, spread(inputs, weights, 2, padding), atol=1e-10)
    assert outputs.shape == values.shape


def test_gradients_equal_finite_differences(evaluate, differences):
    inputs = tf.constant(IMAGES[:1])
    outputs = layers.conv2d_transpose(inputs, 1, 3, stride=2, activation_fn=None)
    weights = tf.global_variables()[0]
    gradients = tf.gradients(tf.reduce_sum(outputs**2), [inputs, weights])
    weights, by_inputs, by_weights = evaluate(weights, *gradients)

    def loss(images, weights):
        return np.sum(spread(images, weights, 2, "SAME") ** 2)

    wanted = differences(lambda value: loss(value, weights), IMAGES[:1])
    np.testing.assert_allclose(by_inputs, wanted, atol=1e-6)
    wanted = differences(lambda value: loss(IMAGES[:1], value), weights)
    np.testing.assert_allclose(by_weights, wanted, atol=1e-6)


def test_unknown_sizes_are_fine():
    images = tf.placeholder(tf.float32, [None, None, 4, 2])
    outputs = layers.conv2d_transpose(images, 5, 3, stride=[2, 2], padding="VALID")
    assert outputs.shape.as_list() == [None, None, 9, 5]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(outputs, {images: IMAGES}).shape == (2, 7, 9, 5)


def test_channels_first_are_the_same_variables_and_shapes():
    """By shape only: TensorFlow's CPU kernels know no channels first without oneDNN."""
    settings = {"stride": 2, "padding": "VALID", "scope": "layer"}
    layers.conv2d_transpose(tf.zeros([2, 3, 4, 2]), 5, 3, **settings)
    outputs = layers.conv2d_transpose(
        tf.zeros([2, 2, 3, 4]), 5, 3, data_format="NCHW", reuse=True, **settings
    )
    assert outputs.shape.as_list() == [2, 5, 7, 9]
    outputs = layers.conv3d_transpose(tf.zeros([2, 2, 3, 4, 5]), 5, 3, 2, data_format="NCDHW")
    assert outputs.shape.as_list() == [2, 5, 6, 8, 10]


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="data_format has to be either NCHW or NHWC"):
        layers.conv2d_transpose(IMAGES, 5, 3, data_format="NDHWC")
    with pytest.raises(ValueError, match="data_format has to be either NCDHW or NDHWC"):
        layers.conv3d_transpose(VOLUME, 5, 3, data_format="NHWC")
    with pytest.raises(ValueError, match="have rank 5; give them rank 4"):
        layers.conv2d_transpose(VOLUME, 5, 3)
    with pytest.raises(ValueError, match="padding is 'FULL'"):
        layers.conv2d_transpose(IMAGES, 5, 3, padding="FULL")
