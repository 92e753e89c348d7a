"""MobileNet, version 3, held against Keras's, which came from slim's published checkpoints."""

import itertools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import compute
from tf_frame import layers
from tf_frame_vision.nets import mobilenet_v3
from tf_frame_vision.nets.conv_blocks import expanded_conv

# keras.applications with 1000 classes; moving means and variances included.
KERAS_COUNTS = {"small": 2_554_968, "large": 5_507_432}


def count(variables):
    return sum(v.shape.num_elements() for v in variables)


def names_of_layers(blocks, excited):
    """slim's names of the layers, in order."""
    names = ["Conv"]
    for index in range(blocks):
        block = f"expanded_conv_{index}" if index else "expanded_conv"
        names += [f"{block}/expand"] * bool(index) + [f"{block}/depthwise"]
        if index in excited:
            names += [f"{block}/squeeze_excite/Conv", f"{block}/squeeze_excite/Conv_1"]
        names.append(f"{block}/project")
    return [*names, "Conv_1", "Conv_2", "Logits/Conv2d_1c_1x1"]


def group_by_layer(variables):
    names = [v.op.name.split("/", 1)[1].rpartition("/")[0] for v in variables]
    return [name for name, _ in itertools.groupby(n.removesuffix("/BatchNorm") for n in names)]


@pytest.mark.slow
@pytest.mark.parametrize("num_clones", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_small_clones_have_slims_variables_and_end_points(build_clones, num_clones):
    def network():
        with layers.arg_scope(mobilenet_v3.training_scope()):
            outputs = mobilenet_v3.small(tf.zeros([2, 224, 224, 3]), 1000)
        return outputs[0], outputs

    graph, clones = build_clones(network, num_clones)
    variables = graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)
    assert group_by_layer(variables) == names_of_layers(11, {0, *range(3, 11)})
    names = [v.op.name for v in variables]
    assert "MobilenetV3/expanded_conv_3/squeeze_excite/Conv/weights" in names
    assert "MobilenetV3/expanded_conv_3/squeeze_excite/Conv_1/biases" in names
    assert "MobilenetV3/expanded_conv/depthwise/depthwise_weights" in names
    assert "MobilenetV3/Conv_2/biases" in names
    assert "MobilenetV3/Conv_2/BatchNorm/beta" not in names
    norms = {n.rpartition("/")[2] for n in names if n.startswith("MobilenetV3/Conv/BatchNorm/")}
    assert norms == {"beta", "gamma", "moving_mean", "moving_variance"}
    assert count(variables) == KERAS_COUNTS["small"]
    # End points have their names and shapes.
    for logits, end_points in clones:
        shapes = {name: tensor.shape.as_list() for name, tensor in end_points.items()}
        assert shapes["layer_1"] == [2, 112, 112, 16]
        assert shapes["layer_2/depthwise_output"] == [2, 56, 56, 16]
        assert shapes["layer_10/expansion_output"] == [2, 14, 14, 288]
        assert shapes["layer_12"] == [2, 7, 7, 96]
        assert shapes["layer_13"] == [2, 7, 7, 576]
        assert shapes["layer_14"] == [2, 1, 1, 576]
        assert shapes["layer_15"] == [2, 1, 1, 1024]
        assert shapes["Predictions"] == shapes["Logits"] == [2, 1000]
        assert end_points["Logits"] is logits


@pytest.mark.slow
def test_large_network_has_slims_names_and_the_number_of_parameters_of_keras():
    """The paper says 5.4 million; trained ones are 5.48, of which batch norm has 0.02."""
    with tf.Graph().as_default():
        mobilenet_v3.large(tf.zeros([1, 224, 224, 3]), 1000)
        variables = tf.global_variables()
    assert group_by_layer(variables) == names_of_layers(15, {3, 4, 5, *range(10, 15)})
    assert count(variables) == KERAS_COUNTS["large"]


