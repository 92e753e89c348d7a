import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, run_initialized
from tf_frame import layers
from tf_frame.errors import ConfigError
from tf_frame_vision.nets import inception, inception_utils

pytestmark = pytest.mark.usefixtures("graph")

ARG_SCOPES = [inception.inception_v3_arg_scope, inception.inception_resnet_v2_arg_scope]


def conv_and_dense(scope, **options):
    with layers.arg_scope(scope(**options)):
        net = layers.conv2d(tf.ones([2, 3, 3, 2]), 4, 3, scope="conv")
        layers.fully_connected(layers.flatten(net), 5, scope="dense")
    return net


def names():
    return [variable.op.name for variable in tf.global_variables()]


@pytest.mark.parametrize("scope", ARG_SCOPES)
def test_convolutions_are_normalised_without_gamma(scope):
    net = conv_and_dense(scope)
    norm = [f"conv/BatchNorm/{part}" for part in ("beta", "moving_mean", "moving_variance")]
    assert names() == ["conv/weights", *norm, "dense/weights", "dense/biases"]
    assert net.op.type == "Relu"


def test_batch_norm_has_published_values_or_is_left_out():
    for scope in ARG_SCOPES:
        of_conv = scope()[layers.arg_scope_func_key(layers.conv2d)]["normalizer_params"]
        assert (of_conv["decay"], of_conv["epsilon"]) == (0.9997, 0.001)
    conv_and_dense(inception_utils.inception_arg_scope, use_batch_norm=False)
    assert names() == ["conv/weights", "conv/biases", "dense/weights", "dense/biases"]


@pytest.mark.parametrize("scope", ARG_SCOPES)
def test_batch_norm_is_as_asked_for(scope):
    net = conv_and_dense(
        scope,
        batch_norm_decay=0.75,
        batch_norm_epsilon=0.5,
        batch_norm_scale=True,
        batch_norm_updates_collections="mine",
        activation_fn=tf.nn.tanh,
    )
    assert "conv/BatchNorm/gamma" in names()
    assert net.op.type == "Tanh"
    updates = tf.get_collection("mine")
    assert len(updates) == 2 and not tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    variance = tf.global_variables("conv/BatchNorm/moving_variance")[0]
    with initialized_session() as session:
        conv = session.graph.get_tensor_by_name(net.op.inputs[0].op.inputs[0].name)
        convolved, normalised = session.run([conv, net])
        session.run(updates)
        # The moving variance starts from 1 and takes the unbiased one of 18 positions.
        of_batch = convolved.var(axis=(0, 1, 2))
        expected = 0.75 + 0.25 * of_batch * 18 / 17
        np.testing.assert_allclose(session.run(variance), expected, rtol=1e-5)
    mean = convolved.mean(axis=(0, 1, 2))
    expected = np.tanh((convolved - mean) / np.sqrt(of_batch + 0.5))
    np.testing.assert_allclose(normalised, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("scope", "with_biases"), [(ARG_SCOPES[0], False), (ARG_SCOPES[1], True)])
def test_the_penalty_is_half_the_sum_of_squares_times_weight_decay(scope, with_biases):
    conv_and_dense(scope, weight_decay=0.5)
    penalties = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    ends = ("weights", "biases") if with_biases else ("weights",)
    punished = [v for v in tf.global_variables() if v.op.name.endswith(ends)]
    assert len(penalties) == len(punished) == 2 + with_biases
    with tf.Session() as session:
        session.run([v.assign(tf.ones(v.shape)) for v in punished])
        expected = [0.5 * np.prod(v.shape.as_list()) / 2 for v in punished]
        np.testing.assert_allclose(session.run(penalties), expected, rtol=1e-6)


def test_initial_weights_of_inception_have_the_variance_of_their_inputs():
    """Factor 2 over the number of inputs: https://arxiv.org/abs/1502.01852, equation 10."""
    with layers.arg_scope(inception_utils.inception_arg_scope()):
        layers.conv2d(tf.zeros([1, 3, 3, 64]), 64, 3, scope="conv")
    weights = tf.trainable_variables()[0]
    assert run_initialized(weights).std() == pytest.approx(np.sqrt(2 / (9 * 64)), rel=0.03)


def test_channels_kernels_and_logits_fit_the_map():
    depth = inception_utils.depth_function(0.3, 16)
    assert [depth(64), depth(192), depth(48)] == [19, 57, 16]
    with pytest.raises(ValueError, match=r"^depth_multiplier is not greater than zero\.$"):
        inception_utils.depth_function(0, 16)
    assert inception_utils.kernel_within(tf.zeros([1, 3, 9, 2]), [8, 8]) == [3, 8]
    unknown = tf.placeholder(tf.float32, [1, None, 3, 2])
    assert inception_utils.kernel_within(unknown, [8, 8]) == [8, 8]
    # Logits and auxiliary logits need maps that fit.
    net = tf.zeros([2, 2, 3, 4])
    assert inception_utils.conv_logits(net, 5, False, scope="logits").shape == [2, 2, 3, 5]
    with pytest.raises(ConfigError, match="map of 2 x 3 .*spatial_squeeze=False"):
        inception_utils.conv_logits(net, 5, True, scope="squeezed")
    # Dense auxiliary logits need a map of known size.
    with pytest.raises(ConfigError, match="known height and width.*create_aux_logits=False"):
        inception_utils.dense_aux_logits(
            tf.placeholder(tf.float32, [2, None, 17, 4]),
            5,
            pool_scope="pool",
            conv_scope="conv",
            logits_scope="out",
        )


@pytest.mark.parametrize("shape", [[1, 3, 4, 2], [1, None, None, 2]])
def test_the_whole_map_is_averaged(shape):
    values = np.random.RandomState(0).uniform(size=[1, 3, 4, 2])
    images = tf.placeholder(tf.float32, shape)
    pooled = inception_utils.pool_whole_map(images, "AvgPool")
    assert pooled.shape.as_list() == [1, 1, 1, 2]
    with tf.Session() as session:
        found = session.run(pooled, {images: values})
    np.testing.assert_allclose(found[0, 0, 0], values.mean(axis=(0, 1, 2)), rtol=1e-6)


@pytest.mark.parametrize(("size", "window", "kernel"), [(3, 3, 1), (17, 5, 5)])
def test_dense_auxiliary_logits_cut_their_window_to_the_map(size, window, kernel):
    logits = inception_utils.dense_aux_logits(
        tf.zeros([2, size, size, 4]), 5, pool_scope="pool", conv_scope="conv", logits_scope="out"
    )
    assert logits.shape == [2, 5]
    pool = tf.get_default_graph().get_operation_by_name("pool/AvgPool")
    assert pool.get_attr("ksize") == [1, window, window, 1]
    assert tf.global_variables("conv/weights")[0].shape == [kernel, kernel, 128, 768]
    assert tf.global_variables("out/weights")[0].shape == [768, 5]
