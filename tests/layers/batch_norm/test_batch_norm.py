import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame.deploy.clones import create_clones
from tf_frame.deploy.deployment_config import DeploymentConfig


@pytest.fixture
def inputs():
    return np.random.RandomState(0).normal(3, 2, size=[4, 5, 6, 3]).astype(np.float32)


def names(collection):
    return [variable.op.name for variable in tf.get_collection(collection)]


def run(*fetches, feed=None, updates=1):
    """Values of the fetches, after so many updates, and those of all variables."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(updates):
            session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS), feed)
        results = [session.run(fetch, feed) for fetch in fetches]
        return *results, {v.op.name: session.run(v) for v in tf.global_variables()}


def by_batch(inputs, epsilon=1e-3):
    axes = tuple(range(inputs.ndim - 1))
    return (inputs - inputs.mean(axes)) / np.sqrt(inputs.var(axes) + epsilon)


def unbiased(inputs):
    count = inputs[..., 0].size
    return inputs.var(tuple(range(inputs.ndim - 1))) * count / (count - 1)


def test_training_uses_the_batch_and_updates_the_moving_values(inputs, variable_mode):
    outputs = layers.batch_norm(tf.constant(inputs), is_training=True, decay=0.75)
    result, variables = run(outputs, updates=3)
    np.testing.assert_allclose(result, by_batch(inputs), atol=1e-4)
    kept = 0.75**3
    np.testing.assert_allclose(
        variables["BatchNorm/moving_mean"], (1 - kept) * inputs.mean((0, 1, 2)), rtol=1e-5
    )
    np.testing.assert_allclose(
        variables["BatchNorm/moving_variance"], kept + (1 - kept) * unbiased(inputs), rtol=1e-5
    )


def test_inference_uses_the_moving_values(inputs, variable_mode):
    outputs = layers.batch_norm(tf.constant(inputs), is_training=False, scale=True, epsilon=0.5)
    values = {
        "BatchNorm/gamma": np.array([1.0, 2.0, 3.0]),
        "BatchNorm/beta": np.array([0.5, 0.0, -1.0]),
        "BatchNorm/moving_mean": np.array([3.0, 2.0, 1.0]),
        "BatchNorm/moving_variance": np.array([4.0, 1.0, 2.0]),
    }
    assign = [tf.assign(v, values[v.op.name].astype(np.float32)) for v in tf.global_variables()]
    with tf.Session() as session:
        session.run(assign)
        result = session.run(outputs)
    gamma, beta, mean, variance = values.values()
    expected = gamma * (inputs - mean) / np.sqrt(variance + 0.5) + beta
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
    assert not tf.get_collection(tf.GraphKeys.UPDATE_OPS)


@pytest.mark.parametrize("options", [{}, {"fused": False}])
def test_gradients_equal_finite_differences(inputs, options):
    """A linear loss of the outputs, against central differences of NumPy's batch norm."""
    inputs = inputs[:2, :2, :2, :1].astype(np.float64)
    slope = np.random.RandomState(1).normal(size=inputs.shape)

    def loss(x):
        return np.sum(slope * by_batch(x))

    images = tf.constant(inputs.astype(np.float32))
    outputs = layers.batch_norm(images, is_training=True, scale=True, **options)
    total = tf.reduce_sum(outputs * slope.astype(np.float32))
    by_images, by_gamma, by_beta = run(tf.gradients(total, [images, *tf.trainable_variables()]))[0]
    numeric = np.zeros_like(inputs)
    for index in np.ndindex(inputs.shape):
        step = np.zeros_like(inputs)
        step[index] = 1e-5
        numeric[index] = (loss(inputs + step) - loss(inputs - step)) / 2e-5
    np.testing.assert_allclose(by_images, numeric, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(by_gamma, [loss(inputs)], rtol=1e-4)
    np.testing.assert_allclose(by_beta, [slope.sum()], rtol=1e-4)


@pytest.mark.parametrize(
    ("shape", "options", "is_unbiased"),
    [
        ([8, 3], {}, True),
        ([8, 3], {"fused": False}, False),
        ([4, 5, 3], {}, False),
        ([2, 2, 3, 2, 3], {}, True),
        ([2, 2, 3, 2, 3], {"updates_collections": None}, False),
        ([4, 5, 6, 3], {}, True),
        ([4, 5, 6, 3], {"fused": False}, False),
    ],
)
def test_every_rank_is_normalised_and_has_the_moving_variance_of_slim(shape, options, is_unbiased):
    inputs = np.random.RandomState(0).normal(3, 2, size=shape).astype(np.float32)
    outputs = layers.batch_norm(tf.constant(inputs), decay=0.5, **options)
    assert outputs.shape == shape
    result, variables = run(outputs)
    np.testing.assert_allclose(result, by_batch(inputs), atol=1e-4)
    axes = tuple(range(inputs.ndim - 1))
    variance = unbiased(inputs) if is_unbiased else inputs.var(axes)
    np.testing.assert_allclose(
        variables["BatchNorm/moving_variance"], 0.5 + 0.5 * variance, rtol=1e-5
    )
    if inputs.ndim == 4:
        turned = tf.constant(inputs.transpose(0, 3, 1, 2))
        outputs = layers.batch_norm(turned, data_format="NCHW", **options)
        assert outputs.shape == [4, 3, 5, 6]
        result, _ = run(outputs, updates=0)
        np.testing.assert_allclose(result.transpose(0, 2, 3, 1), by_batch(inputs), atol=1e-4)


def test_the_updates_run_with_the_outputs_or_go_to_the_collections(inputs, variable_mode):
    outputs = layers.batch_norm(tf.constant(inputs), decay=0.5, updates_collections=None)
    layers.batch_norm(tf.zeros([2, 2, 2, 1]), updates_collections=["one", "two"])
    assert len(tf.get_collection("one")) == len(tf.get_collection("two")) == 2
    assert not tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    _, variables = run(outputs)
    np.testing.assert_allclose(
        variables["BatchNorm/moving_mean"], 0.5 * inputs.mean((0, 1, 2)), rtol=1e-5
    )


@pytest.mark.parametrize("options", [{}, {"fused": False}, {"updates_collections": None}])
def test_a_tensor_switches_between_training_and_inference(inputs, variable_mode, options):
    training = tf.placeholder(tf.bool, [])
    images = tf.constant(inputs)
    outputs = layers.batch_norm(images, decay=0.5, is_training=training, **options)
    by_images = tf.gradients(outputs[0, 0, 0, 0], images)[0]
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    moving = [v for v in tf.global_variables() if "moving" in v.op.name]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        inferred, gradient, _ = session.run([outputs, by_images, updates], {training: False})
        assert [session.run(v).tolist() for v in moving] == [[0.0] * 3, [1.0] * 3]
        trained, _ = session.run([outputs, updates], {training: True})
        mean = session.run(moving[0])
    np.testing.assert_allclose(inferred, inputs / np.sqrt(1.001), rtol=1e-4)
    assert np.count_nonzero(gradient) == 1
    np.testing.assert_allclose(trained, by_batch(inputs), atol=1e-4)
    np.testing.assert_allclose(mean, 0.5 * inputs.mean((0, 1, 2)), rtol=1e-5)


def test_names_order_and_collections_of_variables_and_outputs(variable_mode):
    images = tf.zeros([1, 2, 2, 1])
    layers.batch_norm(
        images,
        scale=True,
        variables_collections={"beta": ["offsets"], "moving_mean": ["means"]},
        outputs_collections="ends",
        scope="core",
    )
    layers.batch_norm(images, scale=True, updates_collections=None, scope="own")
    core = [f"core/{name}" for name in ("gamma", "beta", "moving_mean", "moving_variance")]
    own = [f"own/{name}" for name in ("beta", "gamma", "moving_mean", "moving_variance")]
    assert names(tf.GraphKeys.GLOBAL_VARIABLES) == [*core, *own]
    assert names(tf.GraphKeys.MODEL_VARIABLES) == [*core, *own]
    assert names(tf.GraphKeys.TRAINABLE_VARIABLES) == [*core[:2], *own[:2]]
    assert names("offsets") == ["core/beta"]
    assert names("means") == ["core/moving_mean"]
    assert [end.aliases for end in tf.get_collection("ends")] == [["core"]]


def test_center_and_scale_can_be_left_out_and_nothing_trained():
    images = tf.zeros([1, 2, 2, 1])
    layers.batch_norm(images, center=False, scope="none")
    layers.batch_norm(images, scope="slims_default")
    assert names(tf.GraphKeys.TRAINABLE_VARIABLES) == ["slims_default/beta"]
    before = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    layers.batch_norm(images, trainable=False, scope="frozen")
    assert names(tf.GraphKeys.TRAINABLE_VARIABLES) == ["slims_default/beta"]
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == before
    layers.batch_norm(images, trainable=False, updates_collections="own", scope="not_in_core")
    assert names(tf.GraphKeys.TRAINABLE_VARIABLES) == ["slims_default/beta"]
    assert len(tf.get_collection("own")) == 2


def test_initializers_regularizers_and_activation(inputs):
    outputs = layers.batch_norm(
        tf.constant(inputs),
        scale=True,
        activation_fn=tf.nn.relu,
        param_initializers={"gamma": tf.constant_initializer(2.0)},
        param_regularizers={"gamma": layers.l2_regularizer(0.5)},
    )
    (penalty,) = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    result, penalty, _ = run(outputs, tf.convert_to_tensor(penalty))
    np.testing.assert_allclose(result, np.maximum(2 * by_batch(inputs), 0), atol=1e-3)
    np.testing.assert_allclose(penalty, 0.5 * 3 * 2**2 / 2)


def test_half_floats_keep_whole_variables(inputs):
    for options in ({}, {"fused": False}):
        outputs = layers.batch_norm(tf.constant(inputs, tf.float16), scope=None, **options)
        assert outputs.dtype == tf.float16
        result, _ = run(outputs)
        np.testing.assert_allclose(result, by_batch(inputs), atol=0.01)
    assert {v.dtype.base_dtype for v in tf.global_variables()} == {tf.float32}


def test_clones_share_the_variables_and_have_updates_of_their_own(inputs):
    create_clones(
        DeploymentConfig(2, clone_on_cpu=True), lambda: layers.batch_norm(tf.constant(inputs))
    )
    assert names(tf.GraphKeys.GLOBAL_VARIABLES) == [
        f"BatchNorm/{name}" for name in ("beta", "moving_mean", "moving_variance")
    ]
    for scope in ("clone_0/", "clone_1/"):
        assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS, scope)) == 2


def test_a_frozen_graph_of_inference_has_no_control_flow_and_the_same_values(inputs):
    images = tf.placeholder(tf.float32, [None, 5, 6, 3], name="images")
    outputs = layers.batch_norm(images, is_training=False, scale=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        expected = session.run(outputs, {images: inputs})
        frozen = tf.graph_util.convert_variables_to_constants(
            session, tf.get_default_graph().as_graph_def(), [outputs.op.name]
        )
    assert not {"If", "StatelessIf", "Switch", "VarHandleOp"} & {node.op for node in frozen.node}
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(frozen, name="")
        tensor = graph.get_tensor_by_name(outputs.name)
        np.testing.assert_array_equal(session.run(tensor, {"images:0": inputs}), expected)


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        (None, {}, "Inputs x:0 has undefined rank"),
        ([2, 2, 2, None], {}, "undefined channels dimension"),
        ([2, 2, 2, 1], {"data_format": "NHCW"}, "data_format has to be either NCHW or NHWC"),
    ],
)
def test_inputs_that_cannot_be_normalised_are_refused(shape, options, message):
    with pytest.raises(ValueError, match=message):
        layers.batch_norm(tf.placeholder(tf.float32, shape, name="x"), **options)