def keras_model(size, minimalistic):
    applications = tf.keras.applications
    make = applications.MobileNetV3Small if size == "small" else applications.MobileNetV3Large
    return make(
        input_shape=(64, 64, 3),
        weights=None,
        minimalistic=minimalistic,
        include_preprocessing=False,
        classifier_activation=None,
    )


def random_values(model):
    """New weights for a Keras model; by layer, in the order of the model."""
    random = np.random.RandomState(0)
    by_layer = []
    for layer in model.layers:
        values = []
        for variable in layer.weights:
            shape, name = variable.shape, variable.path.rpartition("/")[2]
            fan = np.prod(shape[:3]) if "depthwise" not in layer.name else 9
            low, high = (0.7, 1.4) if name in ("gamma", "moving_variance") else (-0.3, 0.3)
            spread = np.sqrt(3 / fan) if len(shape) == 4 else None
            value = random.uniform(*((-spread, spread) if spread else (low, high)), shape)
            values.append(value.astype(np.float32))
        if values:
            layer.set_weights(values)
            by_layer.append((layer, values))
    return by_layer


def assignments(by_layer):
    """Gives our variables the values of Keras's layers, which come in the same order."""
    ours = [v.op.name for v in tf.global_variables()]
    groups = [list(group) for _, group in itertools.groupby(ours, lambda n: n.rpartition("/")[0])]
    variables = {v.op.name: v for v in tf.global_variables()}
    order = {"weights": 0, "depthwise_weights": 0, "biases": 1, "gamma": 0, "beta": 1}
    order |= {"moving_mean": 2, "moving_variance": 3}
    for group, (_, values) in zip(groups, by_layer, strict=True):
        group.sort(key=lambda name: order[name.rpartition("/")[2]])
        for name, value in zip(group, values, strict=True):
            yield variables[name].assign(value)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("name", ["small", "large", "small_minimalistic", "large_minimalistic"])
def test_logits_are_those_of_keras_for_equal_weights(name):
    size, _, minimalistic = name.partition("_")
    model = keras_model(size, bool(minimalistic))
    by_layer = random_values(model)
    images = np.random.RandomState(1).uniform(-1, 1, [2, 64, 64, 3]).astype(np.float32)
    expected = model(images, training=False).numpy()
    with tf.Graph().as_default(), tf.Session() as session:
        logits, _ = getattr(mobilenet_v3, name)(tf.constant(images), 1000)
        session.run(list(assignments(by_layer)))
        found = session.run(logits)
    assert expected.std() > 0.01
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())


def test_activation_multiplier_and_minimalistic_networks_are_the_papers():
    values = np.array([-4, -3, -1.5, 0, 1, 3, 5], np.float32)
    found = compute(mobilenet_v3.hard_swish, values)
    np.testing.assert_allclose(found, [0, 0, -0.375, 0, 2 / 3, 3, 5], atol=1e-6)
    # The multiplier spares the last layer where asked to.
    with tf.Graph().as_default():
        assert ends(depth_multiplier=0.5)[0].shape.as_list() == [1, 1, 1, 640]
        net, _ = ends(depth_multiplier=0.5, finegrain_classification_mode=True, scope="fine")
        assert net.shape.as_list() == [1, 1, 1, 1280]
        with pytest.raises(ValueError, match='use "depth_multiplier" instead'):
            ends(multiplier=0.5)
    for layout in (mobilenet_v3.V3_SMALL_MINIMALISTIC, mobilenet_v3.V3_LARGE_MINIMALISTIC):
        blocks = [op for op in layout["spec"] if op.op is expanded_conv]
        assert {block.params["kernel_size"] for block in blocks} == {(3, 3)}
        assert {block.params["inner_activation_fn"] for block in blocks} == {tf.nn.relu}
        assert {block.params["expansion_transform"] for block in blocks} == {None}


