"""ResNet, version 2."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import layers
from tf_frame_vision.nets import resnet_v2

# All parameters, moving values too, with 1000 classes: https://keras.io/api/applications
# (ResNet50V2 25.6M ...), in full what `keras.applications.ResNet50V2().count_params()` says.
PUBLISHED_PARAMETERS = {50: 25_613_800, 101: 44_675_560, 152: 60_380_648}
# Slim's checkpoints have a class 0 for the background: 2048 more weights and a bias.
BACKGROUND = 2049
SMALL = [
    resnet_v2.resnet_v2_block(f"block{index}", base_depth=depth, num_units=units, stride=stride)
    for index, depth, units, stride in [(1, 1, 2, 2), (2, 2, 1, 2), (3, 4, 1, 2), (4, 8, 1, 1)]
]


def small(images, num_classes=None, **arguments):
    with layers.arg_scope(resnet_v2.resnet_arg_scope()):
        return resnet_v2.resnet_v2(images, SMALL, num_classes, scope="small", **arguments)


def images(size=None, batch=2):
    return tf.placeholder(tf.float32, [batch, size, size, 3])


@pytest.fixture(scope="module")
def network():
    with tf.Graph().as_default() as graph, layers.arg_scope(resnet_v2.resnet_arg_scope()):
        logits, end_points = resnet_v2.resnet_v2_50(images(224), 1001)
    return graph, logits, end_points


@pytest.fixture
def blocks_of(monkeypatch):
    """Returns the blocks that a function hands to `resnet_v2`."""

    def blocks(num_layers):
        seen = []
        monkeypatch.setattr(resnet_v2, "resnet_v2", lambda _, blocks, *a, **k: seen.extend(blocks))
        getattr(resnet_v2, f"resnet_v2_{num_layers}")(None)
        return seen

    return blocks


def test_variables_are_slims(network, slim_variables, variables_in, count_parameters):
    graph, *_ = network
    assert variables_in(graph) == slim_variables("resnet_v2_50")
    assert count_parameters(variables_in(graph)) == PUBLISHED_PARAMETERS[50] + BACKGROUND


@pytest.mark.parametrize("num_layers", [50, 101, 152, 200])
def test_units_of_each_block_are_slims(num_layers, blocks_of, slim_variables, count_parameters):
    """What one unit is made of is the same for all; see the variables of 50 layers."""
    table = dict(slim_variables(f"resnet_v2_{num_layers}"))
    conv3 = {
        f"resnet_v2_{num_layers}/{block.scope}/unit_{index}/bottleneck_v2/conv3/weights": [
            1,
            1,
            unit["depth_bottleneck"],
            unit["depth"],
        ]
        for block in blocks_of(num_layers)
        for index, unit in enumerate(block.args, start=1)
    }
    assert conv3 == {name: shape for name, shape in table.items() if "conv3/weights" in name}
    assert len(conv3) == (num_layers - 2) // 3
    if num_layers in PUBLISHED_PARAMETERS:
        expected = PUBLISHED_PARAMETERS[num_layers] + BACKGROUND
        assert count_parameters(table.items()) == expected


def test_last_units_but_those_of_the_last_block_have_a_stride(blocks_of):
    strides = [[unit["stride"] for unit in block.args] for block in blocks_of(50)]
    assert strides == [[1, 1, 2], [1, 1, 1, 2], [1, 1, 1, 1, 1, 2], [1, 1, 1]]


def test_functions_have_slims_names():
    for num_layers in (50, 101, 152, 200):
        function = getattr(resnet_v2, f"resnet_v2_{num_layers}")
        assert function.__name__ == f"resnet_v2_{num_layers}"
        assert function.default_image_size == resnet_v2.resnet_v2.default_image_size == 224


def test_end_points(network):
    _, logits, end_points = network
    scope = "resnet_v2_50"
    expected = {f"{scope}/conv1"}
    for block, units in enumerate((3, 4, 6, 3), start=1):
        for unit in range(1, units + 1):
            name = f"{scope}/block{block}/unit_{unit}/bottleneck_v2"
            expected |= {name, *(f"{name}/conv{index}" for index in (1, 2, 3))}
        expected |= {f"{scope}/block{block}/unit_1/bottleneck_v2/shortcut"}
    shapes = {
        f"{scope}/block1": [2, 28, 28, 256],
        f"{scope}/block2": [2, 14, 14, 512],
        f"{scope}/block3": [2, 7, 7, 1024],
        f"{scope}/block4": [2, 7, 7, 2048],
        "global_pool": [2, 1, 1, 2048],
        f"{scope}/logits": [2, 1, 1, 1001],
        f"{scope}/spatial_squeeze": [2, 1001],
        "predictions": [2, 1001],
    }
    assert set(end_points) == expected | set(shapes)
    assert {name: end_points[name].shape.as_list() for name in shapes} == shapes
    assert logits is end_points[f"{scope}/spatial_squeeze"]


def test_units_normalise_before_and_not_after(network):
    """Convolutions with a plain output have biases; conv1 and conv2 have a batch norm."""
    graph, _, end_points = network
    unit = "resnet_v2_50/block1/unit_2/bottleneck_v2"
    assert end_points[unit].op.type == "AddV2"
    assert end_points[f"{unit}/conv3"].op.type == "BiasAdd"
    assert end_points["resnet_v2_50/conv1"].op.type == "BiasAdd"
    assert end_points["global_pool"].op.inputs[0].op.name == "resnet_v2_50/postnorm/Relu"
    preact = graph.get_tensor_by_name(f"{unit}/preact/Relu:0")
    assert end_points[f"{unit}/conv1"].op.type == "Relu"
    assert graph.get_operation_by_name(f"{unit}/conv1/Conv2D").inputs[0] is preact


def test_penalties_and_updates(network):
    """One penalty for each convolution; batch norm three times a unit and at the end."""
    graph, *_ = network
    assert len(graph.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 1 + 3 * 16 + 4 + 1
    assert len(graph.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2 * (3 * 16 + 1)


def test_dilated_features_are_the_strided_ones_and_those_between():
    """With images whose size the graph does not know."""
    factors = {8: 4}
    with tf.Graph().as_default(), tf.Session() as session:
        image = images()
        features = [
            small(image, is_training=False, global_pool=False, output_stride=stride, reuse=reuse)[0]
            for stride, reuse in [(None, None), *((stride, True) for stride in factors)]
        ]
        assert features[0].shape.as_list() == [2, None, None, 32]
        session.run(tf.global_variables_initializer())
        values = np.random.RandomState(0).randn(2, 65, 65, 3)
        expected, *dilated = session.run(features, {image: values})
    assert expected.shape == (2, 3, 3, 32)
    assert [each.shape[1] for each in dilated] == [9]
    for found, factor in zip(dilated, factors.values(), strict=True):
        np.testing.assert_allclose(found[:, ::factor, ::factor], expected, rtol=1e-4, atol=1e-5)


def test_shapes_without_pooling_and_without_the_root():
    with tf.Graph().as_default():
        logits, end_points = small(images(65), 5, global_pool=False, spatial_squeeze=False)
        assert logits.shape.as_list() == [2, 3, 3, 5]
        assert "global_pool" not in end_points
        assert "small/spatial_squeeze" not in end_points
    with tf.Graph().as_default():
        net, end_points = small(images(32), include_root_block=False)
    assert net is end_points["global_pool"]
    shapes = [end_points[f"small/block{index}"].shape.as_list() for index in (1, 2, 3, 4)]
    assert shapes == [[2, 16, 16, 4], [2, 8, 8, 8], [2, 4, 4, 16], [2, 4, 4, 32]]


def test_without_classes_the_features_come_back():
    with tf.Graph().as_default():
        for num_classes in (None, 0):
            net, end_points = small(images(32), num_classes, reuse=tf.AUTO_REUSE)
            assert net is end_points["global_pool"]
            assert net.shape.as_list() == [2, 1, 1, 32]
            assert "predictions" not in end_points


def test_clones_share_their_variables(two_clones, variables_in):
    graph, end_points = two_clones(lambda: small(images(32), 10))
    with tf.Graph().as_default() as single:
        small(images(32), 10)
    assert variables_in(graph) == variables_in(single)
    assert list(end_points[0]) == list(end_points[1])
    for collection, copies in ((tf.GraphKeys.UPDATE_OPS, 2), ("regularization_losses", 1)):
        assert len(graph.get_collection(collection)) == copies * len(
            single.get_collection(collection)
        )
