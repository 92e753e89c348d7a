import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_vision.nets.inception_modules import (
    SAME,
    VALID,
    Conv,
    Fork,
    Mixed,
    Pool,
    Style,
    build_row,
    size_after,
)

LAYERS = (
    Conv("Conv2d_0a_3x3", 2, 2),
    Conv("Conv2d_0b_3x3", 2, 2, VALID),
    Conv("Conv2d_0c_1x7", 2, 1, VALID),
    Conv("Conv2d_0d_1x1", 2, 1, VALID, kernel=(3, 3)),
    Pool("MaxPool_0a_3x3", 2),
    Pool("AvgPool_0a_2x2", 2, VALID),
    Fork((Conv("Conv2d_0e_1x3", 2), Conv("Conv2d_0f_3x1", 3))),
    Mixed("Mixed_1a", ((Conv("Conv2d_0a_3x3", 2, 2, VALID),), (Pool("MaxPool_0a_3x3", 2, VALID),))),
)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("layer", LAYERS)
def test_the_size_that_a_layer_promises_is_the_one_that_it_makes(layer):
    for size in (8, 9):
        net = layer.build(tf.zeros([1, size, 10, 3]), Style())
        assert net.shape[1] == layer.size_after(size)
        tf.get_variable_scope().reuse_variables()


def test_too_small_an_input_leaves_nothing():
    assert size_after(2, 3, 2, VALID) < 1
    assert size_after(2, 3, 2, SAME) == 1


def test_kernels_are_as_the_scopes_say():
    build_row(tf.zeros([1, 9, 9, 3]), (Conv("Conv2d_0a_1x7", 4), Conv("Conv2d_0b_5x5", 6)), Style())
    shapes = {v.op.name: v.shape.as_list() for v in tf.global_variables()}
    assert shapes["Conv2d_0a_1x7/weights"] == [1, 7, 3, 4]
    assert shapes["Conv2d_0b_5x5/weights"] == [5, 5, 4, 6]


def test_a_kernel_may_be_another_than_the_scope_says():
    Conv("Conv2d_1a_1x1", 4, kernel=(3, 3)).build(tf.zeros([1, 9, 9, 3]), Style())
    assert tf.global_variables()[0].shape == [3, 3, 3, 4]


def test_a_scope_without_a_kernel_is_refused():
    with pytest.raises(ValueError, match="'Conv' does not end with the size of a kernel"):
        Conv("Conv", 4).build(tf.zeros([1, 9, 9, 3]), Style())


def test_branches_are_joined_in_their_order():
    images = np.random.RandomState(0).uniform(size=[1, 4, 4, 1]).astype("float32")
    mixed = Mixed("Mixed", ((Pool("MaxPool_0a_2x2"),), (Pool("AvgPool_0a_2x2"),)))
    with tf.Session() as session:
        largest, mean = np.moveaxis(session.run(mixed.build(tf.constant(images), Style())), 3, 0)
    windows = [images[0, i : i + 2, j : j + 2, 0] for i in range(4) for j in range(4)]
    np.testing.assert_allclose(largest.ravel(), [w.max() for w in windows], rtol=1e-6)
    np.testing.assert_allclose(mean.ravel(), [w.mean() for w in windows], rtol=1e-6)


def test_channels_first_joins_the_second_dimension():
    mixed = Mixed("Mixed", ((Conv("Conv2d_0a_1x1", 2),), (Pool("MaxPool_0a_3x3"),)))
    net = mixed.build(tf.zeros([1, 3, 8, 9]), Style(data_format="NCHW"))
    assert net.shape == [1, 5, 8, 9]


def test_the_style_scales_channels_and_initial_weights():
    net = tf.zeros([1, 8, 8, 16])
    style = Style(depth=lambda depth: 2 * depth, stddev=0.01)
    row = (Conv("Conv2d_0a_3x3", 16), Conv("Conv2d_0b_3x3", 16, stddev=0.5))
    assert build_row(net, row, style).shape == [1, 8, 8, 32]
    own, given = tf.trainable_variables()[0], tf.trainable_variables()[2]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        # Cut at two deviations, a normal distribution keeps 0.8796 of its deviation.
        assert session.run(own).std() == pytest.approx(0.8796 * 0.01, rel=0.05)
        assert session.run(given).std() == pytest.approx(0.8796 * 0.5, rel=0.05)
