import pytest
import tensorflow.compat.v1 as tf
from tf_frame_vision.nets.inception_table import build_until, smallest_size

from tf_frame.errors import ConfigError
from tf_frame_vision.nets.inception_modules import VALID, Conv, Mixed, Pool, Style

TABLE = (
    Conv("Conv2d_1a_3x3", 2, 2, VALID),
    Pool("MaxPool_2a_3x3", 2, VALID),
    Mixed("Mixed_3a", ((Conv("Conv2d_0a_3x3", 2, 1, VALID),), (Pool("MaxPool_0a_3x3", 1, VALID),))),
    Conv("Conv2d_4a_1x1", 3),
)
NAMES = ["Conv2d_1a_3x3", "MaxPool_2a_3x3", "Mixed_3a", "Conv2d_4a_1x1"]
# 3 at the Mixed module, 7 before the pooling, 15 before the convolution.
SMALLEST = [3, 7, 15, 15]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("index", range(4))
def test_a_network_ends_at_each_end_point(index):
    images = tf.zeros([1, 20, 20, 3])
    net, end_points = build_until(images, TABLE, NAMES[index], Style())
    assert list(end_points) == NAMES[: index + 1]
    assert net is end_points[NAMES[index]]
    made = {variable.op.name.partition("/")[0] for variable in tf.global_variables()}
    assert made == {name for name in NAMES[: index + 1] if not name.startswith("Max")}


def test_an_unknown_end_point_is_refused_before_anything_is_built():
    with pytest.raises(ValueError, match="Unknown final endpoint Mixed_9z; there are: Conv2d_1a"):
        build_until(tf.zeros([1, 20, 20, 3]), TABLE, "Mixed_9z", Style())
    assert not tf.global_variables()


@pytest.mark.parametrize("index", range(4))
def test_images_of_the_smallest_size_are_enough_and_smaller_ones_are_not(index):
    size = smallest_size(TABLE[: index + 1])
    assert size == SMALLEST[index]
    net, _ = build_until(tf.zeros([1, size, size + 1, 3]), TABLE, NAMES[index], Style())
    assert min(net.shape.as_list()) >= 1
    with pytest.raises(ConfigError, match=f"20 x {size - 1} pixels.* {size} x {size} at least"):
        build_until(tf.zeros([1, 20, size - 1, 3]), TABLE, NAMES[index], Style())


def test_channels_first_takes_height_and_width_from_behind():
    with pytest.raises(ConfigError, match="14 x 20 pixels"):
        build_until(tf.zeros([1, 30, 14, 20]), TABLE, "Mixed_3a", Style(data_format="NCHW"))


def test_images_of_unknown_size_are_built():
    images = tf.placeholder(tf.float32, [1, None, None, 3])
    net, _ = build_until(images, TABLE, "Conv2d_4a_1x1", Style())
    assert net.shape.as_list() == [1, None, None, 3]
