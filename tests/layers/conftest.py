"""Convolutions in NumPy, to compare with."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import channels_first


@pytest.fixture(autouse=True)
def graph():
    """A graph of its own for each test, with a seed."""
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        yield


def _padded_as_same(inputs, reaches, strides):
    """Pads as TensorFlow's SAME does: the odd pixel goes to the end."""
    pads = [(0, 0)]
    for size, reach, stride in zip(inputs.shape[1:-1], reaches, strides, strict=True):
        missing = max((-(-size // stride) - 1) * stride + reach - size, 0)
        pads.append((missing // 2, missing - missing // 2))
    return np.pad(inputs, [*pads, (0, 0)])


def _each(value, dims):
    return [value] * dims if isinstance(value, int) else list(value)


def _convolved(inputs, weights, *, stride=1, rate=1, padding="SAME"):
    """Convolves `[b, *sizes, c]` with `[*kernel, c, f]`, output by output."""
    dims = inputs.ndim - 2
    strides, rates = _each(stride, dims), _each(rate, dims)
    reaches = [(k - 1) * r + 1 for k, r in zip(weights.shape, rates, strict=False)]
    if padding == "SAME":
        inputs = _padded_as_same(inputs, reaches, strides)
    sizes = inputs.shape[1:-1]
    starts = [range(0, s - r + 1, t) for s, r, t in zip(sizes, reaches, strides, strict=True)]
    outputs = np.zeros([len(inputs), *map(len, starts), weights.shape[-1]])
    for index in np.ndindex(*outputs.shape[1:-1]):
        corner = [start[i] for start, i in zip(starts, index, strict=True)]
        taps = tuple(slice(c, c + r, t) for c, r, t in zip(corner, reaches, rates, strict=True))
        outputs[(slice(None), *index)] = np.tensordot(
            inputs[(slice(None), *taps)], weights, axes=dims + 1
        )
    return outputs


@pytest.fixture
def convolved():
    """The function that convolves in NumPy."""
    return _convolved


@pytest.fixture
def as_full():
    """Turns depthwise weights `[h, w, c, m]` into the block-diagonal `[h, w, c, c * m]`."""

    def full_of(depthwise):
        height, width, channels, multiplier = depthwise.shape
        full = np.zeros([height, width, channels, channels * multiplier], depthwise.dtype)
        for channel in range(channels):
            part = slice(channel * multiplier, (channel + 1) * multiplier)
            full[:, :, channel, part] = depthwise[:, :, channel]
        return full

    return full_of


@pytest.fixture
def evaluate():
    """Initialises all variables of the graph and runs tensors."""

    def run(*tensors):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return session.run(list(tensors))

    return run


@pytest.fixture
def evaluate_channels_first(evaluate):
    """Runs tensors whose channels come first, which a CPU only can with oneDNN."""

    def run(*tensors):
        with channels_first():
            return evaluate(*tensors)

    return run


@pytest.fixture
def differences():
    """Gradient of a function of one array by central differences."""

    def gradient(function, array, step=1e-5):
        result = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            move = np.zeros_like(array)
            move[index] = step
            result[index] = (function(array + move) - function(array - move)) / (2 * step)
        return result

    return gradient
