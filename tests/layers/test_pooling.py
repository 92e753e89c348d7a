import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers

IMAGES = np.random.RandomState(0).normal(size=[2, 5, 6, 3]).astype(np.float32)


def run(*tensors):
    with tf.Session() as session:
        return session.run(list(tensors))


def windows(images, size, stride, padding):
    """`[rows, columns, batch, height * width, channels]`; NaN outside of the image."""
    if padding == "SAME":
        pads = [(0, 0)]
        for axis in (0, 1):
            length = images.shape[1 + axis]
            missing = max((-(-length // stride[axis]) - 1) * stride[axis] + size[axis] - length, 0)
            pads.append((missing // 2, missing - missing // 2))
        images = np.pad(images, [*pads, (0, 0)], constant_values=np.nan)
    view = np.lib.stride_tricks.sliding_window_view(images, size, axis=(1, 2))
    view = view[:, :: stride[0], :: stride[1]]
    return view.reshape(*view.shape[:4], -1)


@pytest.mark.parametrize(
    ("size", "stride", "padding"), [(2, 2, "VALID"), ([3, 2], [1, 2], "SAME"), (3, 2, "SAME")]
)
def test_pools_equal_numpy(size, stride, padding):
    average = layers.avg_pool2d(IMAGES, size, stride, padding=padding)
    maximum = layers.max_pool2d(IMAGES, size, stride, padding=padding)
    pair = [np.broadcast_to(each, 2) for each in (size, stride)]
    expected = windows(IMAGES, *pair, padding)
    average_value, maximum_value = run(average, maximum)
    np.testing.assert_allclose(average_value, np.nanmean(expected, axis=-1), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(maximum_value, np.nanmax(expected, axis=-1))


def test_the_gradient_goes_to_the_maximum_or_to_all_alike():
    images = tf.constant(np.array([[1.0, 4.0], [3.0, 2.0]]).reshape(1, 2, 2, 1))
    pooled = [pool(images, 2) for pool in (layers.max_pool2d, layers.avg_pool2d)]
    of_maximum, of_average = run(*(tf.gradients(each, images)[0] for each in pooled))
    assert of_maximum.ravel().tolist() == [0, 1, 0, 0]
    assert of_average.ravel().tolist() == [0.25] * 4


def test_three_dimensions_with_the_channels_last_or_first():
    volumes = np.random.RandomState(1).normal(size=[2, 4, 4, 4, 3]).astype(np.float32)
    blocks = volumes.reshape(2, 2, 2, 2, 2, 2, 2, 3)
    average = layers.avg_pool3d(volumes, 2)
    turned = volumes.transpose(0, 4, 1, 2, 3)
    maximum = layers.max_pool3d(turned, [2, 2, 2], 2, data_format="NCDHW")
    average, maximum = run(average, maximum)
    np.testing.assert_allclose(average, blocks.mean((2, 4, 6)), rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(maximum.transpose(0, 2, 3, 4, 1), blocks.max((2, 4, 6)))


def test_a_window_with_gaps_in_one_dimension():
    lines = np.arange(7.0, dtype=np.float32).reshape(1, 7, 1)
    pooled = layers.pool(lines, 3, "AVG", dilation_rate=2)
    assert run(pooled)[0].ravel().tolist() == [2, 3, 4]
    with pytest.raises(ValueError, match="Rank of inputs must be >= 3"):
        layers.pool(tf.zeros([2, 2]), 2, "MAX")


def test_names_collections_and_default_arguments():
    with layers.arg_scope([layers.max_pool2d], padding="SAME", outputs_collections="ends"):
        layers.max_pool2d(IMAGES, 2)
        named = layers.max_pool2d(IMAGES, 2, scope="Pool")
    assert named.op.name == "Pool/MaxPool"
    assert [end.aliases for end in tf.get_collection("ends")] == [["MaxPool2D"], ["Pool"]]
    assert named.shape == [2, 3, 3, 3]
    assert layers.avg_pool2d(IMAGES, 2).op.name == "AvgPool2D/AvgPool"


def test_the_channels_of_images_may_come_first_but_no_other_format_is_taken():
    # TensorFlow has no such kernel for CPUs.
    images = tf.zeros([2, 3, 5, 6])
    for pool in (layers.avg_pool2d, layers.max_pool2d):
        assert pool(images, 2, data_format="NCHW").shape == [2, 3, 2, 3]
        with pytest.raises(ValueError, match="data_format has to be either NCHW or NHWC"):
            pool(IMAGES, 2, data_format="NHCW")
    for pool in (layers.avg_pool3d, layers.max_pool3d):
        with pytest.raises(ValueError, match="data_format has to be either NCDHW or NDHWC"):
            pool(IMAGES[None], 2, data_format="NHWC")


def test_global_average_pool_equals_numpy():
    images = tf.placeholder(tf.float32, [None, None, None, 3])
    pooled = layers.global_average_pool(images)
    flat = layers.global_average_pool(images, keep_dims=False)
    first = layers.global_average_pool(
        tf.transpose(images, [0, 3, 1, 2]), keep_dims=False, data_format="NCHW"
    )
    with tf.Session() as session:
        pooled, flat, first = session.run([pooled, flat, first], {images: IMAGES})
    assert pooled.shape == (2, 1, 1, 3)
    np.testing.assert_allclose(flat, IMAGES.mean(axis=(1, 2)), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(pooled[:, 0, 0], flat)
    np.testing.assert_allclose(first, flat, rtol=1e-5, atol=1e-6)
