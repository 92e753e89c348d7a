import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, run_initialized
from tf_frame import layers
from tf_frame_vision.nets import resnet_utils, resnet_v1

pytestmark = pytest.mark.usefixtures("graph")

BLOCKS = [
    resnet_v1.resnet_v1_block("block1", base_depth=1, num_units=2, stride=2),
    resnet_v1.resnet_v1_block("block2", base_depth=2, num_units=2, stride=2),
    resnet_v1.resnet_v1_block("block3", base_depth=4, num_units=1, stride=1),
]


@pytest.mark.parametrize("size", [3, 4])
def test_subsample_takes_every_other_pixel(size):
    image = np.arange(size**2, dtype=np.float32).reshape(1, size, size, 1)
    np.testing.assert_array_equal(
        run_initialized(resnet_utils.subsample(image, 2)), image[:, ::2, ::2]
    )
    assert resnet_utils.subsample(image, 1) is image


@pytest.mark.parametrize("size", [4, 5])
def test_conv2d_same_is_a_convolution_that_is_subsampled(size):
    """On even sizes the convolution with a stride of its own begins a pixel later."""
    image = tf.random.stateless_normal([1, size, size, 2], seed=[1, 2])
    plain = layers.conv2d(image, 3, 3, scope="Conv")
    with tf.variable_scope("", reuse=True):
        same = resnet_utils.conv2d_same(image, 3, 3, stride=2, scope="Conv")
        without_stride = resnet_utils.conv2d_same(image, 3, 3, stride=1, scope="Conv")
        other = layers.conv2d(image, 3, 3, stride=2, scope="Conv")
    plain, same, without_stride, other = run_initialized([plain, same, without_stride, other])
    np.testing.assert_allclose(same, plain[:, ::2, ::2], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(without_stride, plain)
    assert np.allclose(other, same, atol=1e-6) == (size == 5)


def stacked(image, **arguments):
    with (
        layers.arg_scope(resnet_utils.resnet_arg_scope()),
        layers.arg_scope([layers.batch_norm], is_training=False),
        tf.variable_scope("", reuse=tf.AUTO_REUSE),
    ):
        return resnet_utils.stack_blocks_dense(image, BLOCKS, **arguments)


@pytest.mark.slow
def test_dilated_features_are_the_strided_ones_and_those_between():
    image = tf.random.stateless_normal([1, 14, 15, 3], seed=[1, 2])
    strided = stacked(image)
    dilated = [stacked(image, output_stride=stride) for stride in (1, 2, 4)]
    expected, *found = run_initialized([strided, *dilated])
    assert expected.shape == (1, 4, 4, 16)
    assert [features.shape[1:3] for features in found] == [(14, 15), (7, 8), (4, 4)]
    for features, factor in zip(found, (4, 2, 1), strict=True):
        np.testing.assert_allclose(features[:, ::factor, ::factor], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_blocks_are_collected_before_their_stride_and_the_root_has_four():
    image = tf.random.stateless_normal([1, 14, 15, 3], seed=[1, 2])
    ends = []
    for store in (False, True):
        name = f"ends_{store}"
        net = stacked(image, store_non_strided_activations=store, outputs_collections=name)
        ends.append([net, *tf.get_collection(name)])
    strided, whole = run_initialized(ends)
    assert [each.shape[1:3] for each in whole] == [(4, 4), (14, 15), (7, 8), (4, 4)]
    for found, expected, factor in zip(whole, strided, (1, 2, 2, 1), strict=True):
        np.testing.assert_allclose(found[:, ::factor, ::factor], expected, rtol=1e-4, atol=1e-5)
    assert [resnet_utils.stride_after_root(stride) for stride in (None, 4, 16)] == [None, 1, 4]
    with pytest.raises(ValueError, match=r"needs to be a multiple of 4. It is 6"):
        resnet_utils.stride_after_root(6)


@pytest.mark.slow
@pytest.mark.parametrize("stride", [3, 8])
def test_a_stride_that_the_blocks_do_not_have_is_refused(stride):
    match = f"The target output_stride cannot be reached.*asked for {stride}.*give 4"
    with pytest.raises(ValueError, match=match):
        stacked(tf.zeros([1, 16, 16, 3]), output_stride=stride)


def test_the_arg_scope_sets_batch_norm_penalty_and_initial_values():
    scope = resnet_utils.resnet_arg_scope(weight_decay=0.5, batch_norm_decay=0.75)
    image = tf.random.stateless_normal([4, 8, 8, 256], seed=[1, 2])
    with layers.arg_scope(scope):
        layers.conv2d(image, 64, 1, scope="Conv")
    weights, _, _, mean, _ = variables = tf.global_variables()
    assert [variable.op.name for variable in variables] == [
        "Conv/weights",
        "Conv/BatchNorm/gamma",
        "Conv/BatchNorm/beta",
        "Conv/BatchNorm/moving_mean",
        "Conv/BatchNorm/moving_variance",
    ]
    (penalty,) = tf.losses.get_regularization_losses()
    means = tf.reduce_mean(image, [0, 1, 2])
    with initialized_session() as session:
        values, paid, image_means = session.run([weights, penalty, means])
        session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        moved = session.run(mean)
    # He's initial values: a deviation of sqrt(2 / fan_in), cut and corrected for the cut.
    assert values.std() == pytest.approx(np.sqrt(2 / 256), rel=0.02)
    assert paid == pytest.approx(0.5 * (values**2).sum() / 2, rel=1e-4)
    np.testing.assert_allclose(moved, 0.25 * (image_means @ values[0, 0]), atol=1e-5)
    with layers.arg_scope(resnet_utils.resnet_arg_scope(use_batch_norm=False)):
        layers.conv2d(tf.zeros([1, 4, 4, 2]), 3, 1, scope="Plain")
    assert [v.op.name for v in tf.global_variables("Plain")] == ["Plain/weights", "Plain/biases"]