def ends(**options):
    """First block of the large network, pooling and last layer."""
    spec = mobilenet_v3.V3_LARGE["spec"]
    layout = {**mobilenet_v3.V3_LARGE, "spec": [*spec[:2], *spec[-2:]]}
    return mobilenet_v3.mobilenet_base(tf.zeros([1, 16, 16, 3]), conv_defs=layout, **options)


@pytest.mark.slow
def test_dilation_takes_the_place_of_strides():
    with tf.Graph().as_default():
        net, _ = mobilenet_v3.small(
            tf.zeros([1, 64, 64, 3]),
            depth_multiplier=0.25,
            output_stride=8,
            use_explicit_padding=True,
            final_endpoint="layer_11",
            base_only=True,
        )
        assert net.shape.as_list()[1:3] == [8, 8]
        rates = {
            int(tf.get_static_value(op.inputs[1])[0])
            for op in tf.get_default_graph().get_operations()
            if op.type == "SpaceToBatchND"
        }
        assert rates == {2, 4}


@pytest.mark.slow
@pytest.mark.usefixtures("graph")
def test_edge_tpu_has_the_figures_that_slim_published():
    """slim's file has a profile of the network: weights and multiplications of each convolution."""
    logits, end_points = mobilenet_v3.edge_tpu(tf.zeros([1, 224, 224, 3]))
    assert logits.shape == [1, 1001]
    assert end_points["layer_24"].shape == [1, 7, 7, 1280]
    assert end_points["layer_24"].name.startswith("MobilenetEdgeTPU/")
    weights = {v.op.name: v for v in tf.global_variables() if v.op.name.endswith("weights")}
    assert count(weights.values()) / 1e6 == pytest.approx(4.05, abs=0.005)
    convolutions = [op for op in tf.get_default_graph().get_operations() if "Conv2d" in op.type]
    convolutions += [op for op in tf.get_default_graph().get_operations() if op.type == "Conv2D"]
    products = 0
    for convolution in convolutions:
        outputs = convolution.outputs[0].shape.as_list()[1:]
        rows, columns, inputs, _ = convolution.inputs[1].shape.as_list()
        inputs = 1 if convolution.type.startswith("Depthwise") else inputs
        products += np.prod(outputs) * rows * columns * inputs
    assert products / 1e6 == pytest.approx(990.7, abs=0.05)
    block = "MobilenetEdgeTPU/expanded_conv_1"
    assert weights[f"{block}/expand/weights"].shape == [3, 3, 16, 128]
    assert f"{block}/depthwise/depthwise_weights" not in weights


@pytest.mark.slow
@pytest.mark.usefixtures("graph")
def test_group_norm_and_the_name_of_the_mean():
    images = tf.zeros([1, 64, 64, 3])
    options = {"depth_multiplier": 0.5, "finegrain_classification_mode": True}
    mobilenet_v3.small(images, use_groupnorm=True, use_reduce_mean_for_pooling=True, **options)
    names = [op.name for op in tf.get_default_graph().get_operations()]
    assert "MobilenetV3/Logits/ReduceMean" in names
    norms = {name.split("/")[-2] for name in names if name.endswith(("/gamma", "/beta"))}
    assert norms == {"GroupNorm"}


@pytest.mark.slow
def test_networks_for_detection_halve_the_last_outputs():
    for conv_defs, number in (
        (mobilenet_v3.V3_LARGE_DETECTION, 13),
        (mobilenet_v3.V3_SMALL_DETECTION, 9),
    ):
        with tf.Graph().as_default():
            _, end_points = mobilenet_v3.mobilenet_base(
                tf.zeros([1, 64, 64, 3]), conv_defs=conv_defs
            )
        full = {13: (112, 672, 80, 480), 9: (48, 288, 48, 288)}[number]
        before, between, after, last = full
        assert end_points[f"layer_{number}"].shape[-1] == before
        assert end_points[f"layer_{number + 1}/expansion_output"].shape[-1] == between
        assert [end_points[f"layer_{number + k}"].shape[-1] for k in (1, 3, 4)] == [
            after,
            after,
            last,
        ]
