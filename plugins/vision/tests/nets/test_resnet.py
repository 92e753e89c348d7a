"""ResNet, versions 1 and 2."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
from slow_cases import slow_but
from tf_frame import layers
from tf_frame_vision.nets import resnet_v1, resnet_v2

MODULES = {1: resnet_v1, 2: resnet_v2}
NUM_LAYERS = (50, 101, 152, 200)
# Version 1, trained parameters, with 1000 classes: torchvision's table of weights,
# https://pytorch.org/vision/stable/models.html; for 200 layers timm's resnet200.
# Version 2, all parameters, moving values too, with 1000 classes: https://keras.io/api/applications
# (ResNet50V2 25.6M ...), in full what `keras.applications.ResNet50V2().count_params()` says.
PUBLISHED_PARAMETERS = {
    1: {50: 25_557_032, 101: 44_549_160, 152: 60_192_808, 200: 64_673_832},
    2: {50: 25_613_800, 101: 44_675_560, 152: 60_380_648},
}
# Slim's checkpoints of version 2 have a class 0 for the background.
NUM_CLASSES = {1: 1000, 2: 1001}
# That class has 2048 more weights and a bias.
BACKGROUND = {1: 0, 2: 2049}


@pytest.fixture(scope="module", params=slow_but(0, MODULES))
def version(request):
    return request.param


def find_network(version, num_layers):
    return getattr(MODULES[version], f"resnet_v{version}_{num_layers}")


def small(version, images, num_classes=None, num_blocks=4, **arguments):
    module, arguments = MODULES[version], {"scope": "small", **arguments}
    make_block = getattr(module, f"resnet_v{version}_block")
    blocks = [
        make_block(f"block{index}", base_depth=depth, num_units=units, stride=stride)
        for index, depth, units, stride in [(1, 1, 2, 2), (2, 2, 1, 2), (3, 4, 1, 2), (4, 8, 1, 1)]
    ]
    build = getattr(module, f"resnet_v{version}")
    with layers.arg_scope(module.resnet_arg_scope()):
        return build(images, blocks[:num_blocks], num_classes, **arguments)


def images(size=None, batch=2):
    return tf.placeholder(tf.float32, [batch, size, size, 3])


@pytest.fixture(scope="module")
def network(version):
    with tf.Graph().as_default() as graph, layers.arg_scope(resnet_v1.resnet_arg_scope()):
        logits, end_points = find_network(version, 50)(images(224), NUM_CLASSES[version])
    return graph, logits, end_points


@pytest.fixture
def record_blocks(monkeypatch):
    """Returns the blocks that the function of a published network hands on."""

    def blocks(version, num_layers, **arguments):
        seen = []
        monkeypatch.setattr(
            MODULES[version], f"resnet_v{version}", lambda _, blocks, *a, **k: seen.extend(blocks)
        )
        find_network(version, num_layers)(None, **arguments)
        return seen

    return blocks


def counted(version, variables, count_parameters):
    """Counts the parameters that the published number does."""
    if version == 1:
        variables = [each for each in variables if "moving_" not in each[0]]
    return count_parameters(variables) - BACKGROUND[version]


@pytest.mark.slow
def test_variables_end_points_penalties_and_updates_are_slims(
    version, network, slim_variables, variables_in, count_parameters
):
    variables = variables_in(network[0])
    assert variables == slim_variables(f"resnet_v{version}_50")
    assert counted(version, variables, count_parameters) == PUBLISHED_PARAMETERS[version][50]
    # End points.
    _, logits, end_points = network
    scope, classes = f"resnet_v{version}_50", NUM_CLASSES[version]
    expected = {f"{scope}/conv1"}
    for block, units in enumerate((3, 4, 6, 3), start=1):
        for unit in range(1, units + 1):
            name = f"{scope}/block{block}/unit_{unit}/bottleneck_v{version}"
            expected |= {name, *(f"{name}/conv{index}" for index in (1, 2, 3))}
        expected |= {f"{scope}/block{block}/unit_1/bottleneck_v{version}/shortcut"}
    shapes = {
        f"{scope}/block1": [2, 28, 28, 256],
        f"{scope}/block2": [2, 14, 14, 512],
        f"{scope}/block3": [2, 7, 7, 1024],
        f"{scope}/block4": [2, 7, 7, 2048],
        "global_pool": [2, 1, 1, 2048],
        f"{scope}/logits": [2, 1, 1, classes],
        f"{scope}/spatial_squeeze": [2, classes],
        "predictions": [2, classes],
    }
    assert set(end_points) == expected | set(shapes)
    assert {name: end_points[name].shape.as_list() for name in shapes} == shapes
    assert logits is end_points[f"{scope}/spatial_squeeze"]
    last_unit = end_points[f"{scope}/block1/unit_3/bottleneck_v{version}"]
    assert end_points[f"{scope}/block1"] is last_unit
    # One penalty for each convolution, two updates for each batch norm.
    graph, *_ = network
    assert len(graph.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == 1 + 3 * 16 + 4 + 1
    # Version 1: after each convolution but the logits; 2: three times a unit and at the end.
    norms = {1: 1 + 3 * 16 + 4, 2: 3 * 16 + 1}[version]
    assert len(graph.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2 * norms


@pytest.mark.parametrize("num_layers", NUM_LAYERS)
def test_units_of_each_block_are_slims(
    version, num_layers, record_blocks, slim_variables, count_parameters
):
    """The parts of one unit are the same for all; see the variables of 50 layers."""
    scope, unit_scope = f"resnet_v{version}_{num_layers}", f"bottleneck_v{version}"
    table = dict(slim_variables(scope))
    conv3 = {
        f"{scope}/{block.scope}/unit_{index}/{unit_scope}/conv3/weights": [
            1,
            1,
            unit["depth_bottleneck"],
            unit["depth"],
        ]
        for block in record_blocks(version, num_layers)
        for index, unit in enumerate(block.args, start=1)
    }
    assert conv3 == {name: shape for name, shape in table.items() if "conv3/weights" in name}
    assert len(conv3) == (num_layers - 2) // 3
    published = PUBLISHED_PARAMETERS[version].get(num_layers)
    assert published in (None, counted(version, table.items(), count_parameters))


def test_units_have_slims_strides_and_channels(version, record_blocks):
    strides = [[unit["stride"] for unit in block.args] for block in record_blocks(version, 50)]
    assert strides == [[1, 1, 2], [1, 1, 1, 2], [1, 1, 1, 1, 1, 2], [1, 1, 1]]

    # Channels may be multiplied down to a least number.
    def depths(**arguments):
        return [block.args[0]["depth_bottleneck"] for block in record_blocks(1, 50, **arguments)]

    assert depths(depth_multiplier=0.25) == [16, 32, 64, 128]
    assert depths(depth_multiplier=0.05) == [8, 8, 12, 25]
    assert depths(depth_multiplier=0, min_base_depth=5) == [5, 5, 5, 5]


def test_functions_have_slims_names(version):
    general = getattr(MODULES[version], f"resnet_v{version}")
    for num_layers in NUM_LAYERS:
        function = find_network(version, num_layers)
        assert function.__name__ == f"resnet_v{version}_{num_layers}"
        assert function.default_image_size == general.default_image_size == 224


@pytest.mark.slow
@pytest.mark.parametrize("version", [2], indirect=True)
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


@pytest.mark.slow
@pytest.mark.parametrize("version", [1, 2], indirect=True)
def test_dilated_features_are_the_strided_ones_and_those_between(version):
    """With images whose size the graph does not know."""
    factors = {16: 2, 8: 4, 4: 8}
    with tf.Graph().as_default(), tf.Session() as session:
        image = images()
        arguments = {"is_training": False, "global_pool": False, "reuse": tf.AUTO_REUSE}
        features = [
            small(version, image, output_stride=stride, **arguments)[0]
            for stride in (None, *factors)
        ]
        assert features[0].shape.as_list() == [2, None, None, 32]
        session.run(tf.global_variables_initializer())
        values = np.random.RandomState(0).randn(2, 65, 65, 3)
        expected, *dilated = session.run(features, {image: values})
    assert expected.shape == (2, 3, 3, 32)
    assert [each.shape[1] for each in dilated] == [5, 9, 17]
    for found, factor in zip(dilated, factors.values(), strict=True):
        np.testing.assert_allclose(found[:, ::factor, ::factor], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_shapes_without_pooling_root_or_classes(version):
    with tf.Graph().as_default():
        logits, end_points = small(version, images(65), 5, global_pool=False, spatial_squeeze=False)
        assert logits.shape.as_list() == [2, 3, 3, 5]
        assert "global_pool" not in end_points
        assert "small/spatial_squeeze" not in end_points
    with tf.Graph().as_default():
        net, end_points = small(version, images(32), include_root_block=False)
    assert net is end_points["global_pool"]
    shapes = [end_points[f"small/block{index}"].shape.as_list() for index in (1, 2, 3, 4)]
    assert shapes == [[2, 16, 16, 4], [2, 8, 8, 8], [2, 4, 4, 16], [2, 4, 4, 32]]
    # Without classes the features come back.
    with tf.Graph().as_default():
        for num_classes in (None, 0):
            net, end_points = small(version, images(32), num_classes, reuse=tf.AUTO_REUSE)
            assert net is end_points["global_pool"]
            assert net.shape.as_list() == [2, 1, 1, 32]
            assert "predictions" not in end_points


@pytest.mark.slow
def test_an_outer_scope_may_say_whether_batch_norm_trains():
    block = resnet_v1.resnet_v1_block("block1", base_depth=1, num_units=2, stride=2)
    with (
        tf.Graph().as_default() as graph,
        layers.arg_scope(resnet_v1.resnet_arg_scope()),
        layers.arg_scope([layers.batch_norm], is_training=False),
    ):
        resnet_v1.resnet_v1(images(32), [block], is_training=None)
        assert not graph.get_collection(tf.GraphKeys.UPDATE_OPS)
        resnet_v1.resnet_v1(images(32), [block], is_training=True)
        assert graph.get_collection(tf.GraphKeys.UPDATE_OPS)


def test_bounded_activations_stay_within_six():
    with tf.Graph().as_default():
        image = 1000.0 * tf.random.stateless_normal([1, 4, 4, 8], seed=[1, 2])
        bounded, free = (
            resnet_v1.bottleneck(image, 4, 2, 1, use_bounded_activations=each)
            for each in (True, False)
        )
        bounded, free = run_initialized([bounded, free])
    assert (bounded.min(), bounded.max()) == (0.0, 6.0)
    assert (free.min(), free.max() > 6.0) == (0.0, True)


@pytest.mark.slow
def test_reference_variables_have_the_same_names(reference_variables, slim_variables, variables_in):
    with tf.Graph().as_default() as graph:
        _, end_points = small(1, tf.zeros([2, 32, 32, 3]), 10)
        run_initialized([end_points["predictions"], *graph.get_collection(tf.GraphKeys.UPDATE_OPS)])
    assert {v.op.type for v in graph.get_collection("variables")} == {"VariableV2"}
    names = [name.replace("small/", "resnet_v1_50/") for name, _ in variables_in(graph)]
    assert set(names) <= set(dict(slim_variables("resnet_v1_50")))


@pytest.mark.slow
def test_clones_share_their_variables(version, build_clones, variables_in):
    graph, end_points = build_clones(lambda: small(version, images(32), 10))
    with tf.Graph().as_default() as single:
        small(version, images(32), 10)
    assert variables_in(graph) == variables_in(single)
    names = [points["small/block4"].op.name.split("/")[0] for points in end_points]
    assert names == ["clone_0", "clone_1"]
    assert list(end_points[0]) == list(end_points[1])
    for collection, copies in ((tf.GraphKeys.UPDATE_OPS, 2), ("regularization_losses", 1)):
        assert len(graph.get_collection(collection)) == copies * len(
            single.get_collection(collection)
        )
