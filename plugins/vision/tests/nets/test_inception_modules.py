import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, run_initialized
from tf_frame.errors import ConfigError
from tf_frame_vision.nets.inception_modules import (
    SAME,
    VALID,
    Conv,
    Fork,
    Mixed,
    Pool,
    Style,
    build_row,
    build_until,
    size_after,
    smallest_size,
)

pytestmark = pytest.mark.usefixtures("graph")

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
TABLE = (
    Conv("Conv2d_1a_3x3", 2, 2, VALID),
    Pool("MaxPool_2a_3x3", 2, VALID),
    Mixed("Mixed_3a", ((Conv("Conv2d_0a_3x3", 2, 1, VALID),), (Pool("MaxPool_0a_3x3", 1, VALID),))),
    Conv("Conv2d_4a_1x1", 3),
)
NAMES = ["Conv2d_1a_3x3", "MaxPool_2a_3x3", "Mixed_3a", "Conv2d_4a_1x1"]
# 3 at the Mixed module, 7 before the pooling, 15 before the convolution.
SMALLEST = [3, 7, 15, 15]


@pytest.mark.parametrize("layer", LAYERS)
def test_the_size_that_a_layer_promises_is_the_one_that_it_makes(layer):
    for size in (8, 9):
        net = layer.build(tf.zeros([1, size, 10, 3]), Style())
        assert net.shape[1] == layer.size_after(size)
        tf.get_variable_scope().reuse_variables()


def test_sizes_and_kernels_are_as_the_scopes_say_or_given():
    assert size_after(2, 3, 2, VALID) < 1
    assert size_after(2, 3, 2, SAME) == 1
    # Kernels are as the scopes say or given.
    build_row(tf.zeros([1, 9, 9, 3]), (Conv("Conv2d_0a_1x7", 4), Conv("Conv2d_0b_5x5", 6)), Style())
    shapes = {v.op.name: v.shape.as_list() for v in tf.global_variables()}
    assert shapes["Conv2d_0a_1x7/weights"] == [1, 7, 3, 4]
    assert shapes["Conv2d_0b_5x5/weights"] == [5, 5, 4, 6]
    with pytest.raises(ValueError, match="'Conv' does not end with the size of a kernel"):
        Conv("Conv", 4).build(tf.zeros([1, 9, 9, 3]), Style())
    Conv("Conv2d_1a_1x1", 4, kernel=(3, 3)).build(tf.zeros([1, 9, 9, 3]), Style())
    assert tf.global_variables("Conv2d_1a_1x1/weights")[0].shape == [3, 3, 3, 4]


def test_branches_are_joined_in_their_order():
    images = np.random.RandomState(0).uniform(size=[1, 4, 4, 1]).astype("float32")
    mixed = Mixed("Mixed", ((Pool("MaxPool_0a_2x2"),), (Pool("AvgPool_0a_2x2"),)))
    largest, mean = np.moveaxis(run_initialized(mixed.build(tf.constant(images), Style())), 3, 0)
    windows = [images[0, i : i + 2, j : j + 2, 0] for i in range(4) for j in range(4)]
    np.testing.assert_allclose(largest.ravel(), [w.max() for w in windows], rtol=1e-6)
    np.testing.assert_allclose(mean.ravel(), [w.mean() for w in windows], rtol=1e-6)
    mixed = Mixed("Mixed", ((Conv("Conv2d_0a_1x1", 2),), (Pool("MaxPool_0a_3x3"),)))
    net = mixed.build(tf.zeros([1, 3, 8, 9]), Style(data_format="NCHW"))
    assert net.shape == [1, 5, 8, 9]


def test_the_style_scales_channels_and_initial_weights():
    net = tf.zeros([1, 8, 8, 16])
    style = Style(depth=lambda depth: 2 * depth, stddev=0.01)
    row = (Conv("Conv2d_0a_3x3", 16), Conv("Conv2d_0b_3x3", 16, stddev=0.5))
    assert build_row(net, row, style).shape == [1, 8, 8, 32]
    own, given = tf.trainable_variables()[0], tf.trainable_variables()[2]
    with initialized_session() as session:
        # Cut at two deviations, a normal distribution keeps 0.8796 of its deviation.
        assert session.run(own).std() == pytest.approx(0.8796 * 0.01, rel=0.05)
        assert session.run(given).std() == pytest.approx(0.8796 * 0.5, rel=0.05)


def test_sizes_of_images_are_checked_where_they_are_known():
    with pytest.raises(ValueError, match="Unknown final endpoint Mixed_9z; there are: Conv2d_1a"):
        build_until(tf.zeros([1, 20, 20, 3]), TABLE, "Mixed_9z", Style())
    assert not tf.global_variables()
    with pytest.raises(ConfigError, match="14 x 20 pixels"):
        build_until(tf.zeros([1, 30, 14, 20]), TABLE, "Mixed_3a", Style(data_format="NCHW"))
    images = tf.placeholder(tf.float32, [1, None, None, 3])
    net, _ = build_until(images, TABLE, "Conv2d_4a_1x1", Style())
    assert net.shape.as_list() == [1, None, None, 3]


@pytest.mark.parametrize("index", range(4))
def test_a_network_ends_at_each_end_point_and_refuses_images_that_are_too_small(index):
    size = smallest_size(TABLE[: index + 1])
    assert size == SMALLEST[index]
    images = tf.zeros([1, size, size + 1, 3])
    net, end_points = build_until(images, TABLE, NAMES[index], Style())
    assert min(net.shape.as_list()) >= 1
    assert list(end_points) == NAMES[: index + 1]
    assert net is end_points[NAMES[index]]
    made = {variable.op.name.partition("/")[0] for variable in tf.global_variables()}
    assert made == {name for name in NAMES[: index + 1] if not name.startswith("Max")}
    with pytest.raises(ConfigError, match=f"20 x {size - 1} pixels.* {size} x {size} at least"):
        build_until(tf.zeros([1, 20, size - 1, 3]), TABLE, NAMES[index], Style())
